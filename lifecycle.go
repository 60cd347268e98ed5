package hooks

import (
	"context"
	"fmt"
	"reflect"
	"slices"
)

// PointName names a point in the life of threads, messages and tool calls.
type PointName string

// Scope says what the hooks of a point run for.
type Scope string

// The scopes. Only hooks of thread scope are composed.
const (
	ScopeThread Scope = "thread"
	ScopeUser   Scope = "user"
)

// Kind says what the hooks of a point may do.
type Kind string

// The kinds.
const (
	KindObserve   Kind = "observe"
	KindTransform Kind = "transform"
)

// Flow says how the hooks of a point follow one another. Never do two of them
// run at the same time.
type Flow string

// The flows.
const (
	FlowAll       Flow = "all"       // all run, in order, whatever the others did
	FlowWaterfall Flow = "waterfall" // each gets what the one before it returned
)

// Veto says which failures of a hook prevent what was about to happen.
type Veto string

// The vetoes. What is no veto is reported, and the next hook runs.
const (
	VetoNone  Veto = "none"
	VetoBlock Veto = "block" // only a [*BlockError]
	VetoError Veto = "error" // any error, a panic and a timeout too
)

// PointInfo is what there is to know of a point.
type PointInfo struct {
	Name  PointName
	Scope Scope
	Kind  Kind
	Flow  Flow
	Veto  Veto
	// OncePerCall points run once for each tool call id.
	OncePerCall bool
	// Withholds marks the point to which LifecycleOptions.Withhold applies.
	Withholds bool
}

// MayVeto reports whether a hook can prevent what was about to happen.
func (p PointInfo) MayVeto() bool { return p.Veto != VetoNone }

// The indexes of pointRows, in the order of a thread's life.
const (
	afterThreadCreated = iota
	afterSubagentCreated
	afterSystemMessage
	filterMessages
	prefilterLLMHistory
	beforeCreateMessage
	afterCreateMessage
	beforeUpdateMessage
	afterUpdateMessage
	toolCallStarted
	beforeStoreToolResult
	afterToolCallSuccess
	afterToolCallFailure
	toolCallDone
	userClientAttached
	userClientDetached
	userValueChanged
	pointCount
)

// pointRows is the table of the points. It is never written to.
var pointRows = [pointCount]PointInfo{
	afterThreadCreated:    {Name: "after_thread_created", Scope: ScopeThread, Kind: KindObserve, Flow: FlowAll, Veto: VetoNone},
	afterSubagentCreated:  {Name: "after_subagent_created", Scope: ScopeThread, Kind: KindObserve, Flow: FlowAll, Veto: VetoNone},
	afterSystemMessage:    {Name: "after_system_message", Scope: ScopeThread, Kind: KindTransform, Flow: FlowWaterfall, Veto: VetoNone},
	filterMessages:        {Name: "filter_messages", Scope: ScopeThread, Kind: KindTransform, Flow: FlowWaterfall, Veto: VetoNone},
	prefilterLLMHistory:   {Name: "prefilter_llm_history", Scope: ScopeThread, Kind: KindTransform, Flow: FlowWaterfall, Veto: VetoBlock},
	beforeCreateMessage:   {Name: "before_create_message", Scope: ScopeThread, Kind: KindTransform, Flow: FlowWaterfall, Veto: VetoError},
	afterCreateMessage:    {Name: "after_create_message", Scope: ScopeThread, Kind: KindObserve, Flow: FlowAll, Veto: VetoNone},
	beforeUpdateMessage:   {Name: "before_update_message", Scope: ScopeThread, Kind: KindTransform, Flow: FlowWaterfall, Veto: VetoError},
	afterUpdateMessage:    {Name: "after_update_message", Scope: ScopeThread, Kind: KindObserve, Flow: FlowAll, Veto: VetoNone},
	toolCallStarted:       {Name: "tool_call_started", Scope: ScopeThread, Kind: KindObserve, Flow: FlowAll, Veto: VetoNone, OncePerCall: true},
	beforeStoreToolResult: {Name: "before_store_tool_result", Scope: ScopeThread, Kind: KindTransform, Flow: FlowWaterfall, Veto: VetoNone, Withholds: true},
	afterToolCallSuccess:  {Name: "after_tool_call_success", Scope: ScopeThread, Kind: KindTransform, Flow: FlowWaterfall, Veto: VetoNone},
	afterToolCallFailure:  {Name: "after_tool_call_failure", Scope: ScopeThread, Kind: KindTransform, Flow: FlowWaterfall, Veto: VetoNone},
	toolCallDone:          {Name: "tool_call_done", Scope: ScopeThread, Kind: KindObserve, Flow: FlowAll, Veto: VetoNone, OncePerCall: true},
	userClientAttached:    {Name: "user_client_attached", Scope: ScopeUser, Kind: KindObserve, Flow: FlowAll, Veto: VetoNone},
	userClientDetached:    {Name: "user_client_detached", Scope: ScopeUser, Kind: KindObserve, Flow: FlowAll, Veto: VetoNone},
	userValueChanged:      {Name: "user_value_changed", Scope: ScopeUser, Kind: KindObserve, Flow: FlowAll, Veto: VetoNone},
}

