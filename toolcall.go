package hooks

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/hookruntime/hooks/internal/wire"
)

// ToolCall is one call of a tool by the model, or by code.
type ToolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"` // "function"
	Function ToolFunction `json:"function"`
}

// ToolFunction says which tool is called, and with what.
type ToolFunction struct {
	Name string `json:"name"`
	// Arguments is a JSON object as text. In a [ToolCallStarted] hook it may be
	// a fragment, or empty: the model may still be writing it.
	Arguments string `json:"arguments"`
}

// NewToolCall returns a call of type "function".
func NewToolCall(id, name, arguments string) ToolCall {
	return ToolCall{ID: id, Type: "function", Function: ToolFunction{Name: name, Arguments: arguments}}
}

// ParseToolCalls reads Message.ToolCalls. An empty text is no calls; anything
// but an array of calls is an error.
func ParseToolCalls(s string) ([]ToolCall, error) {
	if s == "" {
		return nil, nil
	}
	var calls []ToolCall
	if err := json.Unmarshal([]byte(s), &calls); err != nil {
		return nil, fmt.Errorf("hooks: tool_calls: %w", err)
	}
	return calls, nil
}

// FormatToolCalls writes calls the way Message.ToolCalls stores them; no calls
// are an empty text.
func FormatToolCalls(calls []ToolCall) string {
	if len(calls) == 0 {
		return ""
	}
	raw, err := encodeValue(calls)
	if err != nil {
		panic("hooks: strings did not encode: " + err.Error())
	}
	return string(raw)
}

// CallStatus says whether a tool call succeeded.
type CallStatus string

// The statuses. There is no third: a result with another one is not usable.
const (
	StatusSuccess CallStatus = "success"
	StatusError   CallStatus = "error"
)

// CallResult is what a tool call came to, the Standard Agents' HookToolResult.
// (A [ToolResult] is the same thing in the hook data contract; see
// [CallResult.ToolResult].) The zero value has no status and is not usable.
type CallResult struct {
	Status CallStatus
	Result string // the text of a success
	Error  string // the text of an error
	// Stack is where an error came from, for operators. It is never stored in
	// the tool's message.
	Stack string
	// Attachments are files. In a result that a hook returns, nil keeps those
	// there were, and an empty slice that is not nil drops them.
	Attachments []Attachment
	// Extra holds other keys to be stored with the result.
	Extra map[string]json.RawMessage
}

// SuccessResult returns a result with this text.
func SuccessResult(text string) CallResult { return CallResult{Status: StatusSuccess, Result: text} }

// ErrorResult returns an error with this text.
func ErrorResult(text string) CallResult { return CallResult{Status: StatusError, Error: text} }

// Text returns the text that belongs to the status.
func (r *CallResult) Text() string {
	if r.Status == StatusSuccess {
		return r.Result
	}
	return r.Error
}

// SetExtra is as [Message.SetExtra].
func (r *CallResult) SetExtra(key string, value any) error { return setExtra(&r.Extra, key, value) }

func (r CallResult) clone() CallResult {
	r.Attachments, r.Extra = slices.Clone(r.Attachments), maps.Clone(r.Extra)
	return r
}

// Attachment is a file that a tool returned: a [ToolAttachment] or an
// [AttachmentRef], by value. The set is closed.
type Attachment interface{ attachment() }

// ToolAttachment is a new file, still to be stored.
type ToolAttachment struct {
	Name     string
	MIMEType string
	// Data is the file's bytes; a string, so that hooks can share them.
	Data string
}

// AttachmentRef points to a file that the thread's file system already has.
type AttachmentRef struct {
	Path     string `json:"path"`
	Name     string `json:"name,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
}

func (ToolAttachment) attachment() {}
func (AttachmentRef) attachment()  {}

// MarshalJSON writes name, mimeType and the data in base64.
func (a ToolAttachment) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Name     string `json:"name"`
		MIMEType string `json:"mimeType,omitempty"`
		Data     []byte `json:"data"`
	}{a.Name, a.MIMEType, []byte(a.Data)})
}

// ToolMessage returns the message that stores a result: of RoleTool, with the
// text that belongs to the status, and with the result's Extra. Attachments
// are under the key "attachments" of its Extra, new files in base64; a host
// with a file system stores them first, see LifecycleOptions.ToolMessage.
func ToolMessage(c ToolCall, r CallResult) (Message, error) {
	m := Message{Role: RoleTool, Name: c.Function.Name, ToolCallID: c.ID, Extra: maps.Clone(r.Extra)}
	m.SetText(r.Text())
	if len(r.Attachments) > 0 {
		if err := m.SetExtra("attachments", r.Attachments); err != nil {
			return Message{}, err
		}
	}
	return m, nil
}

// ToolResult returns the result as [PreToolUse.Returned] takes it: its text as
// a JSON string, and whether the call succeeded.
func (r *CallResult) ToolResult() ToolResult {
	return ToolResult{Result: wire.AppendString(nil, r.Text()), Succeeded: r.Status == StatusSuccess}
}
