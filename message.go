package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/hookruntime/hooks/internal/wire"
)

// Role says who speaks in a message.
type Role string

// The roles of a persisted message. A provider may know others.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one message of a thread's persisted history. The zero value has
// no content; for every text except Content, empty and absent are the same. As
// JSON it has the keys of the Standard Agents' HookMessage, with those of Extra
// beside them.
//
// A lifecycle hook gets its own copy, maps included, and may change all of it
// except the bytes of a raw JSON value, which are shared.
type Message struct {
	ID   string
	Role Role
	// Content is the text; nil is null, as in an assistant message that only
	// calls tools. [Message.Text] and [Message.SetText] spare the pointer.
	Content *string
	Name    string
	// ToolCalls is a JSON array of [ToolCall] as text, the way it is stored;
	// see [ParseToolCalls] and [FormatToolCalls]. Empty means none.
	ToolCalls string
	// ToolCallID is the call that a message of RoleTool answers.
	ToolCallID string
	// CreatedAt is the store's own count, usually milliseconds since 1970.
	CreatedAt int64
	ParentID  string
	Depth     int
	// Silent messages are not shown to people; they belong to the history.
	Silent bool
	// Extra holds every other key, "metadata" for instance. A key that names
	// one of the fields above is not written.
	Extra map[string]json.RawMessage
}

// Text returns the content, "" when it is null.
func (m *Message) Text() string { return textOf(m.Content) }

// SetText replaces the content.
func (m *Message) SetText(s string) { m.Content = &s }

// SetExtra sets a key of Extra to the JSON encoding of value; a
// json.RawMessage is taken as it is. It returns an error when value cannot be
// encoded.
func (m *Message) SetExtra(key string, value any) error { return setExtra(&m.Extra, key, value) }

func (m Message) clone() Message {
	m.Content, m.Extra = cloneString(m.Content), maps.Clone(m.Extra)
	return m
}

// cloneMessages copies the list and every message; nil stays nil. The contents
// that hooks may write through a pointer are allocated together.
func cloneMessages(ms []Message) []Message {
	c, texts := slices.Clone(ms), make([]string, len(ms))
	for i := range c {
		c[i].Content, c[i].Extra = cloneText(&texts[i], c[i].Content), maps.Clone(c[i].Extra)
	}
	return c
}

// MarshalJSON implements [json.Marshaler].
func (m Message) MarshalJSON() ([]byte, error) {
	w := wire.NewWriter(nil)
	w.Open()
	w.Str("id", m.ID)
	w.Str("role", string(m.Role))
	w.NullStr("content", m.Content)
	writeText(w, "name", m.Name)
	writeText(w, "tool_calls", m.ToolCalls)
	writeText(w, "tool_call_id", m.ToolCallID)
	if err := w.Raw("created_at", strconv.AppendInt(nil, m.CreatedAt, 10), wire.Limits{}); err != nil {
		return nil, err
	}
	writeText(w, "parent_id", m.ParentID)
	if m.Depth != 0 {
		w.Int("depth", m.Depth)
	}
	if m.Silent {
		w.Bool("silent", true)
	}
	return closeWithExtra(w, m.Extra, (&m).field)
}

// UnmarshalJSON implements [json.Unmarshaler]. Keys are read by their exact
// spelling; unknown ones go to Extra.
func (m *Message) UnmarshalJSON(data []byte) error {
	*m = Message{}
	return readFields(data, "message", m.field, &m.Extra)
}

// field returns where the value of a key goes, nil for a key of Extra.
func (m *Message) field(key string) any {
	switch key {
	case "id":
		return &m.ID
	case "role":
		return &m.Role
	case "content":
		return &m.Content
	case "name":
		return &m.Name
	case "tool_calls":
		return &m.ToolCalls
	case "tool_call_id":
		return &m.ToolCallID
	case "created_at":
		return &m.CreatedAt
	case "parent_id":
		return &m.ParentID
	case "depth":
		return &m.Depth
	case "silent":
		return &m.Silent
	}
	return nil
}

// LLMMessage is one message of a request in the provider's chat form. Copies
// and JSON are as for [Message].
type LLMMessage struct {
	Role    string
	Content *string // nil is null
	// ToolCalls is whatever the provider takes, as raw JSON: the bytes are
	// shared and must not be changed in place. nil means none.
	ToolCalls  json.RawMessage
	ToolCallID string
	Name       string
	// Extra holds every other key.
	Extra map[string]json.RawMessage
}

// Text returns the content, "" when it is null.
func (m *LLMMessage) Text() string { return textOf(m.Content) }

// SetText replaces the content.
func (m *LLMMessage) SetText(s string) { m.Content = &s }

func cloneLLMMessages(ms []LLMMessage) []LLMMessage {
	c, texts := slices.Clone(ms), make([]string, len(ms))
	for i := range c {
		c[i].Content, c[i].Extra = cloneText(&texts[i], c[i].Content), maps.Clone(c[i].Extra)
	}
	return c
}