// Points returns the table of the 17 points.
func Points() []PointInfo { return slices.Clone(pointRows[:]) }

// Point is a point whose hooks are functions of type F. The only valid ones
// are the variables of this package; the zero Point is refused.
type Point[F any] struct {
	row int // from 1
}

// Info returns the point's row of the table; of the zero Point, the zero one.
func (p Point[F]) Info() PointInfo {
	if p.row == 0 {
		return PointInfo{}
	}
	return pointRows[p.row-1]
}

func point[F any](row int) Point[F] { return Point[F]{row + 1} }

// The points. Every function gets a context that is done at the hook's
// deadline and when the host gives up; hooks of thread scope then get the
// thread first and the [HookContext] last. A hook may be called concurrently,
// for different threads. Slices, maps and structs that it gets are its own;
// when it returns an error, panics or is late, the value before it stands.
//
// A hook SHOULD be idempotent and SHOULD NOT block longer than its timeout. It
// MUST NOT put sensitive data into logs or error messages; it MUST handle
// failures of services it calls, and one that changes message content MUST
// validate its input against the expected schema, lest it open a way for
// prompt injection. A hook decorates the turns of others: code that *is* a
// participant is a handler, not a hook.
var (
	// AfterThreadCreated observes a new thread.
	AfterThreadCreated = point[func(ctx context.Context, st ThreadState, hc HookContext) error](afterThreadCreated)
	// AfterSubagentCreated observes a new child thread; st is the parent.
	AfterSubagentCreated = point[func(ctx context.Context, st, child ThreadState, hc HookContext) error](afterSubagentCreated)

	// AfterSystemMessage may replace the rendered system prompt of this
	// request; an empty string replaces too. A message injected here is part
	// of this request's snapshot.
	AfterSystemMessage = point[func(ctx context.Context, st ThreadState, system string, hc HookContext) (Change[string], error)](afterSystemMessage)
	// FilterMessages returns the persisted messages that go into this request.
	// It gets a snapshot, silent messages included, and runs once per
	// assembly. What it returns, nil too, stays in this request. A limiter may
	// cut a tool call from its result: see LifecycleOptions.DropOrphans.
	FilterMessages = point[func(ctx context.Context, st ThreadState, msgs []Message, hc HookContext) ([]Message, error)](filterMessages)
	// PrefilterLLMHistory returns the messages of this request in the
	// provider's form: what the last hook returns is sent. A [*BlockError]
	// refuses the request. That is a policy gate; it is not the way to build a
	// side without a model, which is a handler's work.
	PrefilterLLMHistory = point[func(ctx context.Context, st ThreadState, msgs []LLMMessage, hc HookContext) ([]LLMMessage, error)](prefilterLLMHistory)

	// BeforeCreateMessage returns the message to insert. Any error prevents
	// it. It runs at rest too, where st.Execution() is nil.
	BeforeCreateMessage = point[func(ctx context.Context, st ThreadState, m Message, hc HookContext) (Message, error)](beforeCreateMessage)
	// AfterCreateMessage observes an inserted message.
	AfterCreateMessage = point[func(ctx context.Context, st ThreadState, m Message, hc HookContext) error](afterCreateMessage)
	// BeforeUpdateMessage returns the update to apply. Any error prevents it.
	BeforeUpdateMessage = point[func(ctx context.Context, st ThreadState, id string, u MessageUpdate, hc HookContext) (MessageUpdate, error)](beforeUpdateMessage)
	// AfterUpdateMessage observes an updated message.
	AfterUpdateMessage = point[func(ctx context.Context, st ThreadState, m Message, hc HookContext) error](afterUpdateMessage)

	// ToolCallStarted observes a call once: as soon as the argument that the
	// tool declares as its progress has been streamed, which is then progress;
	// for other tools as soon as the name is known, with a nil progress. The
	// arguments of the call may be a fragment, or empty. progress is nil, too,
	// when the model left the argument out.
	ToolCallStarted = point[func(ctx context.Context, st ThreadState, c ToolCall, progress *string, hc HookContext) error](toolCallStarted)
	// BeforeStoreToolResult returns the result to store, the place for a
	// redactor: what is stored is the Result of a success or the Error of a
	// failure, the attachments and Extra, so a redactor looks at all of them.
	// nil attachments keep the old ones, an empty slice drops them. When it
	// fails, the value before it is stored all the same, unless
	// LifecycleOptions.Withhold is set: set it when a hook redacts.
	BeforeStoreToolResult = point[func(ctx context.Context, st ThreadState, c ToolCall, r CallResult, hc HookContext) (CallResult, error)](beforeStoreToolResult)
	// AfterToolCallSuccess may replace the result of a tool that succeeded.
	// Keep keeps the current one, which for the first hook is the original.
	AfterToolCallSuccess = point[func(ctx context.Context, st ThreadState, c ToolCall, r CallResult, hc HookContext) (Change[CallResult], error)](afterToolCallSuccess)
	// AfterToolCallFailure may replace the result of a tool that failed, also
	// with a success. Refused calls did not fail and do not come here.
	AfterToolCallFailure = point[func(ctx context.Context, st ThreadState, c ToolCall, r CallResult, hc HookContext) (Change[CallResult], error)](afterToolCallFailure)
	// ToolCallDone observes the raw result of a call, once, whether the tool
	// succeeded, failed or was refused.
	ToolCallDone = point[func(ctx context.Context, st ThreadState, c ToolCall, r CallResult, hc HookContext) error](toolCallDone)

	// UserClientAttached observes that a client of a user connected. The three
	// points of user scope come from the reference runtime, not from the
	// specification; their hooks are not composed: all that are defined run.
	UserClientAttached = point[func(ctx context.Context, u UserState, c UserClient) error](userClientAttached)
	// UserClientDetached observes that a client of a user is gone.
	UserClientDetached = point[func(ctx context.Context, u UserState, c UserClient) error](userClientDetached)
	// UserValueChanged observes a changed value of a user. A change that such
	// a hook makes is not told to these hooks again.
	UserValueChanged = point[func(ctx context.Context, u UserState, key string) error](userValueChanged)
)

