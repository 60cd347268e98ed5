package hooks

import (
	"encoding/json"
	"time"

	"github.com/hookruntime/hooks/internal/wire"
)

// This file is the input of VSCode's hooks. Keys are in snake case; older
// documentation printed hookEventName and sessionId, which are read from
// captured payloads and never written.

// vscodeTime is ISO 8601 with milliseconds; the time is in UTC.
const vscodeTime = "2006-01-02T15:04:05.000Z"

// encodeVSCode writes the input of VSCode. The metadata of the hook data
// contract has no place in it. An event with a mistake fails as in encode.
func encodeVSCode(f *fieldWriter, ev Event, conduct Conduct, lim Limits) (*encoded, error) {
	c := ev.common()
	f.begin(ev, conduct, lim)
	f.key, f.leftOut = "transcript_path", true
	f.w.Open()
	f.w.Str("timestamp", time.Now().UTC().Format(vscodeTime))
	f.w.Str("hook_event_name", ev.row().terms[VSCode].spelled)
	f.known("session_id", &c.SessionID)
	f.known("cwd", &c.Workspace)
	f.split()
	vscodeFields(ev, f)
	return f.finish()
}

// vscodeFields visits an event's own fields. There is at least one.
func vscodeFields(ev Event, f fieldVisitor) {
	switch e := ev.(type) {
	case *Start:
		f.strOr("source", new(string), "new")
	case *PreToolUse:
		f.str("tool_name", &e.ToolName)
		f.object("tool_input", &e.ToolInput)
		f.str("tool_use_id", &e.CallID)
	case *PostToolUse:
		f.str("tool_name", &e.ToolName)
		f.object("tool_input", &e.ToolInput)
		f.flat("tool_response", &e.ToolResult)
		f.str("tool_use_id", &e.CallID)
	case *Stop:
		f.boolean("stop_hook_active", &e.Active)
	default:
		e.own(f)
	}
}

// vscodeInput reads captured payloads of VSCode, and of the hook data contract:
// whoever tries a hook has one or the other. It is never written to.
var vscodeInput = inputKeys{
	eventKeys: []string{"hook_event_name", "hookEventName"},
	event: func(name string) *eventRow {
		if row := VSCode.spelledEvent(name); row != nil {
			return row
		}
		return HookContract.spelledEvent(name)
	},
	events: VSCode,
	fields: func(ev Event, f *fieldReader) {
		c := ev.common()
		f.known("timestamp", new(string)) // the new one is written
		f.known("session_id", &c.SessionID)
		f.known("sessionId", &c.SessionID)
		f.known("transcript_path", &c.ExecutionSummary)
		f.known("cwd", &c.Workspace)
		if post, ok := ev.(*PostToolUse); ok {
			post.ToolSucceeded = true // VSCode tells of successes only
		}
		vscodeFields(ev, f)
		contractFields(ev, f)
	},
}

// flat reads a string; the event has it as JSON.
func (f *fieldReader) flat(key string, p *json.RawMessage) {
	f.read(key, "a string", func(raw []byte) bool {
		_, ok := wire.Unquote(raw)
		*p = append(json.RawMessage(nil), raw...)
		return ok
	})
}
