package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/hookruntime/hooks/internal/wire"
)

// ParseEvent turns a captured contract input back into the event (IN-13), so
// that real traces can be replayed. Missing keys are zero or null; unknown
// keys, and second entries of known ones, become metadata, in order. A literal
// execution_summary is kept and never opened. Errors are of type [*EventError],
// joined when there are several.
func ParseEvent(data []byte) (Event, error) {
	if !utf8.Valid(data) {
		return nil, &EventError{Problem: "the input is not UTF-8"}
	}
	members, err := wire.Members(wire.TrimBOM(data))
	if err != nil {
		return nil, &EventError{Problem: "the input is not exactly one JSON object: " + err.Error()}
	}
	f := &fieldReader{members: members, used: make([]bool, len(members))}
	var name string
	if i := f.take("hook_event_name"); i >= 0 {
		name, _ = wire.Unquote(members[i].Value)
	}
	var ev Event
	switch EventName(name) {
	case OnStart:
		ev = &Start{}
	case OnPreToolUse:
		ev = &PreToolUse{}
	case OnPostToolUse:
		ev = &PostToolUse{}
	case OnStop:
		ev = &Stop{}
	default:
		return nil, &EventError{Field: "hook_event_name", Problem: "it must be exactly Start, PreToolUse, PostToolUse or Stop"}
	}
	f.event = EventName(name)
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

// fieldReader is the fieldVisitor that reads. It takes the first entry of a
// key and keeps going after an error, so that all are reported.
type fieldReader struct {
	event   EventName
	members []wire.Member
	used    []bool
	errs    []error
}

// take marks the first entry of key and returns its index, -1 when missing.
func (f *fieldReader) take(key string) int {
	for i, m := range f.members {
		if m.Key == key {
			f.used[i] = true
			return i
		}
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
