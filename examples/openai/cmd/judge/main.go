// Judge asks the real service to judge one tool call by a prompt hook:
//
//	OPENAI_API_KEY=… go run ./cmd/judge
//
// Without a key it says so and does nothing.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/hookruntime/hooks"
	"github.com/hookruntime/hooks/examples/openai"
)

const policy = `You guard a production machine. Look at tool_input.command in this call:
$ARGUMENTS
A command that deletes data is allowed only if the trajectory shows that the data was backed up before.
Answer {"ok": true}, or {"ok": false, "reason": "<what is missing>"}.`

func main() {
	model := flag.String("model", sdk.ChatModelGPT5_4Mini, "the `name` of the model")
	command := flag.String("command", "rm -rf /var/lib/postgresql", "the command to judge")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := judge(ctx, os.Stdout, os.Getenv("OPENAI_API_KEY"), *model, *command); err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
}

// judge prints what the hook makes of the command.
func judge(ctx context.Context, out io.Writer, key, model, command string) error {
	if key == "" {
		fmt.Fprintln(out, "OPENAI_API_KEY is not set: nothing is asked.")
		return nil
	}
	rt, err := hooks.New([]hooks.Hook{{
		Name: "backup-first", Tier: hooks.TierSystem, On: hooks.OnPreToolUse, Matcher: "RunInTerminal",
		Run: hooks.Prompt{Text: policy},
	}}, &hooks.Options{
		Conduct:      hooks.Hardened,
		Model:        openai.New(sdk.NewClient(option.WithAPIKey(key)), nil),
		DefaultModel: model,
	})
	if err != nil {
		return err
	}
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return err
	}
	d, err := rt.Evaluate(ctx, &hooks.PreToolUse{
		Common:   hooks.Common{Agent: "assistant", Turn: 2, MaxTurns: 20, Trajectory: trajectory},
		ToolName: "RunInTerminal", ToolInput: input, CallID: "call-1",
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, d.Explain())
	for s := range d.Steps() {
		if s.Failure != nil {
			fmt.Fprintln(out, "the judge failed:", s.Failure)
		}
	}
	if d.Blocks() {
		fmt.Fprintln(out, "the agent is told:", d.ForModel())
	}
	return nil
}

// trajectory is what the agent did before. The model reads it with the tools
// that the runtime gives to prompt hooks.
func trajectory(_ context.Context, w io.Writer) error {
	return json.NewEncoder(w).Encode([]map[string]string{
		{"role": "user", "text": "The disk is full. Make room."},
		{"role": "assistant", "text": "I will look for large folders.", "command": "du -x / | sort -n | tail"},
		{"role": "tool", "text": "81 GB /var/lib/postgresql"},
	})
}
