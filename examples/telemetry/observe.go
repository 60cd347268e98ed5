package main

import (
	"context"
	"log/slog"

	"github.com/hookruntime/hooks"
)

// observer returns a function for hooks.Options.Observe that logs each record
// as one line. The attributes are named as the fields of the records. Reasons
// are written by hooks, which may quote what they saw: whoever may not see
// that gets a logger that drops Reason.
func observer(log *slog.Logger) func(context.Context, hooks.Record) {
	return func(ctx context.Context, r hooks.Record) {
		level, message, attrs := line(r)
		if id, ok := ctx.Value(threadKey{}).(string); ok {
			attrs = append(attrs, slog.String("ThreadID", id))
		}
		log.LogAttrs(ctx, level, message, attrs...)
	}
}

// threadKey is the key of the thread's id in a context. Records do not know
// it: they come with the context that the host evaluated with.
type threadKey struct{}

// line says how a record looks in a log. A started record matters to whoever
// looks on, so it is for debugging; a hook that failed needs somebody to look.
func line(r hooks.Record) (slog.Level, string, []slog.Attr) {
	switch r := r.(type) {
	case hooks.StartedRecord:
		return slog.LevelDebug, "hook started", []slog.Attr{
			slog.String("HookName", r.HookName),
			slog.String("HookType", r.HookType),
			slog.String("HookEventType", string(r.HookEventType)),
			slog.String("Tier", r.Tier.String()),
			slog.String("ToolName", r.ToolName),
			slog.String("AgentName", r.AgentName),
		}
	case hooks.ExecutionRecord:
		attrs := []slog.Attr{
			slog.String("HookName", r.HookName),
			slog.String("HookType", r.HookType),
			slog.String("HookEventType", string(r.HookEventType)),
			slog.String("Tier", r.Tier.String()),
			slog.String("ToolName", r.ToolName),
			slog.String("AgentName", r.AgentName),
			slog.String("Decision", r.Decision.String()),
			slog.String("Reason", r.Reason),
			slog.Int64("DurationMs", r.DurationMs),
		}
		level := slog.LevelInfo
		if r.Decision == hooks.OutcomeErrored {
			level = slog.LevelWarn
		}
		if r.ExceptionType != "" {
			level = slog.LevelWarn // also where the fail mode made it a rejection
			attrs = append(attrs, slog.String("ExceptionType", r.ExceptionType))
		}
		return level, "hook execution", attrs
	case hooks.EvaluationRecord:
		return slog.LevelInfo, "hook evaluation", []slog.Attr{
			slog.String("HookEventType", string(r.HookEventType)),
			slog.String("ToolName", r.ToolName),
			slog.String("AgentName", r.AgentName),
			slog.String("FinalDecision", r.FinalDecision.String()),
			slog.Int("HooksConfigured", r.HooksConfigured),
			slog.Int("HooksRun", r.HooksRun),
			slog.Int("SystemHooksRun", r.SystemHooksRun),
			slog.Int("AgentHooksRun", r.AgentHooksRun),
			slog.Int("UserGlobalHooksRun", r.UserGlobalHooksRun),
			slog.String("AllowingHook", r.AllowingHook),
			slog.Int("RejectionCount", r.RejectionCount),
			slog.Int64("DurationMs", r.DurationMs),
		}
	}
	// A record of a kind that this program is too old for.
	return slog.LevelDebug, "hook record", []slog.Attr{slog.Any("Record", r)}
}
