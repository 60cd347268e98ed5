package hooks_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookruntime/hooks"
)

// runAgent works on a task. The model answers or calls a tool; use runs the
// tool. When Evaluate returns an error the decision blocks, and the loop ends.
func runAgent(ctx context.Context, policy []hooks.Hook, task string, model model, use tool) (string, error) {
	rt, err := hooks.New(policy, &hooks.Options{Conduct: hooks.Hardened})
	if err != nil {
		return "", err
	}
	loop := hooks.Common{Agent: "assistant", MaxTurns: 10, CannotAsk: true} // an ask becomes a deny
	d, err := rt.Evaluate(ctx, &hooks.Start{Common: loop, StartMessage: &task})
	chat := []string{task, d.Context}
	for stops := (hooks.StopState{}); err == nil && loop.Turn < loop.MaxTurns; {
		loop.Turn++
		answer, call := model(chat)
		if call == nil {
			d, err = rt.Evaluate(ctx, &hooks.Stop{Common: loop, StopState: stops, FinalOutput: &answer})
			if !d.Blocks() {
				return answer, nil
			}
			chat, stops = append(chat, d.ForModel()), d.NextStop()
			continue
		}
		call.Common = loop
		if d, err = rt.Evaluate(ctx, call); d.Blocks() {
			chat = append(chat, d.ForModel(), d.Context)
			continue
		}
		result := use(call) // behind the host's own permission rules
		post := call.Returned(result, d.Carry())
		seen := []string{string(result.Result), d.Context}
		if d, err = rt.Evaluate(ctx, post); d.Blocks() {
			seen[0] = d.ForModel() // the result stays with the host
		}
		if d.Withheld {
			seen = seen[:1]
		}
		chat = append(append(chat, seen...), d.Context)
	}
	return "", cmp.Or(err, errors.New("not done after the last turn"))
}

type (
	model func(chat []string) (answer string, call *hooks.PreToolUse)
	tool  func(call *hooks.PreToolUse) hooks.ToolResult
)

// A whole agent loop. The example in examples/quickstart also asks the user,
// has permission rules of its own and runs sub-agents.
func Example_loop() {
	policy := []hooks.Hook{
		{
			Name: "no-rm", Tier: hooks.TierSystem, On: hooks.OnPreToolUse, Matcher: "RunInTerminal",
			Run: hooks.Command{Line: `! grep -q '"command":"rm ' || { echo "Nothing is deleted here." >&2; exit 2; }`},
		},
		{
			Name: "sign", Tier: hooks.TierUserGlobal, On: hooks.OnStop,
			Run: hooks.Func(func(_ context.Context, c hooks.Call) (hooks.Result, error) {
				if !strings.Contains(*c.Event.(*hooks.Stop).FinalOutput, "yours") {
					return hooks.Reject("Sign your answer."), nil
				}
				return hooks.Pass(), nil
			}),
		},
	}
	turns := []any{
		&hooks.PreToolUse{ToolName: "RunInTerminal", ToolInput: json.RawMessage(`{"command":"rm -r ."}`)},
		&hooks.PreToolUse{ToolName: "RunInTerminal", ToolInput: json.RawMessage(`{"command":"ls"}`)},
		"There is one file.",
		"There is one file. Sincerely yours",
	}
	model := func(chat []string) (string, *hooks.PreToolUse) {
		chat = slices.DeleteFunc(slices.Clone(chat), func(text string) bool { return text == "" })
		fmt.Println("the model hears:", chat[len(chat)-1])
		turn := turns[0]
		turns = turns[1:]
		call, _ := turn.(*hooks.PreToolUse)
		answer, _ := turn.(string)
		return answer, call
	}
	list := func(call *hooks.PreToolUse) hooks.ToolResult {
		fmt.Println("the tool runs:", string(call.ToolInput))
		return hooks.ToolResult{Result: json.RawMessage(`"notes.md"`), Succeeded: true}
	}
	answer, err := runAgent(context.Background(), policy, "Look around.", model, list)
	fmt.Println(answer, err)
	// Output:
	// the model hears: Look around.
	// the model hears: [Tool execution blocked] Nothing is deleted here.
	// the tool runs: {"command":"ls"}
	// the model hears: "notes.md"
	// the model hears: Sign your answer.
	// There is one file. Sincerely yours <nil>
}
