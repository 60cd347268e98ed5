package hooks

import (
	"context"
	"time"
)

// LifecycleOptions holds what lifecycle hooks need from outside. The zero
// value, and nil, are ready. Functions may be called concurrently.
type LifecycleOptions struct {
	// Timeout bounds one run of one hook. Zero means 30 seconds.
	Timeout time.Duration
	// Observe, if set, gets a [LifecycleRecord] for every run of a hook, and
	// the other records of this chapter. It may be the same function as
	// Options.Observe.
	Observe func(ctx context.Context, r Record)
	// Failed, if set, gets every failure of a hook that is not returned to the
	// caller because it prevents nothing.
	Failed func(ctx context.Context, err *HookError)

	// Strict makes faults in the prompt's or agent's own list errors of
	// Compose instead of warnings.
	Strict bool
	// ChildrenAtRest lets the hooks that children require apply at rest too.
	ChildrenAtRest bool

	// DropOrphans drops tool results without their call from a request, after
	// filter_messages and again after prefilter_llm_history. Many providers
	// refuse a request with such results.
	DropOrphans bool
	// ProviderForm, if set, turns the rendered system prompt and the filtered
	// messages into the provider's form; nil is [ProviderForm].
	ProviderForm func(system string, msgs []Message) ([]LLMMessage, error)

	// ProgressArgument, if set, returns the argument that a tool declares as
	// its progress, "" for none.
	ProgressArgument func(tool string) string
	// Sink, if set, gets an event for the clients of a thread before the hooks
	// of tool_call_started and tool_call_done run. It is held to Timeout, and
	// a failure stops nothing.
	Sink func(ctx context.Context, e ToolEvent) error
	// Withhold stores an error in place of a result for which a hook of
	// before_store_tool_result fails. Set it when such a hook redacts.
	Withhold bool
	// ToolMessage, if set, makes the message that stores a result; nil is
	// [ToolMessage].
	ToolMessage func(ctx context.Context, c ToolCall, r CallResult) (Message, error)
}

// ToolEvent is what clients are told of a tool call.
type ToolEvent struct {
	Event    PointName  `json:"event"` // tool_call_started or tool_call_done
	ThreadID string     `json:"thread_id"`
	ID       string     `json:"id"`
	Name     string     `json:"name"`
	Progress *string    `json:"progress,omitempty"` // of tool_call_started
	Status   CallStatus `json:"status,omitempty"`   // of tool_call_done
}
