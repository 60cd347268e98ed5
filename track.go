package hooks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// ErrCallDone is returned for a tool call that is done already: its hooks have
// run, and do not run again.
var ErrCallDone = errors.New("hooks: the tool call is done already")

// Withheld is the text of the error that LifecycleOptions.Withhold stores in
// place of a result.
const Withheld = "The tool result was withheld because a hook failed."

// Tracker takes the tool calls of one turn through their hooks, so that each
// is told as started and as done exactly once. Make one with
// [Composition.Tracker] for each turn, and drop it after: it remembers every
// call id. It is safe for concurrent use; what is done with one call is up to
// one goroutine at a time.
type Tracker struct {
	composition *Composition
	gateway     *Gateway
	mu          sync.Mutex
	calls       map[string]*trackedCall
}

type trackedCall struct {
	started, done bool
	name          string
	arguments     strings.Builder
	scanner       *argumentScanner // once the name is known
}

// Tracker returns the tracker of a turn. The gateway says which thread it is,
// and stores the results. Like the composition it must not be nil.
func (c *Composition) Tracker(g *Gateway) *Tracker {
	return &Tracker{composition: c, gateway: g, calls: map[string]*trackedCall{}}
}

// ToolCallDelta is a piece of a tool call that a model streams.
type ToolCallDelta struct {
	ID string
	// Name is the tool's name, empty as long as it is not known and in later
	// pieces.
	Name string
	// Arguments is the next piece of the arguments; it may end anywhere.
	Arguments string
}

// Resume tells that these calls were told as started before a pause, by
// another tracker. Call it before anything else.
func (t *Tracker) Resume(ids ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range ids {
		t.call(id).started = true
	}
}

// Stream takes the next piece of a call, and tells it as started when its
// progress is complete, or when its name is known and its tool declares no
// progress. Errors are as in [Composition.AfterThreadCreated]; the stream can
// go on after them.
func (t *Tracker) Stream(ctx context.Context, d ToolCallDelta) error {
	t.mu.Lock()
	tc := t.call(d.ID)
	if tc.started {
		t.mu.Unlock()
		return ctx.Err()
	}
	tc.arguments.WriteString(d.Arguments)
	if tc.name == "" {
		t.mu.Unlock()
		if d.Name == "" {
			return ctx.Err()
		}
		scanner := t.scanner(d.Name) // the host's code, which may use the tracker
		t.mu.Lock()
		if tc.started || tc.name != "" {
			t.mu.Unlock()
			return ctx.Err()
		}
		tc.name, tc.scanner = d.Name, scanner
		d.Arguments = tc.arguments.String() // with what came before the name
	}
	complete := tc.scanner == nil || tc.scanner.feed(d.Arguments)
	if err := ctx.Err(); err != nil || !complete {
		t.mu.Unlock()
		return err // the piece is taken; a later one, or Start, tells the call
	}
	tc.started = true
	c, progress := NewToolCall(d.ID, tc.name, tc.arguments.String()), tc.scanner.found()
	tc.release()
	t.mu.Unlock()
	return t.started(ctx, c, progress)
}

// Start tells a call as started unless it was told. The host calls it just
// before it executes the call, for every call: also one that was not streamed,
// or that code queued. Errors are as in Stream, and [ErrCallDone].
func (t *Tracker) Start(ctx context.Context, c ToolCall) error {
	if err := ctx.Err(); err != nil {
		return err // it stays untold: a later Start, with another ctx, tells it
	}
	t.mu.Lock()
	tc := t.call(c.ID)
	if done := tc.done; done || tc.started {
		t.mu.Unlock()
		if done {
			return fmt.Errorf("%w: %s", ErrCallDone, c.ID)
		}
		return nil
	}
	tc.started = true
	tc.release()
	t.mu.Unlock()
	s := t.scanner(c.Function.Name)
	if s != nil {
		s.feed(c.Function.Arguments)
	}
	return t.started(ctx, c, s.found())
}

// Done tells that a call has been executed, with its raw result, and returns
// what the hooks of after_tool_call_success or after_tool_call_failure make of
// it; the raw status chooses between the two. A call that was not told as
// started is first. Errors are [ErrCallDone], ctx's and [*RecursionError]. A ctx
// that is done already tells nothing: call Done again with another.
func (t *Tracker) Done(ctx context.Context, c ToolCall, raw CallResult) (CallResult, error) {
	if err := t.finish(ctx, c, raw); err != nil {
		return raw, err
	}
	row := afterToolCallFailure
	if raw.Status == StatusSuccess {
		row = afterToolCallSuccess
	}
	if len(t.composition.points[row]) == 0 {
		return raw, nil
	}
	return t.afterCall(ctx, row, c, raw)
}

// Refuse tells that a call is done without having been executed. The result
// is what the model is told instead. Errors are as in Done.
func (t *Tracker) Refuse(ctx context.Context, c ToolCall, refusal CallResult) error {
	return t.finish(ctx, c, refusal)
}

// Store stores the result of a call: before_store_tool_result, then the
// gateway. Errors are those of [Gateway.Create], and of
// LifecycleOptions.ToolMessage.
func (t *Tracker) Store(ctx context.Context, c ToolCall, r CallResult) (Message, error) {
	if len(t.composition.points[beforeStoreToolResult]) > 0 {
		var err error
		if r, err = t.beforeStore(ctx, c, r); err != nil {
			return Message{}, err
		}
	}
	var m Message
	var err error
	if form := t.composition.options().ToolMessage; form != nil {
		m, err = form(ctx, c, r)
	} else {
		m, err = ToolMessage(c, r)
	}
	if err != nil {
		return Message{}, err
	}
	return t.gateway.Create(ctx, m)
}

