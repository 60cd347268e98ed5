package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hookruntime/hooks/internal/wire"
)

// EventError reports an event that cannot be given to hooks (IN-10), or a
// captured input that cannot be read (IN-13). It quotes no payload.
type EventError struct {
	Event   EventName // empty where it is not known
	Field   string    // the key on the wire, empty for the whole object
	Problem string
}

// Error says which field is wrong, how, and what is allowed.
func (e *EventError) Error() string {
	where := string(e.Event)
	if e.Field != "" {
		where = strings.TrimPrefix(where+"."+e.Field, ".")
	}
	if where == "" {
		return "hooks: event: " + e.Problem
	}
	return "hooks: event " + where + ": " + e.Problem
}

// checkEvent refuses an event that is nil, and returns what it has in common
// with others.
func checkEvent(ev Event) (*Common, error) {
	if ev == nil {
		return nil, errNilEvent()
	}
	c := ev.common()
	if c == nil {
		return nil, errNilEvent()
	}
	if c.Trajectory != nil && c.ExecutionSummary != "" {
		return nil, &EventError{Event: ev.EventName(), Field: "execution_summary", Problem: "both a Trajectory and a literal ExecutionSummary are given; an event has at most one of them"}
	}
	return c, nil
}

func errNilEvent() error { return &EventError{Problem: "the event is nil"} }

func (c *Common) literalSummary() *string {
	if c.ExecutionSummary == "" {
		return nil
	}
	return &c.ExecutionSummary
}

// encoded is an event as all hooks of one dialect see it. Only the path of the
// trajectory differs from hook to hook, so the two large parts around it are
// written once and shared.
type encoded struct {
	text      []byte     // without the path
	at        int        // where the path belongs; a comma stands there
	refs      []wire.Ref // large values that the host holds, behind the path
	key       string     // of the path
	leftOut   bool       // a path that there is not is left out, not null
	beginning bool       // there is never one
	notes     []Diagnostic
}

// encode writes the input of the hook data contract (IN-2 to IN-9), with a zero
// fieldWriter.
func encode(f *fieldWriter, ev Event, conduct Conduct, lim Limits) (*encoded, error) {
	row, c := ev.row(), ev.common()
	beginning := row.terms[HookContract].beginning
	turn, maxTurns := c.Turn, c.MaxTurns
	if beginning {
		turn = 0
	}
	if post, ok := ev.(*PostToolUse); ok && post.Resumed && conduct == Contract {
		turn, maxTurns = 0, 250 // QRK-14
	}

	f.begin(ev, conduct, lim)
	f.key, f.beginning = "execution_summary", beginning
	f.w.Open()
	f.w.Str("hook_event_name", string(row.name))
	f.str("agent_name", &c.Agent)
	f.w.Int("current_turn", turn)
	f.w.Int("max_turns", maxTurns)
	f.split()
	ev.own(f)
	for _, e := range c.Metadata {
		f.metadata(e)
	}
	return f.finish()
}

// summaryJSON is the member with the path; nil is null (IN-2, SUM-1).
func (p *encoded) summaryJSON(summary *string) []byte {
	dst := append(wire.AppendString([]byte{','}, p.key), ':')
	switch {
	case summary != nil && !p.beginning:
		return wire.AppendString(dst, *summary)
	case p.leftOut:
		return nil
	}
	return append(dst, "null"...)
}

// parts returns the whole input in parts, without copying it.
func (p *encoded) parts(summary *string) [][]byte {
	parts := make([][]byte, 0, 3+2*len(p.refs))
	parts = append(parts, p.text[:p.at], p.summaryJSON(summary))
	from := p.at
	for _, r := range p.refs {
		parts = append(parts, p.text[from:r.At], r.Raw)
		from = r.At
	}
	return append(parts, p.text[from:])
}

// append appends the whole input.
func (p *encoded) append(dst []byte, summary *string) []byte {
	parts := p.parts(summary)
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	dst = slices.Grow(dst, size)
	for _, part := range parts {
		dst = append(dst, part...)
	}
	return dst
}

// reader yields the whole input without copying it.
func (p *encoded) reader(summary *string) io.Reader { return &payloadReader{parts: p.parts(summary)} }

// fieldWriter is the fieldVisitor that writes.
type fieldWriter struct {
	encoded // what becomes of it
	w       wire.Writer
	event   EventName
	conduct Conduct
	lim     wire.Limits
	err     error
}

// referred is from which size on a JSON value of the host is not copied, but
// read where it is while hooks run.
const referred = 32 << 10

// begin makes a zero fieldWriter ready. What it writes stays its own.
func (f *fieldWriter) begin(ev Event, conduct Conduct, lim Limits) {
	f.w = *wire.NewWriter(make([]byte, 0, 512+min(ev.size(), referred)))
	f.w.Refer = referred
	f.event, f.conduct, f.lim = ev.EventName(), conduct, wire.Limits{Depth: lim.Depth, Number: lim.Number}
}

// split ends the head. What follows is written as an object of its own, whose
// opening brace becomes the comma; it has at least one member.
func (f *fieldWriter) split() {
	f.at = len(f.w.Bytes())
	f.w.Open()
}

