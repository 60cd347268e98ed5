package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/hookruntime/hooks"
)

// reply is what the model streams in one step.
type reply struct {
	text   string
	pieces []hooks.ToolCallDelta
}

// script stands for a model. Its tool calls come in pieces, cut anywhere.
var script = []reply{
	{pieces: []hooks.ToolCallDelta{
		{ID: "c1", Name: "payment_process", Arguments: `{"amount":12}`},
		{ID: "c2", Name: "write_file", Arguments: `{"path":"caf`}, {ID: "c2", Arguments: `\u00`}, {ID: "c2", Arguments: `e9.html","content":"<p>`},
		{ID: "c2", Arguments: `Report</p>"}`},
		{ID: "c3", Name: "delete_files", Arguments: `{"all":true}`},
		{ID: "c4", Name: "read_file", Arguments: `{"path":"secret"}`},
	}},
	{text: "The report is written; the payment failed."},
}

// runTool stands for the tools.
func runTool(_ context.Context, c hooks.ToolCall) (hooks.CallResult, error) {
	switch c.Function.Name {
	case "payment_process":
		return hooks.CallResult{}, errors.New("card 4111 1111 1111 1111 was declined")
	case "write_file":
		return hooks.SuccessResult("written, paid with 4111-1111-1111-1111"), nil
	case "read_file":
		return hooks.SuccessResult("CONFIDENTIAL"), nil
	}
	return hooks.CallResult{}, fmt.Errorf("%s must not have run", c.Function.Name)
}

// loop is an agent loop of both worlds.
type loop struct {
	out    io.Writer
	thread *hooks.MemoryThread
	turn   *hooks.Composition
	policy *hooks.Runtime
}

// step is one request to the model and what follows from its reply.
func (l *loop) step(ctx context.Context, r reply) error {
	request, err := l.turn.Assemble(ctx, l.thread, "You are helpful.")
	if err != nil {
		return err
	}
	for _, m := range request.Messages {
		fmt.Fprintf(l.out, "  sent: %s %q%s\n", m.Role, m.Text(), m.ToolCalls)
	}
	gateway, err := l.thread.Gateway(ctx)
	if err != nil {
		return err
	}
	tracker := l.turn.Tracker(gateway)
	calls, err := stream(ctx, tracker, r.pieces)
	if err != nil {
		return err
	}
	said := hooks.Message{Role: hooks.RoleAssistant, ToolCalls: hooks.FormatToolCalls(calls)}
	if r.text != "" {
		said.SetText(r.text)
	}
	if _, err := gateway.Create(ctx, said); err != nil {
		return err
	}
	for _, c := range calls {
		if _, err := tracker.Run(ctx, c, l.steps(c)); err != nil {
			return err
		}
	}
	return nil
}

// stream puts the calls together and tells the tracker of every piece.
func stream(ctx context.Context, tracker *hooks.Tracker, pieces []hooks.ToolCallDelta) ([]hooks.ToolCall, error) {
	var calls []hooks.ToolCall
	for _, d := range pieces {
		if err := tracker.Stream(ctx, d); err != nil {
			return nil, err
		}
		if n := len(calls); n > 0 && calls[n-1].ID == d.ID {
			calls[n-1].Function.Arguments += d.Arguments
			continue
		}
		calls = append(calls, hooks.NewToolCall(d.ID, d.Name, d.Arguments))
	}
	return calls, nil
}

// steps is where the two worlds meet: PreToolUse permits a call, PostToolUse
// reviews its result, and the tracker does the rest in the one documented
// order. A blocked event tells the model why, as an error result.
func (l *loop) steps(c hooks.ToolCall) hooks.CallSteps {
	pre := &hooks.PreToolUse{ToolName: c.Function.Name, ToolInput: json.RawMessage(c.Function.Arguments), CallID: c.ID}
	pre.Agent = l.thread.AgentID()
	pre.CannotAsk = true // there is nobody to ask: an ask becomes a deny
	var carried hooks.Carried
	return hooks.CallSteps{
		Permit: func(ctx context.Context, _ hooks.ToolCall) (*hooks.CallResult, error) {
			d, err := l.policy.Evaluate(ctx, pre)
			if err != nil {
				return nil, err
			}
			carried = d.Carry()
			if d.Blocks() {
				refusal := hooks.ErrorResult(d.ForModel())
				return &refusal, nil
			}
			return nil, nil
		},
		Execute: runTool,
		Review: func(ctx context.Context, _ hooks.ToolCall, r hooks.CallResult) (hooks.CallResult, error) {
			d, err := l.policy.Evaluate(ctx, pre.Returned(r.ToolResult(), carried))
			if err != nil {
				return r, err
			}
			if d.Blocks() {
				return hooks.ErrorResult(d.ForModel()), nil
			}
			return r, nil
		},
	}
}
