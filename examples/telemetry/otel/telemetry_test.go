package otel

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/hookruntime/hooks"
)

// bench is a Telemetry with everything that it exported.
type bench struct {
	*Telemetry
	tracer *sdktrace.TracerProvider
	spans  *tracetest.InMemoryExporter
	reader *sdkmetric.ManualReader
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{spans: tracetest.NewInMemoryExporter(), reader: sdkmetric.NewManualReader()}
	b.tracer = sdktrace.NewTracerProvider(sdktrace.WithSyncer(b.spans))
	var err error
	b.Telemetry, err = New(b.tracer, sdkmetric.NewMeterProvider(sdkmetric.WithReader(b.reader)))
	require.NoError(t, err)
	return b
}

func (b *bench) runtime(t *testing.T, list ...hooks.Hook) *hooks.Runtime {
	t.Helper()
	rt, err := hooks.New(list, &hooks.Options{Observe: b.Observe, Model: strict{}})
	require.NoError(t, err)
	return rt
}

// span finds the one span of a name.
func (b *bench) span(t *testing.T, name string) tracetest.SpanStub {
	t.Helper()
	var found []tracetest.SpanStub
	for _, s := range b.spans.GetSpans() {
		if s.Name == name {
			found = append(found, s)
		}
	}
	require.Len(t, found, 1, name)
	return found[0]
}

// attributes returns a span's, without the time it took.
func attributes(s tracetest.SpanStub) map[string]any {
	all := map[string]any{}
	for _, a := range s.Attributes {
		if a.Key != "DurationMs" {
			all[string(a.Key)] = a.Value.AsInterface()
		}
	}
	return all
}

func hook(name string, on hooks.EventName, tier hooks.Tier, f hooks.Func) hooks.Hook {
	return hooks.Hook{Name: name, On: on, Tier: tier, Matcher: "*", Run: f}
}

func says(r hooks.Result) hooks.Func {
	return func(context.Context, hooks.Call) (hooks.Result, error) { return r, nil }
}

type strict struct{}

func (strict) Answer(context.Context, hooks.ModelRequest) (hooks.ModelAnswer, error) {
	return hooks.ModelAnswer{Text: `{"ok": false, "reason": "Say more."}`}, nil
}

func call() *hooks.PreToolUse {
	return &hooks.PreToolUse{
		Common: hooks.Common{Agent: "assistant"}, ToolName: "ReadFile",
		ToolInput: json.RawMessage(`{"filePath":"canary"}`),
	}
}

func TestSpans(t *testing.T) {
	b := newBench(t)
	rt := b.runtime(t,
		hook("first", hooks.OnPreToolUse, hooks.TierSystem, says(hooks.Pass())),
		hook("second", hooks.OnPreToolUse, hooks.TierAgent, says(hooks.Reject("Not here."))),
		hook("third", hooks.OnPreToolUse, hooks.TierUserGlobal, says(hooks.Pass())))
	ctx, host := b.tracer.Tracer("host").Start(t.Context(), "turn")
	d, err := b.Evaluate(ctx, rt, call())
	require.NoError(t, err)
	assert.Equal(t, hooks.OutcomeReject, d.Outcome)
	host.End()

	turn, chain := b.span(t, "turn"), b.span(t, "hooks PreToolUse")
	assert.Equal(t, turn.SpanContext.SpanID(), chain.Parent.SpanID())
	assert.Equal(t, map[string]any{
		"HookEventType": "PreToolUse", "ToolName": "ReadFile", "AgentName": "assistant",
		"FinalDecision": "reject", "HooksConfigured": int64(3), "HooksRun": int64(3),
		"SystemHooksRun": int64(1), "AgentHooksRun": int64(1), "UserGlobalHooksRun": int64(1),
		"AllowingHook": "", "RejectionCount": int64(1),
	}, attributes(chain))
	end := chain.StartTime
	for _, name := range []string{"first", "second", "third"} {
		s := b.span(t, "hook "+name)
		assert.Equal(t, chain.SpanContext.SpanID(), s.Parent.SpanID())
		assert.False(t, s.StartTime.Before(end), "hooks run one after another")
		assert.Equal(t, codes.Unset, s.Status.Code)
		end = s.EndTime
	}
	assert.False(t, chain.EndTime.Before(end))
	assert.Equal(t, map[string]any{
		"HookName": "first", "HookType": "func", "HookEventType": "PreToolUse", "Tier": "system",
		"ToolName": "ReadFile", "AgentName": "assistant", "Decision": "pass",
	}, attributes(b.span(t, "hook first")))
	assert.Equal(t, map[string]any{
		"HookName": "second", "HookType": "func", "HookEventType": "PreToolUse", "Tier": "agent",
		"ToolName": "ReadFile", "AgentName": "assistant", "Decision": "reject", "Reason": "Not here.",
	}, attributes(b.span(t, "hook second")))
	for _, s := range b.spans.GetSpans() {
		for _, a := range s.Attributes {
			assert.NotContains(t, a.Value.String(), "canary") // TEL-5
		}
	}
}

