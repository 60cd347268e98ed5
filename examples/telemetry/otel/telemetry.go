// Package otel turns the records of a [hooks.Runtime] into OpenTelemetry spans
// and metrics. It is a module of its own, to copy into a host, so that
// OpenTelemetry does not become a dependency of the hooks module.
//
//	tel, err := otel.New(tracerProvider, meterProvider)
//	rt, err := hooks.New(list, &hooks.Options{Observe: tel.Observe})
//	d, err := tel.Evaluate(ctx, rt, event) // instead of rt.Evaluate
//
// Each chain that runs is a span, each hook in it a span below. Attributes are
// named as the fields of the records. Reason is among those of spans: hooks
// write it, and may quote what they saw.
package otel

import (
	"context"
	"errors"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/hookruntime/hooks"
)

const scope = "github.com/hookruntime/hooks/examples/telemetry/otel"

// Telemetry makes spans and metrics of records. It is safe for concurrent use.
type Telemetry struct {
	tracer     trace.Tracer
	started    metric.Int64Counter
	decisions  metric.Int64Counter
	execution  metric.Int64Histogram
	evaluation metric.Int64Histogram
}

// New returns a Telemetry on the host's providers.
func New(traces trace.TracerProvider, metrics metric.MeterProvider) (*Telemetry, error) {
	t := &Telemetry{tracer: traces.Tracer(scope)}
	meter := metrics.Meter(scope)
	var errs [4]error
	t.started, errs[0] = meter.Int64Counter("hooks.started",
		metric.WithDescription("Hooks that began to run."))
	t.decisions, errs[1] = meter.Int64Counter("hooks.decisions",
		metric.WithDescription("Decisions of hooks other than pass."))
	t.execution, errs[2] = meter.Int64Histogram("hooks.execution.duration", metric.WithUnit("ms"),
		metric.WithDescription("Time of hooks whose decision was not a pass."))
	t.evaluation, errs[3] = meter.Int64Histogram("hooks.evaluation.duration", metric.WithUnit("ms"),
		metric.WithDescription("Time of chains in which a hook ran."))
	return t, errors.Join(errs[:]...)
}

// Evaluate is rt.Evaluate with spans: of a Runtime whose Options.Observe is
// t.Observe. Every event needs it, also one that a hook's own code evaluates.
//
// Records are told apart by their context alone, and a host may evaluate
// several events with the same one. So each evaluation gets a context that
// holds its open spans.
func (t *Telemetry) Evaluate(ctx context.Context, rt *hooks.Runtime, ev hooks.Event) (hooks.Decision, error) {
	o := new(open)
	d, err := rt.Evaluate(context.WithValue(ctx, openKey{}, o), ev)
	o.abort(err)
	return d, err
}

// Observe is for hooks.Options.Observe. A record of an event that was not
// evaluated by [Telemetry.Evaluate] counts in the metrics only.
func (t *Telemetry) Observe(ctx context.Context, r hooks.Record) {
	o, traced := ctx.Value(openKey{}).(*open)
	switch r := r.(type) {
	case hooks.StartedRecord:
		t.started.Add(ctx, 1, metric.WithAttributes(
			attribute.String("HookName", r.HookName), attribute.String("HookType", r.HookType),
			attribute.String("HookEventType", string(r.HookEventType)), attribute.String("Tier", r.Tier.String())))
		if traced {
			o.start(ctx, t.tracer, r)
		}
	case hooks.ExecutionRecord:
		// Tools and agents are left out of metrics: there can be any number.
		attrs := metric.WithAttributes(
			attribute.String("HookName", r.HookName), attribute.String("HookType", r.HookType),
			attribute.String("HookEventType", string(r.HookEventType)), attribute.String("Tier", r.Tier.String()),
			attribute.String("Decision", r.Decision.String()))
		t.decisions.Add(ctx, 1, attrs)
		t.execution.Record(ctx, r.DurationMs, attrs)
		if traced {
			o.decided(r)
		}
	case hooks.EvaluationRecord:
		t.evaluation.Record(ctx, r.DurationMs, metric.WithAttributes(
			attribute.String("HookEventType", string(r.HookEventType)),
			attribute.String("FinalDecision", r.FinalDecision.String())))
		if traced {
			o.finish(r)
		}
	}
}

// openKey is the key of an evaluation's open spans in its context.
type openKey struct{}

// open holds the spans of one evaluation that have not ended. Its hooks run one
// after another, and one that passes is told of only when it starts: it has
// ended when the next record comes.
type open struct {
	mu    sync.Mutex
	chain trace.Span // nil: none
	below context.Context
	hook  trace.Span // nil: none
}

// start begins the span of a hook, and of its chain if it is the first there.
func (o *open) start(ctx context.Context, tracer trace.Tracer, r hooks.StartedRecord) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.passed()
	if o.chain == nil {
		o.below, o.chain = tracer.Start(ctx, "hooks "+string(r.HookEventType))
	}
	_, o.hook = tracer.Start(o.below, "hook "+r.HookName, trace.WithAttributes(
		attribute.String("HookName", r.HookName),
		attribute.String("HookType", r.HookType),
		attribute.String("HookEventType", string(r.HookEventType)),
		attribute.String("Tier", r.Tier.String()),
		attribute.String("ToolName", r.ToolName),
		attribute.String("AgentName", r.AgentName)))
}

// passed ends the span of a hook about which nothing was said.
func (o *open) passed() {
	if o.hook != nil {
		o.hook.SetAttributes(attribute.String("Decision", hooks.OutcomePass.String()))
		o.hook.End()
		o.hook = nil
	}
}

// decided ends the span of a hook that did not pass.
func (o *open) decided(r hooks.ExecutionRecord) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.hook == nil {
		return
	}
	o.hook.SetAttributes(
		attribute.String("Decision", r.Decision.String()),
		attribute.String("Reason", r.Reason),
		attribute.Int64("DurationMs", r.DurationMs))
	if r.ExceptionType != "" {
		o.hook.SetAttributes(attribute.String("ExceptionType", r.ExceptionType))
	}
	// That a hook denies is its work, and no error.
	if r.Decision == hooks.OutcomeErrored || r.ExceptionType != "" {
		o.hook.SetStatus(codes.Error, r.ExceptionType)
	}
	o.hook.End()
	o.hook = nil
}

// finish ends the span of a chain.
func (o *open) finish(r hooks.EvaluationRecord) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.passed()
	if o.chain == nil {
		return
	}
	o.chain.SetAttributes(
		attribute.String("HookEventType", string(r.HookEventType)),
		attribute.String("ToolName", r.ToolName),
		attribute.String("AgentName", r.AgentName),
		attribute.String("FinalDecision", r.FinalDecision.String()),
		attribute.Int("HooksConfigured", r.HooksConfigured),
		attribute.Int("HooksRun", r.HooksRun),
		attribute.Int("SystemHooksRun", r.SystemHooksRun),
		attribute.Int("AgentHooksRun", r.AgentHooksRun),
		attribute.Int("UserGlobalHooksRun", r.UserGlobalHooksRun),
		attribute.String("AllowingHook", r.AllowingHook),
		attribute.Int("RejectionCount", r.RejectionCount),
		attribute.Int64("DurationMs", r.DurationMs))
	o.chain.End()
	o.chain = nil
}

// abort ends what an evaluation leaves open that came to no decision: no
// record tells of its end.
func (o *open) abort(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range []trace.Span{o.hook, o.chain} {
		if s == nil {
			continue
		}
		if err != nil {
			s.SetStatus(codes.Error, err.Error())
		}
		s.End()
	}
	o.hook, o.chain = nil, nil
}