// MarshalJSON implements [json.Marshaler].
func (m LLMMessage) MarshalJSON() ([]byte, error) {
	w := wire.NewWriter(nil)
	w.Open()
	w.Str("role", m.Role)
	w.NullStr("content", m.Content)
	if m.ToolCalls != nil {
		if err := w.Raw("tool_calls", m.ToolCalls, wire.Limits{}); err != nil {
			return nil, err
		}
	}
	writeText(w, "tool_call_id", m.ToolCallID)
	writeText(w, "name", m.Name)
	return closeWithExtra(w, m.Extra, (&m).field)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (m *LLMMessage) UnmarshalJSON(data []byte) error {
	*m = LLMMessage{}
	return readFields(data, "message", m.field, &m.Extra)
}

func (m *LLMMessage) field(key string) any {
	switch key {
	case "role":
		return &m.Role
	case "content":
		return &m.Content
	case "tool_calls":
		return &m.ToolCalls
	case "tool_call_id":
		return &m.ToolCallID
	case "name":
		return &m.Name
	}
	return nil
}

// MessageUpdate is a partial change of a stored message. A field that keeps
// (the zero [Change]) is not touched; the zero value changes nothing.
type MessageUpdate struct {
	Role       Change[Role]
	Content    Change[*string] // a nil pointer stores null
	Name       Change[string]
	ToolCalls  Change[string]
	ToolCallID Change[string]
	ParentID   Change[string]
	Depth      Change[int]
	Silent     Change[bool]
	// Extra sets keys of the message's Extra; a nil value removes the key.
	Extra map[string]json.RawMessage
}

// SetText makes the update replace the content.
func (u *MessageUpdate) SetText(s string) { u.Content = Replace(&s) }

// Text returns the content that the update stores, "" for null, and whether it
// stores one.
func (u *MessageUpdate) Text() (string, bool) {
	p, ok := u.Content.Value()
	return textOf(p), ok
}

// SetExtra is as [Message.SetExtra].
func (u *MessageUpdate) SetExtra(key string, value any) error { return setExtra(&u.Extra, key, value) }

// Apply returns m with the update made; m and u are left as they are.
func (u *MessageUpdate) Apply(m Message) Message {
	c := u.clone()
	m = m.clone()
	m.Role, m.Content, m.Name = c.Role.or(m.Role), c.Content.or(m.Content), c.Name.or(m.Name)
	m.ToolCalls, m.ToolCallID = c.ToolCalls.or(m.ToolCalls), c.ToolCallID.or(m.ToolCallID)
	m.ParentID, m.Depth, m.Silent = c.ParentID.or(m.ParentID), c.Depth.or(m.Depth), c.Silent.or(m.Silent)
	for k, v := range c.Extra {
		if v == nil {
			delete(m.Extra, k)
			continue
		}
		if m.Extra == nil {
			m.Extra = make(map[string]json.RawMessage, len(c.Extra))
		}
		m.Extra[k] = v
	}
	return m
}

func (u MessageUpdate) clone() MessageUpdate {
	if p, ok := u.Content.Value(); ok {
		u.Content = Replace(cloneString(p))
	}
	u.Extra = maps.Clone(u.Extra)
	return u
}

func textOf(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// cloneText copies *p into room.
func cloneText(room, p *string) *string {
	if p == nil {
		return nil
	}
	*room = *p
	return room
}

func setExtra(extra *map[string]json.RawMessage, key string, value any) error {
	raw, err := encodeValue(value)
	if err != nil {
		return fmt.Errorf("hooks: key %q: %w", key, err)
	}
	if *extra == nil {
		*extra = map[string]json.RawMessage{}
	}
	(*extra)[key] = raw
	return nil
}

// encodeValue is json.Marshal without the escapes for HTML.
func encodeValue(value any) (json.RawMessage, error) {
	if raw, ok := value.(json.RawMessage); ok {
		return raw, nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

func writeText(w *wire.Writer, key, s string) {
	if s != "" {
		w.Str(key, s)
	}
}

// closeWithExtra writes the keys that are no fields, sorted, and the end.
func closeWithExtra(w *wire.Writer, extra map[string]json.RawMessage, field func(string) any) ([]byte, error) {
	for _, k := range slices.Sorted(maps.Keys(extra)) {
		if field(k) != nil {
			continue
		}
		if err := w.Raw(k, extra[k], wire.Limits{}); err != nil {
			return nil, fmt.Errorf("hooks: key %q: %w", k, err)
		}
	}
	w.Close()
	return w.Bytes(), nil
}

// readFields reads an object key by exact key, unlike encoding/json, which
// folds case. null leaves a field at zero.
func readFields(data []byte, what string, field func(string) any, extra *map[string]json.RawMessage) error {
	members, err := wire.Members(data)
	if err != nil {
		return fmt.Errorf("hooks: the %s is %w", what, err)
	}
	for _, m := range members {
		to := field(m.Key)
		if to == nil {
			if *extra == nil {
				*extra = map[string]json.RawMessage{}
			}
			(*extra)[m.Key] = bytes.Clone(m.Value)
			continue
		}
		if err := json.Unmarshal(m.Value, to); err != nil {
			return fmt.Errorf("hooks: the %s's %q: %w", what, m.Key, err)
		}
	}
	return nil
}
