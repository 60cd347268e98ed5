package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fixedStore returns what it gets.
type fixedStore struct{}

func (fixedStore) Insert(_ context.Context, m Message) (Message, error) { return m, nil }
func (fixedStore) Update(context.Context, string, MessageUpdate) (Message, error) {
	return Message{}, nil
}

// Issue 6: a point without hooks allocates nothing.
func TestPointWithoutHooksAllocatesNothing(t *testing.T) {
	ctx := t.Context()
	reg, err := NewRegistry(nil, nil)
	require.NoError(t, err)
	var st ThreadState = &MemoryThread{}
	c := composed(t, nil)
	g := c.Gateway(st, fixedStore{})
	tr := c.Tracker(g)
	m := textMessage(RoleUser, "x")
	call, r := NewToolCall("c", "f", "{}"), SuccessResult("x")
	require.NoError(t, tr.Start(ctx, call))
	for name, f := range map[string]func(){
		"after_thread_created":   func() { _ = c.AfterThreadCreated(ctx, st) },
		"after_subagent_created": func() { _ = c.AfterSubagentCreated(ctx, st, st) },
		"after_system_message":   func() { _, _ = c.systemMessage(ctx, st, "x") },
		"filter_messages":        func() { _, _ = c.filter(ctx, st, nil) },
		"prefilter_llm_history":  func() { _, _ = c.prefilter(ctx, st, nil) },
		"create":                 func() { _, _ = g.Create(ctx, m) },
		"update":                 func() { _, _ = g.Update(ctx, "m", MessageUpdate{}) },
		"tool_call_started":      func() { _ = tr.started(ctx, call, nil) },
		"tool_call_done":         func() { _ = tr.done(ctx, call, r) },
		"user_client_attached":   func() { _ = reg.UserClientAttached(ctx, nil, UserClient{}) },
		"user_value_changed":     func() { _ = reg.UserValueChanged(ctx, nil, "k") },
	} {
		require.Zero(t, testing.AllocsPerRun(100, f), name)
	}
}

// Issue 6: 20 observers on a 1 MB message allocate less than twice the message.
func TestObserversShareTheText(t *testing.T) {
	const size = 1 << 20
	var defs []Definition
	for i := range 20 {
		defs = append(defs, Define(AfterCreateMessage, fmt.Sprint("observer", i), func(_ context.Context, _ ThreadState, m Message, _ HookContext) error {
			if len(m.Text()) != size {
				return context.Canceled
			}
			return nil
		}))
	}
	var rec recorder
	g := composed(t, rec.options(), defs...).Gateway(&MemoryThread{}, fixedStore{})
	m := textMessage(RoleUser, strings.Repeat("x", size))
	m.Extra = map[string]json.RawMessage{"big": json.RawMessage(`"` + strings.Repeat("y", size) + `"`)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := g.Create(t.Context(), m)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Empty(t, rec.failures())
	require.Len(t, rec.records, 20)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(2*size))
}

// Issue 6: a point without hooks costs less than three map lookups in the same
// run; the ratio is the measure.
func BenchmarkPointWithoutHooks(b *testing.B) {
	var st ThreadState = &MemoryThread{}
	c := &Composition{}
	ctx := b.Context()
	names := map[PointName][]bound{}
	for _, p := range Points() {
		names[p.Name] = nil
	}
	keys := [3]PointName{"filter_messages", "after_create_message", "tool_call_done"}
	// Both loops alternate in one run, so that a busy machine slows both.
	const rounds = 1000
	var point, lookups time.Duration
	n := 0
	for b.Loop() {
		n += rounds
		start := time.Now()
		for range rounds {
			if c.AfterThreadCreated(ctx, st) != nil {
				b.Fatal()
			}
		}
		point += time.Since(start)
		start = time.Now()
		for range rounds {
			for _, k := range keys {
				if names[k] != nil {
					b.Fatal()
				}
			}
		}
		lookups += time.Since(start)
	}
	b.ReportMetric(float64(point.Nanoseconds())/float64(n), "ns/point")
	b.ReportMetric(float64(lookups.Nanoseconds())/float64(n), "ns/3lookups")
	b.ReportMetric(float64(point)/float64(lookups), "ratio")
	b.ReportMetric(0, "ns/op")
	if point > lookups {
		b.Errorf("%v for the points without hooks, %v for the lookups", point, lookups)
	}
}

// One observer: what the guard and the report cost.
func BenchmarkOneObserver(b *testing.B) {
	c := composed(b, nil, threadHook("one"))
	st := &MemoryThread{}
	b.ReportAllocs()
	for b.Loop() {
		if err := c.AfterThreadCreated(b.Context(), st); err != nil {
			b.Fatal(err)
		}
	}
}
