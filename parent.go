package hooks

// AgentDef is what the lifecycle needs to know of an agent's definition.
type AgentDef struct {
	Name string
	// Package is the namespace of the agent's hook ids; empty is the global
	// one.
	Package string
	// Hooks are the ids that run when the active prompt names none, and at
	// rest.
	Hooks []string
	// ParentHooks are the hooks that the agent, as a child, requires in its
	// parent's composition. They count only for the entry agent of a package
	// or thread.
	ParentHooks []ChildHook
	// Inner marks an agent that is not an entry agent.
	Inner bool
}

// PromptDef is what the lifecycle needs to know of a prompt's definition.
type PromptDef struct {
	Name string
	// Package is the namespace of the prompt's hook ids; empty is the global
	// one.
	Package string
	// Hooks are the ids that the prompt runs instead of its agent's; an empty
	// list is the same as none.
	Hooks []string
}

// ChildHook is one hook that a child agent requires of its parent.
type ChildHook struct {
	// Hook is its id in the child's namespace.
	Hook string
	// Reason tells the parent's author what it is for; it must not be blank.
	Reason string
	// Stage says when it runs; empty is StageAfterParent.
	Stage Stage
}

// Stage is the place of a child's hook beside the parent's own.
type Stage string

// The stages.
const (
	StageBeforeParent Stage = "before_parent"
	StageAfterParent  Stage = "after_parent"
)

// Side is one of the two sides of a conversation.
type Side string

// The sides. The empty Side is the active one, or unknown.
const (
	SideA Side = "a"
	SideB Side = "b"
)

// Relationship is a sub-agent among the tools of a prompt.
type Relationship struct {
	// As is the relationship's name; empty means the agent's.
	As string
	// Agent is the target.
	Agent AgentDef
	// Side is the side whose prompt has the relationship; empty means the
	// active one. Those of the other side contribute nothing.
	Side Side
	// Disabled marks an optional child that is switched off: it contributes
	// nothing.
	Disabled bool
	// Hidden children are not shown to the model. Their hooks count all the
	// same.
	Hidden bool
}

func (r *Relationship) name() string {
	if r.As != "" {
		return r.As
	}
	return r.Agent.Name
}

// Parent is what a composition is made for: an agent with the prompt that is
// active, or at rest.
type Parent struct {
	Agent AgentDef
	// Prompt is the active prompt. nil is at rest: between executions.
	Prompt *PromptDef
	// Side is the active side; empty when there is only one.
	Side Side
	// Relationships are the prompt's direct sub-agents, in the order of its
	// tools. At rest they count only with LifecycleOptions.ChildrenAtRest.
	Relationships []Relationship
}

// HookContext tells a lifecycle hook why it runs. It comes from the
// composition alone, never from a thread's data.
type HookContext struct {
	// Source is a [PromptSource], an [AgentSource] or a [ChildSource].
	Source Source
}

// Source is who declared a hook: a [PromptSource], an [AgentSource] or a
// [ChildSource], by value. The set is closed, and sources compare with ==.
type Source interface {
	// Kind is "prompt", "agent" or "child".
	Kind() string
	// String names the source for people.
	String() string
	source()
}

// PromptSource is the active prompt.
type PromptSource struct{ PromptName string }

// AgentSource is the parent agent.
type AgentSource struct{ AgentName string }

// ChildSource is a child that requires the hook.
type ChildSource struct {
	// RelationshipName is the relationship's As, or else the agent's name.
	RelationshipName string
	// AgentName is the agent that implements the relationship.
	AgentName string
	// Package is the namespace that the hook was loaded from; empty is the
	// global one.
	Package string
}

func (PromptSource) source() {}
func (AgentSource) source()  {}
func (ChildSource) source()  {}

// Kind returns "prompt".
func (PromptSource) Kind() string { return "prompt" }

// Kind returns "agent".
func (AgentSource) Kind() string { return "agent" }

// Kind returns "child".
func (ChildSource) Kind() string { return "child" }

// String returns the kind and the prompt's name.
func (s PromptSource) String() string { return "prompt " + s.PromptName }

// String returns the kind and the agent's name.
func (s AgentSource) String() string { return "agent " + s.AgentName }

// String returns the kind, the relationship and where its hooks come from.
func (s ChildSource) String() string {
	text := "child " + s.RelationshipName
	if s.AgentName != s.RelationshipName {
		text += " (agent " + s.AgentName + ")"
	}
	if s.Package != "" {
		text += " of " + s.Package
	}
	return text
}
