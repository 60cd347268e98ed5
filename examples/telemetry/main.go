// Telemetry shows what a runtime tells of its hooks, as lines of log/slog:
//
//	go run ./examples/telemetry
//
// The nested module in otel turns the same records into spans and metrics.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/hookruntime/hooks"
)

func main() {
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if err := run(context.Background(), log); err != nil {
		fmt.Fprintln(os.Stderr, "telemetry:", err)
		os.Exit(1)
	}
}

// run evaluates a few events of one thread.
func run(ctx context.Context, log *slog.Logger) error {
	rt, err := hooks.New(policy(), &hooks.Options{
		Model:      strictModel{},
		Observe:    observer(log),
		CutReasons: true,
	})
	if err != nil {
		return err
	}
	ctx = context.WithValue(ctx, threadKey{}, "thread-1")
	loop := hooks.Common{Agent: "assistant", Turn: 1, MaxTurns: 20}
	answer := "Done."
	for _, ev := range []hooks.Event{
		&hooks.PreToolUse{Common: loop, ToolName: "ReadFile", ToolInput: json.RawMessage(`{"filePath":"notes.md"}`)},
		&hooks.PreToolUse{Common: loop, ToolName: "RunInTerminal", ToolInput: json.RawMessage(`{"command":"rm -rf /srv"}`)},
		&hooks.Stop{Common: loop, FinalOutput: &answer},
	} {
		if _, err := rt.Evaluate(ctx, ev); err != nil {
			return err
		}
	}
	return nil
}

// policy has a hook for every kind of line.
func policy() []hooks.Hook {
	return []hooks.Hook{{
		Name: "no-rm", Tier: hooks.TierSystem, On: hooks.OnPreToolUse, Matcher: "*",
		Run: hooks.Func(func(_ context.Context, c hooks.Call) (hooks.Result, error) {
			if strings.Contains(string(c.Event.(*hooks.PreToolUse).ToolInput), "rm -rf") {
				return hooks.Deny("Nothing is deleted here."), nil
			}
			return hooks.Pass(), nil
		}),
	}, {
		Name: "readers", Tier: hooks.TierUserGlobal, On: hooks.OnPreToolUse, Matcher: "ReadFile",
		Run: hooks.Func(func(context.Context, hooks.Call) (hooks.Result, error) { return hooks.Allow(), nil }),
	}, {
		Name: "complete", Tier: hooks.TierSystem, On: hooks.OnStop,
		Run: hooks.Prompt{Text: `Is final_output complete? Answer {"ok": true} or {"ok": false, "reason": "…"}.`},
	}, {
		Name: "broken", Tier: hooks.TierAgent, On: hooks.OnStop,
		Run: hooks.Func(func(context.Context, hooks.Call) (hooks.Result, error) { panic("a bug") }),
	}}
}

// strictModel judges prompt hooks. Real ones are in examples/anthropic and
// examples/openai.
type strictModel struct{}

func (strictModel) Answer(context.Context, hooks.ModelRequest) (hooks.ModelAnswer, error) {
	return hooks.ModelAnswer{Text: `{"ok": false, "reason": "Say what you did."}`}, nil
}
