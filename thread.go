package hooks

import (
	"context"
	"encoding/json"
	"maps"
	"time"
)

// ThreadState is the thread that a hook runs for. The host implements it;
// [MemoryThread] is one for tests. All methods may be called concurrently, by
// a hook that was abandoned too.
//
// A hook passes on the ctx it was given: the recursion guard and its deadline
// travel in it.
type ThreadState interface {
	ThreadID() string
	AgentID() string
	UserID() string
	CreatedAt() time.Time

	// Messages returns the persisted history that is eligible for a request,
	// in order, silent messages included. The caller may change what it gets.
	Messages(ctx context.Context) ([]Message, error)
	// InjectMessage persists a message. The host does it through a [Gateway]
	// with that ctx, so that the message hooks run; an error of the gateway, a
	// [*RecursionError] among them, is returned. Injecting never restarts the
	// assembly of a request.
	InjectMessage(ctx context.Context, m Message) (Message, error)
	// UpdateMessage changes a persisted message, through a Gateway too.
	UpdateMessage(ctx context.Context, id string, u MessageUpdate) (Message, error)

	// LoadAgent and LoadPrompt return definitions by name.
	LoadAgent(ctx context.Context, name string) (AgentDef, error)
	LoadPrompt(ctx context.Context, name string) (PromptDef, error)

	// Value returns a value kept with the thread, nil when there is none.
	Value(ctx context.Context, key string) (json.RawMessage, error)
	// SetValue keeps a value; nil removes it.
	SetValue(ctx context.Context, key string, value json.RawMessage) error

	// Emit sends an event to the clients of the thread.
	Emit(ctx context.Context, event string, data json.RawMessage) error

	// Execution is the active execution. It is nil at rest: a hook that can
	// run between executions, one on messages for instance, must check.
	Execution() Execution
}

// Execution is what runs in a thread just now. The host implements it;
// [MemoryExecution] is one for tests. All methods may be called concurrently.
type Execution interface {
	FlowID() string
	// CurrentSide is the side whose turn it is.
	CurrentSide() Side
	// StepCount counts the steps of both sides, SideStepCount those of one.
	StepCount() int
	SideStepCount(s Side) int
	// Stopped reports whether the execution is to end; StoppedBy is the side
	// that ended it, empty when none did.
	Stopped() bool
	StoppedBy() Side
	// MessageHistory returns a fresh copy of the live history. What the
	// request-context hooks return never gets into it.
	MessageHistory() []Message
	// Context is the abort signal: it is done when the execution is aborted.
	// The host passes the same signal to everything it starts, so the ctx of a
	// hook is done then too.
	Context() context.Context
	// PromptPath are the prompts that led here, the active one last.
	PromptPath() []string
	// ForceTurn makes it the turn of a side after this step.
	ForceTurn(s Side)
	// Stop ends the execution after this step.
	Stop()
}

// UserState is the user that a hook of user scope runs for. The host
// implements it. All methods may be called concurrently.
type UserState interface {
	UserID() string
	// Value returns a value kept with the user, nil when there is none.
	Value(ctx context.Context, key string) (json.RawMessage, error)
	// SetValue keeps a value; nil removes it. The host then calls
	// [Registry.UserValueChanged] with the same ctx, so that a change made by
	// such a hook is not told again.
	SetValue(ctx context.Context, key string, value json.RawMessage) error
}

// UserClient is a client of a user, an open browser tab for instance.
type UserClient struct {
	ID string
	// Extra is what else the host knows of it.
	Extra map[string]json.RawMessage
}

func (c UserClient) clone() UserClient {
	c.Extra = maps.Clone(c.Extra)
	return c
}
