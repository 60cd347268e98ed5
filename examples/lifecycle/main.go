// Lifecycle runs a thread in memory: the specification's example hooks and two
// children, one hidden and one disabled, together with a policy of PreToolUse
// and PostToolUse hooks, in one loop.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hookruntime/hooks"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	registry, err := hooks.NewRegistry(
		[]hooks.Namespace{{Hooks: definitions(out)}, billing(out), research(out)},
		&hooks.LifecycleOptions{
			DropOrphans: true, // limiting the history may cut a call from its result
			Withhold:    true, // a failing redactor must not let its result through
			ProgressArgument: func(tool string) string {
				return map[string]string{"write_file": "path"}[tool]
			},
			Failed: func(_ context.Context, err *hooks.HookError) { fmt.Fprintln(out, "  hook failed:", err) },
		})
	if err != nil {
		return err
	}
	policy, err := hooks.New(policyHooks(), nil)
	if err != nil {
		return err
	}

	agent := hooks.AgentDef{Name: "support_agent", Hooks: []string{"add_execution_metadata"}}
	active := hooks.Parent{
		Agent: agent,
		Side:  hooks.SideA,
		Prompt: &hooks.PromptDef{Name: "support_prompt", Hooks: []string{
			"limit_to_5_messages", "add_concise_reminder", "log_tool_calls", "log_tool_start",
			"record_tool_completion", "alert_payment_failures", "add_execution_metadata", "redact_credit_cards",
		}},
		Relationships: []hooks.Relationship{
			{As: "biller", Hidden: true, Agent: hooks.AgentDef{Name: "billing_agent", Package: "acme/billing", ParentHooks: []hooks.ChildHook{
				{Hook: "count_messages", Reason: "messages are what the customer pays for"},
				{Hook: "mention_prices", Reason: "the model must know the currency", Stage: hooks.StageBeforeParent},
			}}},
			{As: "researcher", Disabled: true, Agent: hooks.AgentDef{Name: "research_agent", Package: "acme/research", ParentHooks: []hooks.ChildHook{
				{Hook: "index_messages", Reason: "messages must be found again"},
			}}},
		},
	}
	turn, err := registry.Compose(ctx, active)
	if err != nil {
		return err
	}
	atRest, err := registry.Compose(ctx, hooks.Parent{Agent: agent, Relationships: active.Relationships})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "composition:")
	for h := range turn.Hooks() {
		fmt.Fprintf(out, "  %s: %s of %s\n", h.Point, h.ID, h.Source)
	}

	thread := &hooks.MemoryThread{ID: "t1", Agent: agent.Name, User: "ada"}
	thread.Compose = func(context.Context) (*hooks.Composition, error) {
		if thread.Execution() == nil {
			return atRest, nil
		}
		return turn, nil
	}
	fmt.Fprintln(out, "at rest:")
	if err := inject(ctx, thread, hooks.RoleUser, "Charge my card for the report, and write it."); err != nil {
		return err
	}

	execution := &hooks.MemoryExecution{Flow: "flow1", Side: hooks.SideA, Prompts: []string{"support_prompt"}}
	thread.Begin(execution)
	l := &loop{out: out, thread: thread, turn: turn, policy: policy}
	for _, reply := range script {
		execution.Step()
		fmt.Fprintf(out, "step %d:\n", execution.StepCount())
		if err := l.step(ctx, reply); err != nil {
			return err
		}
	}
	thread.Begin(nil)

	fmt.Fprintln(out, "stored:")
	msgs, err := thread.Messages(ctx)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for _, m := range msgs {
		if err := enc.Encode(m); err != nil {
			return err
		}
	}
	return nil
}

func inject(ctx context.Context, st hooks.ThreadState, role hooks.Role, text string) error {
	_, err := st.InjectMessage(ctx, hooks.Message{Role: role, Content: &text})
	return err
}

// policyHooks are hooks of the hook data contract. They would be scripts and
// prompts more often than functions.
func policyHooks() []hooks.Hook {
	return []hooks.Hook{
		{
			Name: "no-deleting", On: hooks.OnPreToolUse, Tier: hooks.TierSystem, Matcher: "delete_.*",
			Run: hooks.Func(func(context.Context, hooks.Call) (hooks.Result, error) {
				return hooks.Deny("nothing is deleted here"), nil
			}),
		},
		{
			Name: "no-secrets", On: hooks.OnPostToolUse, Tier: hooks.TierSystem, Matcher: "*",
			Run: hooks.Func(func(_ context.Context, c hooks.Call) (hooks.Result, error) {
				post, ok := c.Event.(*hooks.PostToolUse)
				if !ok {
					return hooks.Result{}, errors.New("not a PostToolUse")
				}
				if strings.Contains(string(post.ToolResult), "CONFIDENTIAL") {
					return hooks.Reject("confidential, card 4111-1111-1111-1111"), nil
				}
				return hooks.Pass(), nil
			}),
		},
	}
}
