package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
)

// EventName names a point in the agent loop, spelled as on the wire (EV-1).
type EventName string

// The events of the hook data contract. [VSCode] has them too; it spells OnStart
// SessionStart.
const (
	OnStart       EventName = "Start"
	OnPreToolUse  EventName = "PreToolUse"
	OnPostToolUse EventName = "PostToolUse"
	OnStop        EventName = "Stop"
)

// The events that only [VSCode] has.
const (
	OnUserPromptSubmit EventName = "UserPromptSubmit"
	OnPreCompact       EventName = "PreCompact"
	OnSubagentStart    EventName = "SubagentStart"
	OnSubagentStop     EventName = "SubagentStop"
)

// Event is one moment of an agent loop: a *[Start], *[PreToolUse],
// *[PostToolUse] or *[Stop], or, for hooks of [VSCode] alone, a
// *[UserPromptSubmit], *[PreCompact], *[SubagentStart] or *[SubagentStop]. The
// set is closed. The runtime reads an event while Evaluate runs and never
// changes it.
type Event interface {
	// EventName returns the event's name.
	EventName() EventName
	row() *eventRow
	common() *Common // nil for a nil event
	// own visits the event's own fields in wire order, as the first dialect
	// that has the event spells them.
	own(f fieldVisitor)
	// size estimates the bytes of its own fields on the wire.
	size() int
	// clone returns a copy that shares no memory a hook could write to.
	clone() Event
}

// CommonOf returns what an event has in common with all others, to read or to
// set before the event is evaluated.
func CommonOf(ev Event) *Common { return ev.common() }

// Common is what every event has. Its zero value is a top-level loop without
// a name, at turn 0, without a trajectory.
type Common struct {
	// Agent is the loop that runs the hooks (agent_name, SUB-2).
	Agent string
	// Turn and MaxTurns are current_turn and max_turns. At Start the payload
	// says 0 for the turn whatever is set here (IN-2).
	Turn, MaxTurns int
	// Child marks the loop of a sub-agent: it decides which hooks are in
	// scope (SUB-1), and a child cannot ask (SUB-3).
	// What else a child is, is the host's to keep (SUB-5): it inherits the
	// effective run mode of its parent; what a permission rule of the host
	// would ask is allowed in an Autonomous child and blocked in Review and
	// ReadOnly, since nobody can be asked; it may use a browser session that
	// is connected, and not request one. Its hooks are in telemetry as any.
	Child bool
	// CannotAsk marks a loop without anybody to ask: an ask becomes a deny.
	CannotAsk bool
	// Switches are the thread's activated and deactivated hooks (CFG-6).
	Switches Switches
	// Trajectory writes the run's trajectory as JSON (SUM-1). It is called at
	// most once per event, and only when a hook that will run can see it; it
	// is called in a goroutine of its own, with a context that ends with the
	// event, and DefaultTimeout after the first hook asked. nil: none.
	Trajectory func(ctx context.Context, w io.Writer) error
	// ExecutionSummary is the path of a trajectory file that the host keeps
	// itself. It is written as it is and never opened by the runtime: tools of
	// prompt hooks can read it where Options.PromptFolders hold it. An
	// event with both it and a Trajectory is refused.
	ExecutionSummary string
	// Metadata is flattened into the top level of the payload (IN-8).
	Metadata Metadata

	// SessionID and Workspace are for hooks of [VSCode], and nothing that the
	// hook data contract knows. SessionID is session_id; empty is left out.
	SessionID string
	// Workspace is the repository root, an absolute path as the sandbox spells
	// it: cwd in the payload, what a relative [Command.Dir] starts from, and
	// the working folder of hooks without one. Empty is left out of the
	// payload, and means the sandbox's own folder.
	Workspace string
}

// Switches is the state of the hooks that one thread switched on or off, by
// hook name. It is plain data: it marshals to JSON and back. A hook named in
// both lists runs.
type Switches struct {
	// Activated names on-demand hooks that run in this thread.
	Activated []string `json:"activated,omitempty"`
	// Deactivated names hooks that do not run in this thread. System hooks
	// cannot be switched off: their names here have no effect.
	Deactivated []string `json:"deactivated,omitempty"`
}

// Start is the beginning of a top-level thread, or of a child conversation
// (EV-2).
type Start struct {
	Common
	StartMessage *string // nil: null
	ThreadSource *string // Conversation, Alert, Incident, …; nil: null
}

// PreToolUse is a tool call that has not run yet (EV-3).
type PreToolUse struct {
	Common
	ToolName string
	// ToolInput is a JSON object or null; nil means null. Any other JSON is
	// an error of Evaluate when a hook would see it (IN-10).
	ToolInput       json.RawMessage
	ToolDescription *string // nil: null
	AgentMode       string  // Review, Autonomous, ReadOnly
	IsWriteAction   bool
	// RequiresApproval and RequiresBrowserConnection are the tool's
	// annotations.
	RequiresApproval          bool
	RequiresBrowserConnection bool
	CallID                    string
}

// PostToolUse is a tool call that has returned, or failed (EV-4).
type PostToolUse struct {
	Common
	ToolName      string
	ToolInput     json.RawMessage // as in PreToolUse
	ToolResult    json.RawMessage // any JSON; nil means null
	ToolSucceeded bool            // true also for a tool that returned an error text
	CallID        string
	// Resumed marks a call that finishes after a pause. In Contract conduct
	// the payload then says turn 0 of 250 (IN-12, QRK-14).
	Resumed bool
}