// Definition is one lifecycle hook: a function for a point, under an id. Make
// it with [Define]; [NewRegistry] checks it. The zero Definition is refused.
type Definition struct {
	row int // from 1
	id  string
	fn  any // of the point's type; nil when the function is nil
}

// Define defines a hook. The id is snake_case and unique in its namespace. A
// function of another type than the point's does not compile. Define does not
// fail; an id that is not snake_case, a nil function and the zero Point are
// refused by [NewRegistry], and where a Namespace loads hooks, by
// [Registry.Compose].
func Define[F any](p Point[F], id string, fn F) Definition {
	d := Definition{row: p.row, id: id}
	if v := reflect.ValueOf(fn); v.Kind() == reflect.Func && !v.IsNil() {
		d.fn = fn
	}
	return d
}

// ID returns the hook's id.
func (d Definition) ID() string { return d.id }

// Point returns what there is to know of the hook's point.
func (d Definition) Point() PointInfo { return Point[any]{d.row}.Info() }

// BlockError is what a [PrefilterLLMHistory] hook returns to refuse the
// request. From any other hook it is an error like others.
type BlockError struct {
	// Reason is for the one who asked for the request.
	Reason string
}

// Error returns the reason.
func (e *BlockError) Error() string { return "blocked: " + e.Reason }

// HookError is a failure of a lifecycle hook, with its place. Its text and
// what it unwraps to come from the hook and may hold anything: it goes to the
// caller, or to LifecycleOptions.Failed, and is never in a [Record].
type HookError struct {
	Point   PointName
	ID      string
	Source  Source // nil for hooks of user scope
	Failure *Failure
}

// Error returns the point, the id and the failure.
func (e *HookError) Error() string {
	return fmt.Sprintf("hooks: %s hook %q: %v", e.Point, e.ID, e.Failure)
}

// Unwrap returns the failure.
func (e *HookError) Unwrap() error { return e.Failure }
