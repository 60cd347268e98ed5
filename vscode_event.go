package hooks

// UserPromptSubmit is a prompt of the user that has not been sent yet. Only
// [VSCode] has the event.
type UserPromptSubmit struct {
	Common
	Prompt string
}

// PreCompact is a conversation about to be compacted. Only [VSCode] has the
// event.
type PreCompact struct {
	Common
	// Trigger says what made it happen. Empty means "auto".
	Trigger string
}

// SubagentStart is the beginning of a sub-agent. Only [VSCode] has the event.
type SubagentStart struct {
	Common
	AgentID   string
	AgentType string
}

// SubagentStop is a sub-agent about to end. Only [VSCode] has the event, and
// of the StopState its payload says only whether it is active.
type SubagentStop struct {
	Common
	StopState
	AgentID   string
	AgentType string
}

// EventName returns [OnUserPromptSubmit].
func (*UserPromptSubmit) EventName() EventName { return OnUserPromptSubmit }

// EventName returns [OnPreCompact].
func (*PreCompact) EventName() EventName { return OnPreCompact }

// EventName returns [OnSubagentStart].
func (*SubagentStart) EventName() EventName { return OnSubagentStart }

// EventName returns [OnSubagentStop].
func (*SubagentStop) EventName() EventName { return OnSubagentStop }

func (*UserPromptSubmit) row() *eventRow { return &eventRows[rowUserPromptSubmit] }
func (*PreCompact) row() *eventRow       { return &eventRows[rowPreCompact] }
func (*SubagentStart) row() *eventRow    { return &eventRows[rowSubagentStart] }
func (*SubagentStop) row() *eventRow     { return &eventRows[rowSubagentStop] }

func (e *UserPromptSubmit) common() *Common {
	if e == nil {
		return nil
	}
	return &e.Common
}

func (e *PreCompact) common() *Common {
	if e == nil {
		return nil
	}
	return &e.Common
}

func (e *SubagentStart) common() *Common {
	if e == nil {
		return nil
	}
	return &e.Common
}

func (e *SubagentStop) common() *Common {
	if e == nil {
		return nil
	}
	return &e.Common
}

func (e *UserPromptSubmit) own(f fieldVisitor) { f.str("prompt", &e.Prompt) }

func (e *PreCompact) own(f fieldVisitor) {
	f.strOr("trigger", &e.Trigger, "auto")
}

func (e *SubagentStart) own(f fieldVisitor) {
	f.str("agent_id", &e.AgentID)
	f.str("agent_type", &e.AgentType)
}

func (e *SubagentStop) own(f fieldVisitor) {
	f.str("agent_id", &e.AgentID)
	f.str("agent_type", &e.AgentType)
	f.boolean("stop_hook_active", &e.Active)
}

func (e *UserPromptSubmit) size() int { return len(e.Prompt) }
func (e *PreCompact) size() int       { return len(e.Trigger) }
func (e *SubagentStart) size() int    { return len(e.AgentID) + len(e.AgentType) }
func (e *SubagentStop) size() int     { return len(e.AgentID) + len(e.AgentType) }

func (e *UserPromptSubmit) clone() Event {
	c := *e
	c.Common = e.Common.clone()
	return &c
}

func (e *PreCompact) clone() Event {
	c := *e
	c.Common = e.Common.clone()
	return &c
}

func (e *SubagentStart) clone() Event {
	c := *e
	c.Common = e.Common.clone()
	return &c
}

func (e *SubagentStop) clone() Event {
	c := *e
	c.Common = e.Common.clone()
	return &c
}
