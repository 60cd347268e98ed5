package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

// Explain returns the decision and a table of all hooks of the event, for
// people: who decided, and why every other hook did not. Texts of hooks are
// shortened; Steps has them whole.
func (d *Decision) Explain() string {
	var b strings.Builder
	outcome := d.Outcome.String()
	if d.Outcome == OutcomeUndecided {
		outcome = "undecided"
	}
	b.WriteString(d.trace.headline(d.Event) + ": " + outcome)
	if d.By != "" {
		b.WriteString(", decided by " + d.By)
	}
	b.WriteString("\n")
	for _, line := range [...]struct{ label, text string }{
		{"reason", d.Reason}, {"question", d.Question}, {"context", d.Context},
		{"stop reason", d.StopReason}, {"for the user", strings.Join(d.SystemMessages, " / ")},
		{"new input", string(d.UpdatedInput)},
	} {
		if line.text != "" {
			fmt.Fprintf(&b, "  %s: %s\n", line.label, oneLine(line.text, 200))
		}
	}
	if d.ResultStays {
		b.WriteString("  the tool's result stays; the reason is a note beside it\n")
	}
	writeSteps(&b, d.Steps())
	writeNotes(&b, d.Diagnostics)
	return b.String()
}

// Explain returns a table of all hooks, for people: which would run, in which
// order, and why the others would not.
func (p *Plan) Explain() string {
	var b strings.Builder
	b.WriteString(p.trace.headline(p.Event) + ": plan, nothing was run\n")
	writeSteps(&b, p.Steps())
	writeNotes(&b, p.Diagnostics)
	return b.String()
}

// headline names the event and what the plan depended on.
func (t *trace) headline(name EventName) string {
	s := string(name)
	if t.facts.tool != "" {
		s += " " + oneLine(t.facts.tool, 60)
	}
	if t.facts.agent != "" {
		s += " (agent " + oneLine(t.facts.agent, 40) + ")"
	}
	if t.facts.child {
		s += " (child)"
	}
	return s
}

func writeNotes(b *strings.Builder, ds []Diagnostic) {
	for _, d := range ds {
		fmt.Fprintf(b, "  note: %s\n", d)
	}
}

func writeSteps(b *strings.Builder, steps iter.Seq[Step]) {
	w := tabwriter.NewWriter(b, 0, 4, 2, ' ', 0)
	rows := 0
	for s := range steps {
		if rows++; rows == 1 {
			fmt.Fprintln(w, "  HOOK\tTIER\tTYPE\tFATE\tSAID\tTIME\tWHY")
		}
		said, took, kind := s.Decision.String(), "", s.Type
		if s.Dialect != HookContract {
			kind += ", " + s.Dialect.String()
		}
		if said == "" {
			said = "-"
		}
		if s.Fate == FateRan || s.Fate == FateCancelled {
			took = s.Duration.Round(100 * time.Microsecond).String()
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.Hook, s.Hook.Tier, kind, s.Fate, said, took, oneLine(s.detail(), 200))
	}
	w.Flush()
	if rows == 0 {
		b.WriteString("  no hook is registered for this event\n")
	}
}

// detail is the why with what the operator needs to act on it.
func (s *Step) detail() string {
	switch text := firstUsable(s.Reason, s.Question, s.StopReason); {
	case s.Failure != nil:
		detail := s.Why + ": " + s.Failure.Message
		if first := firstUsable(s.Stderr); first != "" && s.Failure.Kind != FailureStart {
			detail += "; stderr: " + strings.TrimSpace(first)
		}
		return detail
	case text != "":
		return s.Why + ": " + text
	}
	return s.Why
}

// oneLine makes a text fit for one cell of a table.
func oneLine(s string, limit int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}

// decisionJSON is a decision as tools read it.
type decisionJSON struct {
	Event    EventName `json:"event"`
	Outcome  Outcome   `json:"outcome"`
	Reason   string    `json:"reason"`
	Question string    `json:"question"`
	Context  string    `json:"context"`
	By       string    `json:"by"`
	Metadata Metadata  `json:"metadata"`
	ForModel string    `json:"for_model"`
	// What only VSCode's hooks bring about.
	StopReason     string          `json:"stop_reason,omitempty"`
	SystemMessages []string        `json:"system_messages,omitempty"`
	UpdatedInput   json.RawMessage `json:"updated_input,omitempty"`
	ResultStays    bool            `json:"result_stays,omitempty"`

	Steps       []stepJSON       `json:"steps"`
	Diagnostics []diagnosticJSON `json:"diagnostics"`
}

type stepJSON struct {
	Hook       string      `json:"hook"`
	Tier       Tier        `json:"tier"`
	Type       string      `json:"type"`
	Dialect    *Dialect    `json:"dialect,omitempty"` // nil: HookContract
	Fate       Fate        `json:"fate"`
	Why        string      `json:"why"`
	Decision   Outcome     `json:"decision"`
	Reason     string      `json:"reason"`
	Failure    FailureKind `json:"failure"`
	ExitCode   *int        `json:"exit_code"`
	DurationMs float64     `json:"duration_ms"`
	Stderr     string      `json:"stderr"`
}

type diagnosticJSON struct {
	Severity Severity `json:"severity"`
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Key      string   `json:"key"`
	Hook     string   `json:"hook"`
	Message  string   `json:"message"`
}

// MarshalJSON writes the decision with all its steps and diagnostics, for
// tools. It cannot be read back: a Decision is not a thing that travels; see
// [Decision.Carry] and [Decision.NextStop] for what does.
func (d Decision) MarshalJSON() ([]byte, error) {
	out := decisionJSON{
		Event: d.Event, Outcome: d.Outcome, Reason: d.Reason, Question: d.Question,
		Context: d.Context, By: d.By, Metadata: d.Metadata, ForModel: d.ForModel(),
		StopReason: d.StopReason, SystemMessages: d.SystemMessages,
		UpdatedInput: d.UpdatedInput, ResultStays: d.ResultStays,
	}
	return out.marshal(d.Steps(), d.Diagnostics)
}

// MarshalJSON writes the plan in the shape of a decision whose outcome is
// empty.
func (p Plan) MarshalJSON() ([]byte, error) {
	out := decisionJSON{Event: p.Event}
	return out.marshal(p.Steps(), p.Diagnostics)
}

func (out *decisionJSON) marshal(steps iter.Seq[Step], ds []Diagnostic) ([]byte, error) {
	out.Steps, out.Diagnostics = []stepJSON{}, []diagnosticJSON{}
	for s := range steps {
		j := stepJSON{
			Hook: s.Hook.Name, Tier: s.Hook.Tier, Type: s.Type, Fate: s.Fate, Why: s.Why,
			Decision: s.Decision, Reason: s.Reason, ExitCode: s.ExitCode, Stderr: s.Stderr,
			DurationMs: math.Round(float64(s.Duration)/float64(time.Microsecond)) / 1000,
		}
		if s.Dialect != HookContract {
			j.Dialect = &s.Dialect
		}
		if s.Decision == OutcomeAsk {
			j.Reason = s.Question
		}
		if s.Failure != nil {
			j.Failure = s.Failure.Kind
		}
		out.Steps = append(out.Steps, j)
	}
	for _, d := range ds {
		out.Diagnostics = append(out.Diagnostics, diagnosticJSON{d.Severity, d.File, d.Line, d.Key, d.Hook, d.Message})
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(buf.Bytes()), nil
}
