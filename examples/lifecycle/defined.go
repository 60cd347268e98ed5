package main

import (
	"context"
	"fmt"
	"io"
	"regexp"

	"github.com/hookruntime/hooks"
)

// definitions are the examples of the Standard Agents' hook specification, in
// Go. They write to out what they would log, send or show.
func definitions(out io.Writer) []hooks.Definition {
	return []hooks.Definition{
		// Keep only the most recent messages.
		hooks.Define(hooks.FilterMessages, "limit_to_5_messages",
			func(_ context.Context, _ hooks.ThreadState, msgs []hooks.Message, _ hooks.HookContext) ([]hooks.Message, error) {
				return msgs[max(0, len(msgs)-5):], nil
			}),

		// Remind the model, in this request only.
		hooks.Define(hooks.PrefilterLLMHistory, "add_concise_reminder",
			func(_ context.Context, _ hooks.ThreadState, msgs []hooks.LLMMessage, _ hooks.HookContext) ([]hooks.LLMMessage, error) {
				if n := len(msgs); n > 0 && msgs[n-1].Role == "user" && msgs[n-1].Content != nil {
					msgs[n-1].SetText(msgs[n-1].Text() + " (Remember to be concise)")
				}
				return msgs, nil
			}),

		// Log every tool call that succeeded.
		hooks.Define(hooks.AfterToolCallSuccess, "log_tool_calls",
			func(_ context.Context, st hooks.ThreadState, c hooks.ToolCall, r hooks.CallResult, _ hooks.HookContext) (hooks.Change[hooks.CallResult], error) {
				fmt.Fprintf(out, "  log: tool_success thread=%s step=%d tool=%s args=%s result=%q\n",
					st.ThreadID(), st.Execution().StepCount(), c.Function.Name, c.Function.Arguments, r.Result)
				return hooks.Keep[hooks.CallResult](), nil // the original result
			}),

		// Show what a tool is about to do, while the model still writes.
		hooks.Define(hooks.ToolCallStarted, "log_tool_start",
			func(_ context.Context, _ hooks.ThreadState, c hooks.ToolCall, progress *string, _ hooks.HookContext) error {
				text := c.Function.Name
				if progress != nil {
					text += ": " + *progress
				}
				fmt.Fprintf(out, "  ▸ %s\n", text)
				return nil
			}),

		// Telemetry: one place for every call, whatever became of it.
		hooks.Define(hooks.ToolCallDone, "record_tool_completion",
			func(_ context.Context, st hooks.ThreadState, c hooks.ToolCall, r hooks.CallResult, _ hooks.HookContext) error {
				fmt.Fprintf(out, "  telemetry: tool_done thread=%s tool=%s status=%s\n", st.ThreadID(), c.Function.Name, r.Status)
				return nil
			}),

		// Alert when a critical tool fails.
		hooks.Define(hooks.AfterToolCallFailure, "alert_payment_failures",
			func(_ context.Context, st hooks.ThreadState, c hooks.ToolCall, r hooks.CallResult, _ hooks.HookContext) (hooks.Change[hooks.CallResult], error) {
				if c.Function.Name == "payment_process" {
					fmt.Fprintf(out, "  ALERT (critical): Payment tool failed: %s thread=%s\n", r.Error, st.ThreadID())
				}
				return hooks.Keep[hooks.CallResult](), nil // the original error
			}),

		// Note in every message where it comes from. Messages are created at
		// rest too, where there is no execution.
		hooks.Define(hooks.BeforeCreateMessage, "add_execution_metadata",
			func(_ context.Context, st hooks.ThreadState, m hooks.Message, _ hooks.HookContext) (hooks.Message, error) {
				x := st.Execution()
				if x == nil {
					return m, nil
				}
				return m, m.SetExtra("metadata", map[string]any{"flow_id": x.FlowID(), "step": x.StepCount(), "side": x.CurrentSide()})
			}),

		// Keep card numbers out of what is stored.
		hooks.Define(hooks.BeforeStoreToolResult, "redact_credit_cards",
			func(_ context.Context, _ hooks.ThreadState, _ hooks.ToolCall, r hooks.CallResult, _ hooks.HookContext) (hooks.CallResult, error) {
				r.Result = cardNumber.ReplaceAllString(r.Result, "****-****-****-****")
				r.Error = cardNumber.ReplaceAllString(r.Error, "****-****-****-****")
				return r, nil
			}),
	}
}

var cardNumber = regexp.MustCompile(`\b\d{4}[-\s]?\d{4}[-\s]?\d{4}[-\s]?\d{4}\b`)

// billing is the package of a child that counts its parent's messages, through
// hooks that it requires in the parent's composition.
func billing(out io.Writer) hooks.Namespace {
	return hooks.Namespace{Package: "acme/billing", Hooks: []hooks.Definition{
		hooks.Define(hooks.AfterCreateMessage, "count_messages",
			func(_ context.Context, st hooks.ThreadState, m hooks.Message, hc hooks.HookContext) error {
				fmt.Fprintf(out, "  billed: %s %s of thread %s, for %s\n", m.Role, m.ID, st.ThreadID(), hc.Source)
				return nil
			}),
		hooks.Define(hooks.AfterSystemMessage, "mention_prices",
			func(_ context.Context, _ hooks.ThreadState, system string, _ hooks.HookContext) (hooks.Change[string], error) {
				return hooks.Replace(system + " Prices are in euros."), nil
			}),
	}}
}

// research is the package of a child that is switched off. None of it runs.
func research(out io.Writer) hooks.Namespace {
	return hooks.Namespace{Package: "acme/research", Hooks: []hooks.Definition{
		hooks.Define(hooks.AfterCreateMessage, "index_messages",
			func(context.Context, hooks.ThreadState, hooks.Message, hooks.HookContext) error {
				fmt.Fprintln(out, "  indexed: this must not be seen")
				return nil
			}),
	}}
}
