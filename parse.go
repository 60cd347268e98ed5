package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hookruntime/hooks/internal/wire"
)

// ParseEvent turns a captured contract input back into the event (IN-13), so
// that real traces can be replayed. Missing keys are zero or null; unknown
// keys, and second entries of known ones, become metadata, in order. A literal
// execution_summary is kept and never opened. Errors are of type [*EventError],
// joined when there are several.
func ParseEvent(data []byte) (Event, error) { return contractInput.parse(data) }

// inputKeys is how a dialect reads captured payloads.
type inputKeys struct {
	eventKeys []string                       // of the event's name; the first is the right one
	event     func(name string) *eventRow    // nil: there is no such event
	events    Dialect                        // whose events an error lists
	fields    func(ev Event, f *fieldReader) // reads all other fields
}

// contractInput is never written to.
var contractInput = inputKeys{
	eventKeys: []string{"hook_event_name"},
	event:     HookContract.spelledEvent,
	events:    HookContract,
	fields:    contractFields,
}

func (in *inputKeys) parse(data []byte) (Event, error) {
	if !utf8.Valid(data) {
		return nil, &EventError{Problem: "the input is not UTF-8"}
	}
	members, err := wire.Members(wire.TrimBOM(data))
	if err != nil {
		return nil, &EventError{Problem: "the input is not exactly one JSON object: " + err.Error()}
	}
	f := &fieldReader{members: members, used: make([]bool, len(members))}
	var name string
	for _, key := range in.eventKeys {
		if i := f.take(key); i >= 0 && name == "" {
			name, _ = wire.Unquote(members[i].Value)
		}
	}
	row := in.event(name)
	if row == nil {
		names := in.events.spellings()
		last := len(names) - 1
		return nil, &EventError{Field: in.eventKeys[0], Problem: "it must be exactly " + strings.Join(names[:last], ", ") + " or " + names[last]}
	}
	f.event = row.name
	ev := row.blank()
	in.fields(ev, f)
	c := ev.common()
	for i, m := range members {
		if !f.used[i] {
			c.Metadata = append(c.Metadata, MetadataEntry{Key: m.Key, Value: bytes.Clone(m.Value)})
		}
	}
	if len(f.errs) > 0 {
		return nil, errors.Join(f.errs...)
	}
	return ev, nil
}

// contractFields reads the fields of the hook data contract.
func contractFields(ev Event, f *fieldReader) {
	c := ev.common()
	f.str("agent_name", &c.Agent)
	f.integer("current_turn", &c.Turn)
	f.integer("max_turns", &c.MaxTurns)
	var summary *string
	f.nullStr("execution_summary", &summary)
	if summary != nil {
		c.ExecutionSummary = *summary
	}
	ev.own(f)
}

// fieldReader is the fieldVisitor that reads. It takes the first entry of a
// key, once, and keeps going after an error, so that all are reported.
type fieldReader struct {
	event   EventName
	members []wire.Member
	used    []bool
	errs    []error
}

// take marks the first entry of key and returns its index; -1 when there is
// none, or it was taken before: dialects share keys.
func (f *fieldReader) take(key string) int {
	for i, m := range f.members {
		if m.Key != key {
			continue
		}
		if f.used[i] {
			return -1
		}
		f.used[i] = true
		return i
	}
	return -1
}

// read hands the first entry of key to parse, which reports whether it has
// the wanted type.
func (f *fieldReader) read(key, want string, parse func(raw []byte) bool) {
	if i := f.take(key); i >= 0 && !parse(f.members[i].Value) {
		f.errs = append(f.errs, &EventError{Event: f.event, Field: key, Problem: "it must be " + want})
	}
}

func (f *fieldReader) str(key string, p *string) {
	f.read(key, "a string", func(raw []byte) (ok bool) {
		*p, ok = wire.Unquote(raw)
		return ok
	})
}

func (f *fieldReader) strOr(key string, p *string, _ string) { f.str(key, p) }
func (f *fieldReader) known(key string, p *string)           { f.str(key, p) }

func (f *fieldReader) nullStr(key string, p **string) {
	f.read(key, "a string or null", func(raw []byte) bool {
		if wire.IsNull(raw) {
			return true
		}
		s, ok := wire.Unquote(raw)
		*p = &s
		return ok
	})
}

func (f *fieldReader) boolean(key string, p *bool) {
	f.read(key, "true or false", func(raw []byte) bool {
		*p = string(raw) == "true"
		return *p || string(raw) == "false"
	})
}

func (f *fieldReader) integer(key string, p *int) {
	f.read(key, "an integer", func(raw []byte) bool {
		n, err := strconv.Atoi(string(raw))
		*p = n
		return err == nil
	})
}

func (f *fieldReader) object(key string, p *json.RawMessage) {
	f.read(key, "an object or null", func(raw []byte) bool {
		if wire.IsNull(raw) {
			return true
		}
		*p = bytes.Clone(raw)
		return wire.Kind(raw) == '{'
	})
}

func (f *fieldReader) value(key string, p *json.RawMessage) {
	f.read(key, "any JSON value", func(raw []byte) bool {
		if !wire.IsNull(raw) {
			*p = bytes.Clone(raw)
		}
		return true
	})
}
