package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// CheckModel holds a [Model] against the duties that its documentation states,
// and returns all that it found, one error for each broken promise, joined;
// nil when it found nothing. It is meant for the tests of a model client, in
// front of a real or a recorded model.
//
// It asks some ten short questions, which cost what they cost. A question gets
// half a minute, and three seconds are taken for "soon". It looks at the
// client, not at how well the model judges: any text is an answer, and a model
// need not call the tools it is offered. What a client does with an answer that
// was cut, or with a model's own name in the request, cannot be brought about
// from here and is not checked.
//
// If the error wraps ctx.Err, ctx ended first and nothing is known.
func CheckModel(ctx context.Context, m Model) error {
	return checkModel(ctx, m, ordinaryTimes())
}

func checkModel(ctx context.Context, m Model, times checkTimes) error {
	c := &modelCheck{checker: checker{times: times}, model: m}
	c.run(ctx, []duty{
		{"Answer answers a question", c.answers},
		{"Answer hands the errors of tools to the model", c.tools},
		{"Answer may be called concurrently", c.concurrently},
		{"Answer returns an error when its context is done before", c.doneBefore},
		{"Answer returns soon after its context is done", c.cancelled},
	})
	if c.lateTools.Load() > 0 {
		c.find("Answer calls tools until it returns", errors.New("a tool was called afterwards"))
	}
	return c.result(ctx)
}

// modelCheck is one run of CheckModel. Its methods are the checks.
type modelCheck struct {
	checker
	model     Model
	lateTools atomic.Int32 // calls of tools after Answer had returned
}

func (c *modelCheck) ask(ctx context.Context, q ModelRequest) (ModelAnswer, error) {
	return call(ctx, &c.checker, func() (ModelAnswer, error) { return c.model.Answer(ctx, q) })
}

// question is what the runtime would ask, about a harmless call.
func question(command string, tools ...ModelTool) ModelRequest {
	const policy = `You check a tool call. Answer with {"ok": true} and nothing else.`
	input, _ := json.Marshal(map[string]any{
		"hook_event_name": "PreToolUse", "tool_name": "RunInTerminal",
		"tool_input": map[string]string{"command": command},
	})
	return ModelRequest{Text: combine(policy, string(input)), Policy: policy, Payload: string(input), Tools: tools}
}

func (c *modelCheck) answers(ctx context.Context) error {
	said, err := c.ask(ctx, question("ls"))
	if err == nil && strings.TrimSpace(said.Text) == "" && !said.Truncated {
		return errors.New("it said nothing at all, without an error and without Truncated")
	}
	return err
}

func (c *modelCheck) concurrently(ctx context.Context) error {
	const callers = 4
	errs := make([]error, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() { _, errs[i] = c.ask(ctx, question(fmt.Sprint("echo ", i))) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (c *modelCheck) doneBefore(ctx context.Context) error {
	done, cancel := context.WithCancel(ctx)
	cancel()
	if said, err := c.ask(done, question("ls")); errors.Is(err, errLate) {
		return err
	} else if err == nil {
		return fmt.Errorf("it answers %s all the same", quoted(said.Text))
	}
	return nil
}

// cancelled does not ask for an error: the answer may have come first.
func (c *modelCheck) cancelled(ctx context.Context) error {
	for _, after := range []time.Duration{0, time.Millisecond, 50 * time.Millisecond} {
		soon, cancel := context.WithTimeout(ctx, after)
		_, err := c.ask(soon, question("ls"))
		cancel()
		if errors.Is(err, errLate) {
			return err
		}
		if failure := (*Failure)(nil); errors.As(err, &failure) && failure.Kind == FailurePanic {
			return err
		}
	}
	return nil
}

// tools offers two tools, one of which fails. The model may call them or not.
func (c *modelCheck) tools(ctx context.Context) error {
	var over atomic.Bool
	broken := errors.New("the notebook is closed")
	notebook := func(name, text string, err error) ModelTool {
		return ModelTool{
			Name: name, Description: "Reads a page of the notebook " + name + ".",
			Parameters: json.RawMessage(`{"type":"object","properties":{"page":{"type":"integer"}},"required":["page"],"additionalProperties":false}`),
			Call: func(context.Context, json.RawMessage) (string, error) {
				if over.Load() {
					c.lateTools.Add(1)
				}
				return text, err
			},
		}
	}
	q := question("ls", notebook("Blue", "All calls are fine.", nil), notebook("Red", "", broken))
	q.Policy += " First read page 1 of both notebooks with your tools."
	q.Text = combine(q.Policy, q.Payload)
	_, err := c.ask(ctx, q)
	over.Store(true)
	if errors.Is(err, broken) {
		return fmt.Errorf("it became the client's own: %w", err)
	}
	return err
}
