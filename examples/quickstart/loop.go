package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/hookruntime/hooks"
)

// maxTurns ends every loop, also one whose Stop hooks are never content.
const maxTurns = 20

// loop is an agent: a model, its tools, and the four points at which hooks are
// asked. An error of the runtime ends it: what was to be decided is then not
// decided, so nothing may go on as if it were.
type loop struct {
	agent      string
	mode       string // Review, Autonomous or ReadOnly
	child      bool   // a sub-agent's: it has no user to ask
	runtime    *hooks.Runtime
	model      model
	tools      map[string]*tool
	user       func(question string) bool // nil in a child
	transcript *transcript

	turn    int
	history []message
	stop    hooks.StopState // from one Stop event of the run to the next
}

// message is one entry of the conversation, and so of the trajectory.
type message struct {
	Role   string `json:"role"` // user, assistant or tool
	Text   string `json:"text,omitempty"`
	CallID string `json:"call_id,omitempty"`
	Tool   string `json:"tool,omitempty"`
	Input  string `json:"input,omitempty"` // as the model wrote it, JSON or not
}

// run works on a task until the model is done and the Stop hooks agree.
func (l *loop) run(ctx context.Context, task string) (string, error) {
	l.transcript.head("%s starts", l.agent)
	source := "Conversation"
	d, err := l.evaluate(ctx, &hooks.Start{Common: l.common(), StartMessage: &task, ThreadSource: &source})
	if err != nil {
		return "", err
	}
	l.tell(message{Role: "user", Text: task})
	l.tellContext(&d)
	for l.turn = 1; l.turn <= maxTurns; l.turn++ {
		l.transcript.head("%s, turn %d", l.agent, l.turn)
		said, err := l.model.next(ctx, l.history)
		if err != nil {
			return "", err
		}
		l.history = append(l.history, message{Role: "assistant", Text: said.text})
		l.transcript.indented(l.agent+":", said.text)
		for _, c := range said.calls {
			if err := l.call(ctx, c); err != nil {
				return "", err
			}
		}
		if len(said.calls) > 0 {
			continue
		}
		if done, err := l.mayStop(ctx, said.text); done || err != nil {
			return said.text, err
		}
	}
	return "", fmt.Errorf("%s is not done after %d turns", l.agent, maxTurns)
}

// call runs one tool call, with the hooks before and after it. The error ends
// the loop; what the model should know is told to the model.
func (l *loop) call(ctx context.Context, c call) error {
	l.history = append(l.history, message{Role: "assistant", CallID: c.id, Tool: c.tool, Input: string(c.input)})
	l.transcript.line("%s calls %s %s", l.agent, c.tool, c.input)
	t := l.tool(c.tool)
	if t == nil {
		l.tell(message{Role: "tool", CallID: c.id, Text: "There is no such tool."})
		return nil
	}
	pre := &hooks.PreToolUse{
		Common: l.common(), CallID: c.id, ToolName: c.tool, ToolInput: c.input,
		ToolDescription: &t.description, AgentMode: l.mode,
		IsWriteAction: t.writes, RequiresApproval: t.needsApproval,
	}
	d, err := l.evaluate(ctx, pre)
	var malformed *hooks.EventError
	switch {
	case errors.As(err, &malformed): // the model's fault, and no hook has seen it
		l.tell(message{Role: "tool", CallID: c.id, Text: "The call was not run: " + malformed.Problem})
		return nil
	case err != nil:
		return err
	}
	leave, refusal := l.permit(&d, t)
	if leave == refused {
		l.transcript.line("%s is not run", c.tool)
		l.tell(message{Role: "tool", CallID: c.id, Text: refusal})
		l.tellContext(&d)
		return nil
	}

	value, err := t.run(ctx, c.input)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	result := hooks.ToolResult{Succeeded: err == nil}
	if err != nil {
		value = "The tool failed: " + err.Error()
	}
	if result.Result, err = encode(value); err != nil {
		return err
	}
	// A pause loses the metadata of the hooks before it: between question and
	// answer a host may have restarted.
	post := pre.Returned(result, d.Carry())
	if leave == afterPause {
		post = pre.Resumed(result)
	}
	l.transcript.line("%s has run", c.tool)
	return l.returned(ctx, post, &d)
}

// returned gives the result to the model, if the hooks let it pass. The host
// keeps the original in any case.
func (l *loop) returned(ctx context.Context, post *hooks.PostToolUse, before *hooks.Decision) error {
	d, err := l.evaluate(ctx, post)
	if err != nil {
		return err
	}
	text := string(post.ToolResult)
	switch {
	case d.Outcome == hooks.OutcomeAsk: // never in a child, where it is a deny
		if !l.user(d.Question) {
			text = "The user withheld the result."
		}
	case d.Blocks():
		text = d.ForModel()
		l.transcript.line("the host keeps the result, %d bytes of it", len(post.ToolResult))
	}
	l.tell(message{Role: "tool", CallID: post.CallID, Text: text})
	if !d.Withheld {
		l.tellContext(before)
		l.tellContext(&d)
	}
	return nil
}

// mayStop asks the Stop hooks whether the run may end.
func (l *loop) mayStop(ctx context.Context, answer string) (bool, error) {
	d, err := l.evaluate(ctx, &hooks.Stop{Common: l.common(), StopState: l.stop, FinalOutput: &answer})
	if err != nil {
		return false, err
	}
	if l.stop = d.NextStop(); d.Blocks() {
		l.transcript.line("%s may not stop yet; rejections by prompt hooks so far: %d", l.agent, l.stop.RejectionCount)
		l.tell(message{Role: "user", Text: d.ForModel()})
		return false, nil
	}
	l.transcript.line("%s is done", l.agent)
	return true, nil
}

// common is what every event of this loop says of it.
func (l *loop) common() hooks.Common {
	history := slices.Clone(l.history) // a writer that is late must not see it grow
	return hooks.Common{
		Agent: l.agent, Turn: l.turn, MaxTurns: maxTurns, Child: l.child,
		Trajectory: func(_ context.Context, w io.Writer) error { return json.NewEncoder(w).Encode(history) },
	}
}

func (l *loop) evaluate(ctx context.Context, ev hooks.Event) (hooks.Decision, error) {
	d, err := l.runtime.Evaluate(ctx, ev)
	l.transcript.explain(&d)
	return d, err
}

// tell adds a message that the model gets with its next turn.
func (l *loop) tell(m message) {
	l.history = append(l.history, m)
	l.transcript.indented("    -> "+m.Role+":", m.Text)
}

// tellContext delivers a decision's context, right behind the result it is
// about.
func (l *loop) tellContext(d *hooks.Decision) {
	if d.Context != "" {
		l.tell(message{Role: "user", Text: d.Context})
	}
}
