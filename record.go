package hooks

import (
	"time"
	"unicode/utf8"
)

// Record is a telemetry record, by value: a [StartedRecord], an
// [ExecutionRecord] or an [EvaluationRecord]; of lifecycle hooks a
// [LifecycleRecord], an [OrphanRecord] or a [SinkRecord]. The set is closed. No
// record holds tool input, tool result, message, prompt or trajectory (TEL-5).
// Fields are named as in TEL.
type Record interface{ record() }

// StartedRecord tells that a hook is about to run, for interfaces that show
// what is running. One that passes gives no other record: it has ended when a
// record of a later hook comes, or when Evaluate returns; of hooks that run
// together (Hook.Independent) only the return of Evaluate tells. (A cancelled
// evaluation gives no EvaluationRecord.) A host that evaluates several events
// at once tells their records apart by a value in the context of each.
type StartedRecord struct {
	HookName      string
	HookType      string // command, prompt or func
	HookEventType EventName
	Dialect       Dialect
	Tier          Tier
	ToolName      string // empty on events without a tool
	AgentName     string
}

// ExecutionRecord tells of one hook whose decision was not a pass (TEL-2).
type ExecutionRecord struct {
	HookName      string
	HookType      string
	HookEventType EventName
	Dialect       Dialect
	Tier          Tier
	ToolName      string
	AgentName     string
	// Decision is allow, reject, deny, ask, error or stop.
	Decision Outcome
	// Reason is a reject's or deny's reason; cut when Options.CutReasons is
	// set (TEL-3, TEL-4).
	Reason string
	// ExceptionType is set only when the hook threw: "panic" or "error" of a
	// Func, "model" of a model client, "start" of a command.
	ExceptionType string
	DurationMs    int64
}

// EvaluationRecord tells of one chain in which at least one hook ran (TEL-1).
// A Stop event can give two.
type EvaluationRecord struct {
	HookEventType EventName
	ToolName      string
	AgentName     string
	// FinalDecision is pass, allow, reject, deny, ask or stop.
	FinalDecision Outcome
	// HooksConfigured counts all hooks of the event, of every tier.
	HooksConfigured    int
	HooksRun           int
	SystemHooksRun     int
	AgentHooksRun      int
	UserGlobalHooksRun int
	// AllowingHook is the hook whose allow decided, else empty.
	AllowingHook string
	// RejectionCount counts rejects, a failure under failMode block among
	// them, not denies (TEL-3).
	RejectionCount int
	DurationMs     int64
}

func (StartedRecord) record()    {}
func (ExecutionRecord) record()  {}
func (EvaluationRecord) record() {}

// executionRecord returns the record of a step, false for a pass.
func executionRecord(s *Step, f *facts, cut bool) (ExecutionRecord, bool) {
	if s.Decision == OutcomePass || s.Decision == OutcomeUndecided {
		return ExecutionRecord{}, false
	}
	r := ExecutionRecord{
		HookName: s.Hook.Name, HookType: s.Type, HookEventType: s.On, Dialect: s.Dialect, Tier: s.Hook.Tier,
		ToolName: f.tool, AgentName: f.agent,
		Decision: s.Decision, Reason: s.Reason, DurationMs: s.Duration.Milliseconds(),
	}
	if s.Failure != nil && s.Failure.threw() {
		r.ExceptionType = string(s.Failure.Kind)
	}
	if cut {
		r.Reason = cutReason(r.Reason)
	}
	return r, true
}

// cutReason cuts at 256 characters and adds an ellipsis (TEL-4).
func cutReason(s string) string {
	if utf8.RuneCountInString(s) <= 256 {
		return s
	}
	return string([]rune(s)[:256]) + "…"
}

// evaluationRecord counts the steps of one chain.
func evaluationRecord(f *facts, configured int, steps []Step, outcome Outcome, allowing string, took time.Duration) EvaluationRecord {
	r := EvaluationRecord{
		HookEventType: f.row.name, ToolName: f.tool, AgentName: f.agent,
		FinalDecision: outcome, HooksConfigured: configured, AllowingHook: allowing,
		HooksRun: len(steps), DurationMs: took.Milliseconds(),
	}
	for i := range steps {
		switch steps[i].Hook.Tier {
		case TierSystem:
			r.SystemHooksRun++
		case TierAgent:
			r.AgentHooksRun++
		case TierUserGlobal:
			r.UserGlobalHooksRun++
		}
		if steps[i].Decision == OutcomeReject {
			r.RejectionCount++
		}
	}
	return r
}
