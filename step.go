package hooks

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Fate says what became of one registered hook in one event (WHY).
type Fate string

// The fates. A step shows the first that applies, in this order.
const (
	FateOtherEvent     Fate = "other-event"     // listens to another event; in plans only
	FateOutOfScope     Fate = "out-of-scope"    // belongs to another loop (SUB-1)
	FateUntrusted      Fate = "untrusted"       // refused by Options.Trust
	FateInactive       Fate = "inactive"        // switched off, or on demand and not activated (CFG-6)
	FateSourceFiltered Fate = "source-filtered" // the thread's source is not among its sources (ST-3)
	FateNoMatch        Fate = "no-match"        // its matcher does not select the tool (MAT), or the tool failed (VSCode)
	FateLimitReached   Fate = "limit-reached"   // prompt Stop hooks have rejected often enough (SP-3)
	FateNotReached     Fate = "not-reached"     // an earlier hook ended the chain (AGG-2)
	FateCancelled      Fate = "cancelled"       // started, and ended because the evaluation, or the chain (Hook.Independent), was over
	FatePlanned        Fate = "planned"         // would run; in plans only
	FateRan            Fate = "ran"
)

// Step is the story of one registered hook in one event, for operators: its
// texts are raw, as the hook wrote them, and may hold anything.
type Step struct {
	Hook HookRef
	On   EventName
	// Dialect is the contract that the hook was fed and read in.
	Dialect Dialect
	Type    string // command, prompt or func
	Fate    Fate
	// Why explains the fate, or what the hook decided and whether the event
	// heard it.
	Why string

	// Decision is what the hook, or its fail mode, said; OutcomeUndecided when
	// it did not run to an end.
	Decision Outcome
	// Failure is how the hook failed, nil when it did not. It may stand beside
	// any decision (CMD-7, QRK-5, QRK-8).
	Failure *Failure

	Reason, Question, Context string
	Metadata                  Metadata
	// StopReason, SystemMessage and UpdatedInput are those of the [Result]. An
	// UpdatedInput that was not accepted is nil.
	StopReason, SystemMessage string
	UpdatedInput              json.RawMessage

	// ExitCode of a command; nil when none was seen.
	ExitCode *int
	// Signal that ended a command; empty for none.
	Signal string
	// Stdout and Stderr of a command, for people: cut at [Limits.Stderr], with a
	// visible mark. The whole stdout is read as the answer.
	Stdout, Stderr string
	// Duration is how long the hook took, its preparation included.
	Duration time.Duration

	heard Outcome // what the event heard
	mutes bool    // suppresses the event's context (ST-2)
	ends  bool    // ends the chain (AGG-2)
	exit  bool    // an exit code denied, with a message
	index int     // in the chain
}

// hear lets the event hear an answer (CMD-15). The rejection, the permission
// and the stop stand side by side: the event's terms in the hook's dialect
// decide which of them count, the conduct which of those wins. What is heard
// outranks what is not.
func (s *Step) hear(row *eventRow, c Conduct, r *Result) {
	terms := &row.terms[s.Dialect]
	s.Decision, s.heard = OutcomePass, OutcomePass
	opinion := func(said Outcome, e effect) {
		as := OutcomePass
		switch e {
		case heard:
			as = said
		case asReject:
			as = OutcomeReject
		case asDeny:
			as, said = OutcomeDeny, OutcomeDeny
		}
		switch {
		case c.rank(as) > c.rank(s.heard):
			s.heard, s.Decision = as, said
		case as == s.heard && c.rank(said) > c.rank(s.Decision):
			s.Decision = said
		}
	}
	if r.Rejects && !(terms.needsReason && strings.TrimSpace(r.Reason) == "") {
		opinion(OutcomeReject, terms.reject)
		s.exit = r.byExit && strings.TrimSpace(r.Reason) != ""
	}
	if r.Permission != PermissionNone {
		said, e := terms.permission(r.Permission)
		opinion(said, e)
		s.mutes = e == mutes
		s.ends = (e == heard || e == mutes) && c.endsChain(s.Dialect, r.Permission)
	}
	s.Context, s.Metadata = r.Context, r.Metadata
	if s.Dialect.facts().stops {
		s.SystemMessage = r.SystemMessage
		if r.stops() {
			opinion(OutcomeStop, heard)
			s.StopReason, s.ends = r.StopReason, true
		}
	}
	if terms.input {
		s.UpdatedInput = r.UpdatedInput
	}
	switch s.Decision {
	case OutcomeReject, OutcomeDeny:
		s.Reason = r.reason()
	case OutcomeAsk:
		s.Question = r.question()
	}
}

// why words what the hook decided, and whether the event heard it.
func (s *Step) why(row *eventRow, mode FailMode) string {
	spelled := row.terms[s.Dialect].spelled
	w := "passed"
	if s.Decision != OutcomePass {
		w = "decided " + s.Decision.String()
	}
	if f := s.Failure; f != nil {
		w = fmt.Sprintf("failed (%s)", f.Kind)
		switch {
		case s.Decision == OutcomeUndecided:
			return w
		case mode != FailUnset:
			w += ", failMode " + mode.String()
		case s.Decision == OutcomeReject || s.Decision == OutcomeDeny:
			w += ", but its " + s.Decision.String() + " holds"
		default:
			w += ": counts as " + s.Decision.String()
		}
	}
	switch {
	case s.Decision == s.heard, s.Decision == OutcomePass, s.Decision == OutcomeErrored:
	case s.mutes:
		w += fmt.Sprintf("; %s does not hear it, but it suppresses the context", spelled)
	case s.heard != OutcomePass:
		w += fmt.Sprintf("; %s hears a %s", spelled, s.heard)
	default:
		w += fmt.Sprintf("; %s does not hear it", spelled)
	}
	return w
}

// settle applies the fail mode to a failure (CMD-7, AGG-11, QRK-5).
func (s *Step) settle(row *eventRow, c Conduct, mode FailMode) {
	switch mode {
	case FailBlock:
		// A fixed text: nothing of what went wrong reaches the model (F50).
		r := Reject(fmt.Sprintf("Hook %q failed (%s).", s.Hook.Name, s.Failure.Kind))
		s.hear(row, c, &r)
	case FailAllow:
		s.Decision = OutcomeErrored
	default: // a prompt hook in Contract conduct
		s.Decision = OutcomeErrored
		if s.Failure.Kind == FailureOutput {
			s.Decision, s.heard = OutcomePass, OutcomePass
		}
	}
}

// cancelled makes the step that of a hook whose evaluation was over.
func (s *Step) cancelled() {
	switch {
	case s.Failure == nil:
		s.Failure = &Failure{Message: "its answer was not read"}
	case s.Failure.Kind == FailureTimeout: // its message tells of a deadline
		s.Failure.Message = "it had not ended"
	}
	s.Failure.Kind = FailureCancelled
	s.Fate = FateCancelled
}