// Stop is the loop about to end (EV-5).
type Stop struct {
	Common
	StopState
	FinalOutput *string // nil: null
}

// StopState is what one Stop event must know of the earlier ones of the same
// run. The zero value is a run that no prompt hook has kept going yet; later
// ones come from [Decision.NextStop]. It marshals to JSON and back.
type StopState struct {
	// Active is stop_hook_active: a prompt Stop hook, or a hook of [VSCode],
	// has rejected in this run.
	Active bool `json:"stop_hook_active"`
	// RejectionCount is stop_rejection_count (SP-2).
	RejectionCount int `json:"stop_rejection_count"`
}

// EventName returns [OnStart].
func (*Start) EventName() EventName { return OnStart }

// EventName returns [OnPreToolUse].
func (*PreToolUse) EventName() EventName { return OnPreToolUse }

// EventName returns [OnPostToolUse].
func (*PostToolUse) EventName() EventName { return OnPostToolUse }

// EventName returns [OnStop].
func (*Stop) EventName() EventName { return OnStop }

func (*Start) row() *eventRow       { return &eventRows[rowStart] }
func (*PreToolUse) row() *eventRow  { return &eventRows[rowPreToolUse] }
func (*PostToolUse) row() *eventRow { return &eventRows[rowPostToolUse] }
func (*Stop) row() *eventRow        { return &eventRows[rowStop] }

func (e *Start) common() *Common {
	if e == nil {
		return nil
	}
	return &e.Common
}

func (e *PreToolUse) common() *Common {
	if e == nil {
		return nil
	}
	return &e.Common
}

func (e *PostToolUse) common() *Common {
	if e == nil {
		return nil
	}
	return &e.Common
}

func (e *Stop) common() *Common {
	if e == nil {
		return nil
	}
	return &e.Common
}

// fieldVisitor walks the fields of an event in wire order. Writing, reading
// and naming them are three visitors, so that each field is spelled once.
type fieldVisitor interface {
	str(key string, p *string)             // string
	strOr(key string, p *string, d string) // string; an empty one is written as d
	known(key string, p *string)           // string; an empty one is left out
	flat(key string, p *json.RawMessage)   // any JSON as one string
	nullStr(key string, p **string)        // string or null
	boolean(key string, p *bool)           // bool
	integer(key string, p *int)            // integer
	object(key string, p *json.RawMessage) // object or null
	value(key string, p *json.RawMessage)  // any JSON
}

func (e *Start) own(f fieldVisitor) {
	f.nullStr("start_message", &e.StartMessage)
	f.nullStr("thread_source", &e.ThreadSource)
}

func (e *PreToolUse) own(f fieldVisitor) {
	f.str("tool_name", &e.ToolName)
	f.object("tool_input", &e.ToolInput)
	f.nullStr("tool_description", &e.ToolDescription)
	f.str("agent_mode", &e.AgentMode)
	f.boolean("is_write_action", &e.IsWriteAction)
	f.boolean("requires_approval", &e.RequiresApproval)
	f.boolean("requires_browser_connection", &e.RequiresBrowserConnection)
	f.str("call_id", &e.CallID)
}

func (e *PostToolUse) own(f fieldVisitor) {
	f.str("tool_name", &e.ToolName)
	f.object("tool_input", &e.ToolInput)
	f.value("tool_result", &e.ToolResult)
	f.boolean("tool_succeeded", &e.ToolSucceeded)
	f.str("call_id", &e.CallID)
}

func (e *Stop) own(f fieldVisitor) {
	f.boolean("stop_hook_active", &e.Active)
	f.integer("stop_rejection_count", &e.RejectionCount)
	f.nullStr("final_output", &e.FinalOutput)
}

func (e *Start) size() int       { return textLen(e.StartMessage) }
func (e *PreToolUse) size() int  { return len(e.ToolInput) + textLen(e.ToolDescription) }
func (e *PostToolUse) size() int { return len(e.ToolInput) + len(e.ToolResult) }
func (e *Stop) size() int        { return textLen(e.FinalOutput) }

func textLen(p *string) int {
	if p == nil {
		return 0
	}
	return len(*p)
}

func (e *Start) clone() Event {
	c := *e
	c.Common = e.Common.clone()
	c.StartMessage, c.ThreadSource = cloneString(e.StartMessage), cloneString(e.ThreadSource)
	return &c
}

func (e *PreToolUse) clone() Event {
	c := *e
	c.Common = e.Common.clone()
	c.ToolInput, c.ToolDescription = bytes.Clone(e.ToolInput), cloneString(e.ToolDescription)
	return &c
}

func (e *PostToolUse) clone() Event {
	c := *e
	c.Common = e.Common.clone()
	c.ToolInput, c.ToolResult = bytes.Clone(e.ToolInput), bytes.Clone(e.ToolResult)
	return &c
}

func (e *Stop) clone() Event {
	c := *e
	c.Common = e.Common.clone()
	c.FinalOutput = cloneString(e.FinalOutput)
	return &c
}

func (c *Common) clone() Common {
	d := *c
	d.Switches.Activated = slices.Clone(c.Switches.Activated)
	d.Switches.Deactivated = slices.Clone(c.Switches.Deactivated)
	d.Metadata = c.Metadata.clone()
	return d
}

func cloneString(p *string) *string {
	if p == nil {
		return nil
	}
	s := *p
	return &s
}