func (f *fieldWriter) finish() (*encoded, error) {
	if f.err != nil {
		return nil, f.err
	}
	f.w.Close()
	f.text, f.refs = append(f.w.Bytes(), '\n'), f.w.Refs()
	f.text[f.at] = ','
	return &f.encoded, nil
}

func (f *fieldWriter) fail(field, problem string) {
	if f.err == nil {
		f.err = &EventError{Event: f.event, Field: field, Problem: problem}
	}
}

// str writes a name. Names must be UTF-8: a replaced byte would show the hook
// another tool than the one that runs.
func (f *fieldWriter) str(key string, p *string) {
	if !utf8.ValidString(*p) {
		f.fail(key, "the text is not UTF-8")
	}
	f.w.Str(key, *p)
}

func (f *fieldWriter) strOr(key string, p *string, d string) {
	if *p != "" {
		d = *p
	}
	f.str(key, &d)
}

func (f *fieldWriter) known(key string, p *string) {
	if *p != "" {
		f.str(key, p)
	}
}

// flat writes a JSON string as it is, and any other value as its text.
func (f *fieldWriter) flat(key string, p *json.RawMessage) {
	text := []byte("null")
	if *p != nil {
		var err error
		if text, err = wire.Compact(nil, *p, f.lim); err != nil {
			f.fail(key, err.Error())
		}
	}
	if s, ok := wire.Unquote(text); ok {
		f.w.Str(key, s)
		return
	}
	f.w.Str(key, string(text))
}

func (f *fieldWriter) nullStr(key string, p **string) { f.w.NullStr(key, *p) }
func (f *fieldWriter) boolean(key string, p *bool)    { f.w.Bool(key, *p) }
func (f *fieldWriter) integer(key string, p *int)     { f.w.Int(key, *p) }

func (f *fieldWriter) object(key string, p *json.RawMessage) {
	collision, err := f.w.RawKeys(key, *p, f.lim)
	switch {
	case err != nil:
		f.fail(key, err.Error())
	case *p != nil && !isObjectOrNull(*p):
		f.fail(key, "the JSON value is neither an object nor null")
	case collision != nil:
		problem := fmt.Sprintf("the keys at bytes %d and %d of one object are equal, or equal but for case: a tool may decode another value than the hook saw", collision.First, collision.Second)
		if f.conduct == Hardened { // QRK-15
			f.fail(key, problem)
			return
		}
		f.notes = append(f.notes, Diagnostic{Key: key, Message: problem})
	}
}

func isObjectOrNull(raw []byte) bool {
	k := wire.Kind(bytes.TrimLeft(raw, " \n\t\r"))
	return k == '{' || k == 'n'
}

func (f *fieldWriter) value(key string, p *json.RawMessage) {
	if err := f.w.Raw(key, *p, f.lim); err != nil {
		f.fail(key, err.Error())
	}
}

// metadata writes one entry behind the real fields, so that a reader that
// keeps the first of two equal keys always sees the real one (QRK-2).
func (f *fieldWriter) metadata(e MetadataEntry) {
	if f.conduct == Hardened && isPayloadField(e.Key) {
		f.notes = append(f.notes, Diagnostic{Hook: e.Hook, Key: e.Key,
			Message: fmt.Sprintf("metadata key %q equals a payload field and was dropped", e.Key)})
		return
	}
	if !utf8.ValidString(e.Key) {
		f.fail("metadata", "a key is not UTF-8")
		return
	}
	f.value(e.Key, &e.Value)
}

// isPayloadField reports whether a metadata key could be taken for a field of
// any event, case aside (QRK-2).
func isPayloadField(key string) bool {
	f := &fieldFinder{key: key}
	for _, k := range commonFields {
		f.see(k)
	}
	for i := range eventRows {
		if row := &eventRows[i]; row.terms[HookContract].exists() {
			row.blank().own(f)
		}
	}
	return f.found
}

// commonFields are the fields of every event, in wire order (IN-2).
var commonFields = [...]string{"hook_event_name", "agent_name", "current_turn", "max_turns", "execution_summary"}

// fieldFinder is the fieldVisitor that compares names.
type fieldFinder struct {
	key   string
	found bool
}

func (f *fieldFinder) see(key string)                        { f.found = f.found || strings.EqualFold(key, f.key) }
func (f *fieldFinder) str(key string, _ *string)             { f.see(key) }
func (f *fieldFinder) strOr(key string, _ *string, _ string) { f.see(key) }
func (f *fieldFinder) known(key string, _ *string)           { f.see(key) }
func (f *fieldFinder) flat(key string, _ *json.RawMessage)   { f.see(key) }
func (f *fieldFinder) nullStr(key string, _ **string)        { f.see(key) }
func (f *fieldFinder) boolean(key string, _ *bool)           { f.see(key) }
func (f *fieldFinder) integer(key string, _ *int)            { f.see(key) }
func (f *fieldFinder) object(key string, _ *json.RawMessage) { f.see(key) }
func (f *fieldFinder) value(key string, _ *json.RawMessage)  { f.see(key) }

// invocation is one run of one hook, as its executor gets it.
type invocation struct {
	event     Event
	hook      *Hook
	payload   *encoded
	summary   *string // the hook's path of the trajectory, nil for none
	cannotAsk bool
	// trajectory writes the trajectory for a hook that runs in this process;
	// nil: there is none.
	trajectory func(ctx context.Context, w io.Writer) error
}
