package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookruntime/hooks"
)

func Example() {
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			switch a.Key {
			case slog.TimeKey:
				return slog.Attr{}
			case "DurationMs":
				return slog.Int(a.Key, 0) // it depends on the machine
			}
			return a
		},
	}))
	if err := run(context.Background(), log); err != nil {
		fmt.Println(err)
	}
	// Output:
	// level=DEBUG msg="hook started" HookName=no-rm HookType=func HookEventType=PreToolUse Tier=system ToolName=ReadFile AgentName=assistant ThreadID=thread-1
	// level=DEBUG msg="hook started" HookName=readers HookType=func HookEventType=PreToolUse Tier=user-global ToolName=ReadFile AgentName=assistant ThreadID=thread-1
	// level=INFO msg="hook execution" HookName=readers HookType=func HookEventType=PreToolUse Tier=user-global ToolName=ReadFile AgentName=assistant Decision=allow Reason="" DurationMs=0 ThreadID=thread-1
	// level=INFO msg="hook evaluation" HookEventType=PreToolUse ToolName=ReadFile AgentName=assistant FinalDecision=allow HooksConfigured=2 HooksRun=2 SystemHooksRun=1 AgentHooksRun=0 UserGlobalHooksRun=1 AllowingHook=readers RejectionCount=0 DurationMs=0 ThreadID=thread-1
	// level=DEBUG msg="hook started" HookName=no-rm HookType=func HookEventType=PreToolUse Tier=system ToolName=RunInTerminal AgentName=assistant ThreadID=thread-1
	// level=INFO msg="hook execution" HookName=no-rm HookType=func HookEventType=PreToolUse Tier=system ToolName=RunInTerminal AgentName=assistant Decision=deny Reason="Nothing is deleted here." DurationMs=0 ThreadID=thread-1
	// level=INFO msg="hook evaluation" HookEventType=PreToolUse ToolName=RunInTerminal AgentName=assistant FinalDecision=deny HooksConfigured=2 HooksRun=1 SystemHooksRun=1 AgentHooksRun=0 UserGlobalHooksRun=0 AllowingHook="" RejectionCount=0 DurationMs=0 ThreadID=thread-1
	// level=DEBUG msg="hook started" HookName=complete HookType=prompt HookEventType=Stop Tier=system ToolName="" AgentName=assistant ThreadID=thread-1
	// level=INFO msg="hook execution" HookName=complete HookType=prompt HookEventType=Stop Tier=system ToolName="" AgentName=assistant Decision=reject Reason="Say what you did." DurationMs=0 ThreadID=thread-1
	// level=INFO msg="hook evaluation" HookEventType=Stop ToolName="" AgentName=assistant FinalDecision=reject HooksConfigured=2 HooksRun=1 SystemHooksRun=1 AgentHooksRun=0 UserGlobalHooksRun=0 AllowingHook="" RejectionCount=1 DurationMs=0 ThreadID=thread-1
	// level=DEBUG msg="hook started" HookName=broken HookType=func HookEventType=Stop Tier=agent ToolName="" AgentName=assistant ThreadID=thread-1
	// level=WARN msg="hook execution" HookName=broken HookType=func HookEventType=Stop Tier=agent ToolName="" AgentName=assistant Decision=error Reason="" DurationMs=0 ExceptionType=panic ThreadID=thread-1
	// level=INFO msg="hook evaluation" HookEventType=Stop ToolName="" AgentName=assistant FinalDecision=pass HooksConfigured=2 HooksRun=1 SystemHooksRun=0 AgentHooksRun=1 UserGlobalHooksRun=0 AllowingHook="" RejectionCount=0 DurationMs=0 ThreadID=thread-1
}

// Who looks only at warnings sees the hooks that failed.
func TestLevels(t *testing.T) {
	for _, c := range []struct {
		record hooks.Record
		want   slog.Level
	}{
		{hooks.StartedRecord{}, slog.LevelDebug},
		{hooks.ExecutionRecord{Decision: hooks.OutcomeDeny}, slog.LevelInfo},
		{hooks.ExecutionRecord{Decision: hooks.OutcomeErrored}, slog.LevelWarn},
		{hooks.ExecutionRecord{Decision: hooks.OutcomeReject, ExceptionType: "panic"}, slog.LevelWarn},
		{hooks.EvaluationRecord{}, slog.LevelInfo},
	} {
		level, _, _ := line(c.record)
		assert.Equal(t, c.want, level, "%+v", c.record)
	}
}