// call returns what is known of a call. t.mu is held.
func (t *Tracker) call(id string) *trackedCall {
	tc := t.calls[id]
	if tc == nil {
		tc = &trackedCall{}
		t.calls[id] = tc
	}
	return tc
}

// release drops what only a call that is still to start needs.
func (tc *trackedCall) release() { tc.arguments, tc.scanner = strings.Builder{}, nil }

// scanner returns the scanner for the progress of a tool, nil for none.
func (t *Tracker) scanner(tool string) *argumentScanner {
	if declared := t.composition.options().ProgressArgument; declared != nil {
		if key := declared(tool); key != "" {
			return &argumentScanner{key: key}
		}
	}
	return nil
}

func (s *argumentScanner) found() *string {
	if s == nil {
		return nil
	}
	return s.value
}

// finish marks a call as done and tells it.
func (t *Tracker) finish(ctx context.Context, c ToolCall, r CallResult) error {
	if err := t.Start(ctx, c); err != nil {
		return err
	}
	t.mu.Lock()
	tc := t.call(c.ID)
	again := tc.done
	tc.done = true
	t.mu.Unlock()
	if again {
		return fmt.Errorf("%w: %s", ErrCallDone, c.ID)
	}
	return t.done(ctx, c, r)
}

func (t *Tracker) started(ctx context.Context, c ToolCall, progress *string) error {
	t.sink(ctx, ToolEvent{Event: pointRows[toolCallStarted].Name, ID: c.ID, Name: c.Function.Name, Progress: cloneString(progress)})
	if len(t.composition.points[toolCallStarted]) == 0 {
		return nil
	}
	type hook = func(context.Context, ThreadState, ToolCall, *string, HookContext) error
	st := t.gateway.state
	return observe(ctx, t.composition.at(toolCallStarted, st), progress, cloneString,
		func(ctx context.Context, fn hook, progress *string, hc HookContext) error {
			return fn(ctx, st, c, progress, hc)
		})
}

func (t *Tracker) done(ctx context.Context, c ToolCall, r CallResult) error {
	t.sink(ctx, ToolEvent{Event: pointRows[toolCallDone].Name, ID: c.ID, Name: c.Function.Name, Status: r.Status})
	if len(t.composition.points[toolCallDone]) == 0 {
		return nil
	}
	type hook = func(context.Context, ThreadState, ToolCall, CallResult, HookContext) error
	st := t.gateway.state
	return observe(ctx, t.composition.at(toolCallDone, st), r, CallResult.clone,
		func(ctx context.Context, fn hook, r CallResult, hc HookContext) error {
			return fn(ctx, st, c, r, hc)
		})
}

func (t *Tracker) afterCall(ctx context.Context, row int, c ToolCall, r CallResult) (CallResult, error) {
	type hook = func(context.Context, ThreadState, ToolCall, CallResult, HookContext) (Change[CallResult], error)
	st := t.gateway.state
	return waterfall(ctx, t.composition.at(row, st), r, transform[hook, CallResult]{
		clone:  CallResult.clone,
		settle: settleResult,
		call: func(ctx context.Context, fn hook, r CallResult, hc HookContext) (Change[CallResult], error) {
			return fn(ctx, st, c, r, hc)
		},
	})
}

func (t *Tracker) beforeStore(ctx context.Context, c ToolCall, r CallResult) (CallResult, error) {
	type hook = func(context.Context, ThreadState, ToolCall, CallResult, HookContext) (CallResult, error)
	st := t.gateway.state
	tr := transform[hook, CallResult]{
		clone:  CallResult.clone,
		settle: settleResult,
		call: func(ctx context.Context, fn hook, r CallResult, hc HookContext) (Change[CallResult], error) {
			r, err := fn(ctx, st, c, r, hc)
			return Replace(r), err
		},
	}
	if t.composition.options().Withhold {
		tr.withheld = func() CallResult { return ErrorResult(Withheld) }
	}
	return waterfall(ctx, t.composition.at(beforeStoreToolResult, st), r, tr)
}

// settleResult judges a returned result. nil attachments keep the old ones.
func settleResult(old, now CallResult) (CallResult, error) {
	if now.Status != StatusSuccess && now.Status != StatusError {
		return old, fmt.Errorf("the result's status is %q; it must be %s or %s", now.Status, StatusSuccess, StatusError)
	}
	if now.Attachments == nil {
		now.Attachments = old.Attachments
	}
	return now, nil
}

// sink tells the clients, with the care that a hook gets.
func (t *Tracker) sink(ctx context.Context, e ToolEvent) {
	opts := t.composition.options()
	if opts.Sink == nil || ctx.Err() != nil {
		return
	}
	r, start := t.composition.runner, time.Now()
	e.ThreadID = t.gateway.state.ThreadID()
	limited, cancel := context.WithTimeout(ctx, r.timeout())
	defer cancel()
	_, failure := guarded(limited, &r.abandoned, func(ctx context.Context, e ToolEvent) (struct{}, error) { return struct{}{}, opts.Sink(ctx, e) }, e)
	if failure == nil || opts.Observe == nil {
		return
	}
	if ctx.Err() != nil {
		failure.Kind = FailureCancelled
	}
	opts.Observe(ctx, SinkRecord{
		Point: e.Event, ThreadID: e.ThreadID, CallID: e.ID, Duration: time.Since(start), Failure: failure.Kind,
	})
}
