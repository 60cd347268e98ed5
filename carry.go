package hooks

import "encoding/json"

// Carried is what travels from a PreToolUse decision to the PostToolUse event
// of the same call. It marshals to JSON and back; the zero value carries
// nothing.
type Carried struct {
	Metadata []MetadataEntry `json:"metadata,omitempty"`
}

// Carry returns what the decision hands to [PreToolUse.Returned]. An ask
// carries nothing: a pause drops the metadata (MD-2).
func (d *Decision) Carry() Carried { return Carried{Metadata: d.Metadata.clone()} }

// ToolResult is what a tool call came to.
type ToolResult struct {
	// Result is any JSON; nil means null.
	Result json.RawMessage
	// Succeeded is whether the call completed without an exception; true also
	// for a tool that returned an error text (EV-4).
	Succeeded bool
	// Metadata is that of the execution pipeline. It overwrites a hook's
	// values (MD-3).
	Metadata Metadata
}

// Returned builds the PostToolUse event of the call: same loop, tool, input
// and call id, with the metadata of the PreToolUse decision under that of the
// pipeline (MD-1, MD-3). Metadata the host put on p itself comes first.
func (p *PreToolUse) Returned(r ToolResult, c Carried) *PostToolUse {
	post := &PostToolUse{
		Common: p.Common.clone(), ToolName: p.ToolName, ToolInput: p.ToolInput,
		ToolResult: r.Result, ToolSucceeded: r.Succeeded, CallID: p.CallID,
	}
	post.Metadata = append(post.Metadata, Metadata(c.Metadata)...).overlay(r.Metadata)
	return post
}

// Resumed builds the PostToolUse event of a call that finished after a pause:
// PreToolUse is not run again (EV-3), its metadata is gone (MD-2), and in
// Contract conduct the payload says turn 0 of 250 (QRK-14).
func (p *PreToolUse) Resumed(r ToolResult) *PostToolUse {
	post := p.Returned(r, Carried{})
	post.Resumed = true
	return post
}

// NextStop returns the state for the next Stop event of the same run (SP-2):
// one more rejection, and active, when a prompt hook rejected in this one;
// active, when a hook of [VSCode] did. Of another event's decision, or an
// undecided one, it is the state unchanged. SubagentStop has it as well.
func (d *Decision) NextStop() StopState {
	s := d.trace.facts.stop
	if d.prompted {
		s.RejectionCount++
		s.Active = true
	}
	s.Active = s.Active || d.continues
	return s
}
