package hooks

import (
	"context"
	"fmt"
	"runtime/debug"
)

// CallSteps is what a host does with one tool call, in the order in which
// [Tracker.Run] does it.
type CallSteps struct {
	// Permit, if set, is asked before the tool runs. A result refuses the call:
	// the tool does not run, and the result is stored for it. This is where
	// [PreToolUse] is evaluated. An error, of a question that the user must
	// answer first for instance, ends Run and leaves the call open.
	Permit func(ctx context.Context, c ToolCall) (refusal *CallResult, err error)
	// Execute runs the tool. An error or a panic is a failure of the tool: it
	// becomes an error result. A result without a status is a success.
	Execute func(ctx context.Context, c ToolCall) (CallResult, error)
	// Review, if set, judges the result that is about to be stored. This is
	// where [PostToolUse] is evaluated: no hook but a redactor's comes after
	// it. An error ends Run, and nothing is stored.
	Review func(ctx context.Context, c ToolCall, r CallResult) (CallResult, error)
}

// Run takes one tool call all the way:
//
//	tool_call_started (unless told while streaming)
//	Permit → Execute
//	tool_call_done (the raw result)
//	after_tool_call_success or after_tool_call_failure (not for a refused call)
//	Review
//	before_store_tool_result
//	before_create_message → insert → after_create_message
//
// It returns the message as stored. A failing tool is no error of Run. The
// errors are ctx's, those of Permit, Review and the gateway, [ErrCallDone], and
// [*RecursionError]; what had happened by then has happened, and a host that
// goes on by itself can use Start, Done, Refuse and Store.
func (t *Tracker) Run(ctx context.Context, c ToolCall, steps CallSteps) (Message, error) {
	if err := t.Start(ctx, c); err != nil {
		return Message{}, err
	}
	var refusal *CallResult
	if steps.Permit != nil {
		var err error
		if refusal, err = steps.Permit(ctx, c); err != nil {
			return Message{}, err
		}
	}
	var r CallResult
	var err error
	if refusal != nil {
		r, err = *refusal, t.Refuse(ctx, c, *refusal)
	} else {
		r, err = t.Done(ctx, c, execute(ctx, c, steps.Execute))
		if err == nil && steps.Review != nil {
			r, err = steps.Review(ctx, c, r)
		}
	}
	if err != nil {
		return Message{}, err
	}
	return t.Store(ctx, c, r)
}

func execute(ctx context.Context, c ToolCall, tool func(context.Context, ToolCall) (CallResult, error)) (r CallResult) {
	defer func() {
		if p := recover(); p != nil {
			r = ErrorResult(fmt.Sprint("the tool panicked: ", p))
			r.Stack = string(debug.Stack())
		}
	}()
	r, err := tool(ctx, c)
	switch {
	case err != nil:
		r.Status, r.Error = StatusError, err.Error()
	case r.Status == "":
		r.Status = StatusSuccess
	}
	return r
}