// Stop has two chains, and so two spans.
func TestSpansOfStop(t *testing.T) {
	b := newBench(t)
	judge := hook("judge", hooks.OnStop, hooks.TierSystem, nil)
	judge.Run = hooks.Prompt{Text: "Is it done?"}
	rt := b.runtime(t, judge, hook("broken", hooks.OnStop, hooks.TierSystem, func(context.Context, hooks.Call) (hooks.Result, error) {
		panic("a bug")
	}))
	_, err := b.Evaluate(t.Context(), rt, &hooks.Stop{})
	require.NoError(t, err)

	prompt, broken := b.span(t, "hook judge"), b.span(t, "hook broken")
	assert.NotEqual(t, prompt.Parent.SpanID(), broken.Parent.SpanID())
	assert.Equal(t, "panic", attributes(broken)["ExceptionType"])
	assert.Equal(t, "error", attributes(broken)["Decision"])
	assert.Equal(t, codes.Error, broken.Status.Code)
	var decisions []any
	for _, s := range b.spans.GetSpans() {
		if s.Name == "hooks Stop" {
			decisions = append(decisions, attributes(s)["FinalDecision"])
		}
	}
	assert.Equal(t, []any{"reject", "pass"}, decisions)
}

// A cancelled evaluation gives no record of its end; its spans end all the same.
func TestSpansOfACancelledEvaluation(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	rt := b.runtime(t, hook("slow", hooks.OnStop, hooks.TierSystem, func(ctx context.Context, _ hooks.Call) (hooks.Result, error) {
		cancel()
		<-ctx.Done()
		return hooks.Result{}, ctx.Err()
	}))
	_, err := b.Evaluate(ctx, rt, &hooks.Stop{})
	require.ErrorIs(t, err, context.Canceled)
	for _, name := range []string{"hook slow", "hooks Stop"} {
		s := b.span(t, name)
		assert.Equal(t, codes.Error, s.Status.Code)
		assert.NotContains(t, attributes(s), "Decision")
	}
}

// Events that are evaluated at once, with one and the same context, do not mix.
func TestSpansOfConcurrentEvaluations(t *testing.T) {
	b := newBench(t)
	rt := b.runtime(t,
		hook("first", hooks.OnPreToolUse, hooks.TierSystem, says(hooks.Pass())),
		hook("second", hooks.OnPreToolUse, hooks.TierSystem, says(hooks.Allow())))
	var wg sync.WaitGroup
	const n = 50
	for range n {
		wg.Go(func() {
			_, err := b.Evaluate(t.Context(), rt, call())
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	below := map[string]string{}
	for _, s := range b.spans.GetSpans() {
		if strings.HasPrefix(s.Name, "hook ") {
			below[s.Parent.SpanID().String()] += s.Name + " " + attributes(s)["Decision"].(string) + "; "
		}
	}
	assert.Len(t, below, n)
	for _, names := range below {
		assert.Equal(t, "hook first pass; hook second allow; ", names)
	}
}

func TestMetrics(t *testing.T) {
	b := newBench(t)
	rt := b.runtime(t,
		hook("first", hooks.OnPreToolUse, hooks.TierSystem, says(hooks.Pass())),
		hook("second", hooks.OnPreToolUse, hooks.TierUserGlobal, says(hooks.Deny("Not here."))))
	_, err := b.Evaluate(t.Context(), rt, call())
	require.NoError(t, err)
	_, err = rt.Evaluate(t.Context(), call()) // no spans, but it counts
	require.NoError(t, err)
	assert.Len(t, b.spans.GetSpans(), 3)

	var data metricdata.ResourceMetrics
	require.NoError(t, b.reader.Collect(t.Context(), &data))
	require.Len(t, data.ScopeMetrics, 1)
	got := map[string]int64{}
	count := func(name string, set attribute.Set, n int64) {
		got[name+" "+set.Encoded(attribute.DefaultEncoder())] = n
	}
	for _, m := range data.ScopeMetrics[0].Metrics {
		switch v := m.Data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range v.DataPoints {
				count(m.Name, p.Attributes, p.Value)
			}
		case metricdata.Histogram[int64]:
			assert.Equal(t, "ms", m.Unit)
			for _, p := range v.DataPoints {
				count(m.Name, p.Attributes, int64(p.Count))
			}
		}
	}
	assert.Equal(t, map[string]int64{
		"hooks.started HookEventType=PreToolUse,HookName=first,HookType=func,Tier=system":                                2,
		"hooks.started HookEventType=PreToolUse,HookName=second,HookType=func,Tier=user-global":                          2,
		"hooks.decisions Decision=deny,HookEventType=PreToolUse,HookName=second,HookType=func,Tier=user-global":          2,
		"hooks.execution.duration Decision=deny,HookEventType=PreToolUse,HookName=second,HookType=func,Tier=user-global": 2,
		"hooks.evaluation.duration FinalDecision=deny,HookEventType=PreToolUse":                                          2,
	}, got)
}
