package hooks

import (
	"encoding/json"
	"iter"
	"strings"

	"github.com/hookruntime/hooks/internal/wire"
)

// Decision is what an event comes to, with its own explanation. The zero
// Decision blocks. It is a value: reading it is safe for concurrent use.
type Decision struct {
	Event   EventName
	Outcome Outcome
	// Reason says why the event is blocked (reject, deny); Question is what to
	// ask the user (ask). Both are empty for other outcomes, cleaned and cut
	// (TXT-5); the raw texts stay in the steps.
	Reason, Question string
	// Context is text for the model: at Start it seeds the run, on tool events
	// it is a user message right after the tool result (TXT-3). It may stand
	// beside a reject; that of VSCode's hooks beside any outcome, all of it,
	// in order, behind that of the hook data contract.
	Context string
	// By names the hook that decided: the first to say what was decided.
	// Empty for pass.
	By string
	// Rejections lists the plain rejections of a reject, in chain order
	// (AGG-4).
	Rejections []Rejection
	// Allows lists every hook that allowed, of an allow: a host may trust a
	// system hook's allow and not a user's (AGG-3).
	Allows []HookRef
	// Metadata goes to a later event (MD-1); see [Decision.Carry].
	Metadata Metadata
	// Withheld marks a PostToolUse ask that nobody can answer: the tool's
	// output, its messages, hook context and metadata are withheld, and the
	// model is told only [Decision.ForModel] (SUB-3, TXT-4).
	Withheld bool
	// Diagnostics are findings about answers and payload, for people.
	Diagnostics []Diagnostic

	// The rest comes of hooks of [VSCode] only, and is zero without them.

	// StopReason is what the user is shown of a stop; cleaned and cut. It may
	// be empty.
	StopReason string
	// SystemMessages are warnings that the user is shown, in chain order.
	SystemMessages []string
	// UpdatedInput replaces the whole input of the tool: a host that proceeds
	// puts it into PreToolUse.ToolInput before it runs the tool, so that
	// PostToolUse hooks see it too. nil leaves the input. It has passed
	// Options.ValidateInput, where there is one.
	UpdatedInput json.RawMessage
	// ResultStays marks a PostToolUse reject that leaves the tool's result in
	// place: ForModel is a note to add to it, not to put in its stead.
	ResultStays bool

	prompted  bool  // a prompt hook rejected (SP-2)
	continues bool  // a hook of a dialect without prompt hooks keeps the loop running
	decidedAt int32 // index of the step that decided
	trace     trace
}

// Rejection is one plain rejection.
type Rejection struct {
	Hook   HookRef `json:"hook"`
	Reason string  `json:"reason"`
}

// Blocks reports whether what the agent was about to do must not happen (on
// Stop: whether the loop must keep running) without further ado: anything but
// pass and allow, and so also an ask. It is true for the zero Decision. A stop
// blocks too, but on Stop and SubagentStop it lets the loop end as it wanted;
// the Outcome then says that the whole run ends.
func (d *Decision) Blocks() bool {
	if d.Outcome == OutcomeStop {
		row := d.Event.row()
		return row == nil || !row.ending
	}
	return d.Outcome != OutcomePass && d.Outcome != OutcomeAllow
}

// ForModel is what the model is told instead of a tool result (TXT-1, TXT-2,
// TXT-4), or, on Stop, as a user message (TXT-3); with ResultStays it is said
// beside the result. It is empty for pass, allow, ask, stop, an undecided
// event, Start, and UserPromptSubmit, whose Reason is for the user.
func (d *Decision) ForModel() string {
	switch {
	case d.Outcome != OutcomeReject && d.Outcome != OutcomeDeny:
		return ""
	case d.Withheld, d.ResultStays:
		return d.Reason
	}
	row := d.Event.row()
	switch {
	case row == nil:
		return d.Reason
	case row.toUser:
		return ""
	}
	return row.wrap[d.trace.conduct] + d.Reason
}

// Steps yields the story of every registered hook of the event, in chain
// order: its fate and why, what it said, how it failed and how long it took.
// It may be ranged over more than once.
func (d *Decision) Steps() iter.Seq[Step] { return d.trace.steps(false) }

// foldContract turns steps of the hook data contract into a decision. It is a
// pure function of its arguments (AGG-3 to AGG-9). A text of control characters
// alone is not blank to the hook's reader, but it is to the model: it gets the
// default.
func foldContract(row *eventRow, c Conduct, cannotAsk bool, steps []Step) (d Decision) {
	terms := &row.terms[HookContract]
	d.Outcome = OutcomePass
	var decided *Step
	var reasons []string
	var context string
	var muted bool
	metadata := metadataSet{}
	for i := range steps {
		s := &steps[i]
		muted = muted || s.mutes
		if c.rank(s.heard) > c.rank(d.Outcome) {
			d.Outcome, decided = s.heard, s
		}
		switch s.heard {
		case OutcomeReject:
			reasons = append(reasons, s.Reason)
			d.Rejections = append(d.Rejections, Rejection{s.Hook, cleanText(s.Reason)})
			d.prompted = d.prompted || s.Type == "prompt"
		case OutcomeAllow:
			d.Allows = append(d.Allows, s.Hook)
		}
		if s.heard == OutcomePass || s.heard == OutcomeAllow || s.heard == OutcomeReject {
			if firstUsable(s.Context) != "" {
				context = s.Context // the last one wins (AGG-7)
			}
		}
		if s.heard == OutcomePass || s.heard == OutcomeAllow {
			for _, e := range s.Metadata {
				e.Hook = s.Hook.Name
				if msg := c.refusesKey(e.Key); msg != "" {
					d.Diagnostics = append(d.Diagnostics, Diagnostic{Hook: e.Hook, Key: e.Key, Message: msg})
					continue
				}
				metadata.add(e) // the first one wins (AGG-8)
			}
		}
	}
	if d.Outcome != OutcomeReject {
		d.Rejections = nil // an ask drops them (AGG-5)
	}
	if d.Outcome != OutcomeAllow {
		d.Allows = nil
	}
	if terms.context && !muted && (d.Outcome == OutcomePass || d.Outcome == OutcomeReject) { // AGG-6, ST-2
		d.Context = cleanText(context)
	}
	if terms.metadata && (d.Outcome == OutcomePass || d.Outcome == OutcomeAllow) {
		if d.Outcome == OutcomeAllow && row.marksAllower {
			metadata.set(MetadataEntry{Key: AllowingHook, Value: wire.AppendString(nil, decided.Hook.Name)})
		}
		d.Metadata = metadata.list
	}
	if decided == nil {
		return d
	}
	d.By, d.decidedAt = decided.Hook.Name, int32(decided.index)
	switch d.Outcome {
	case OutcomeReject:
		d.Reason = cleanText(strings.Join(reasons, "\n"))
	case OutcomeDeny:
		d.Reason = cleanText(decided.Reason)
	case OutcomeAsk:
		d.Question = cleanText(decided.Question)
		if cannotAsk {
			d.denyAsk(row)
		}
	}
	return d
}

// denyAsk turns an ask that nobody can answer into a deny by the hook that
// asked (SUB-3).
func (d *Decision) denyAsk(row *eventRow) {
	d.Outcome, d.Reason, d.Question = OutcomeDeny, d.Question, ""
	if row.askInChild != "" {
		d.Reason, d.Withheld = row.askInChild, true
	}
}
