package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// independent marks a Func hook that takes a while to answer.
func independent(name string, takes time.Duration, r Result) Hook {
	h := says(TierSystem, name, r)
	h.Independent = true
	h.Run = Func(func(ctx context.Context, _ Call) (Result, error) {
		select {
		case <-time.After(takes):
			return r, nil
		case <-ctx.Done():
			return Result{}, ctx.Err()
		}
	})
	return h
}

// TestIndependentHooksRunTogether: eight hooks of a second take a second, and
// two where four may run at once; a neighbour that is not marked waits.
func TestIndependentHooksRunTogether(t *testing.T) {
	for _, tc := range []struct {
		parallel, marked, plain int
		want                    time.Duration
	}{{8, 8, 0, time.Second}, {4, 8, 0, 2 * time.Second}, {1, 3, 0, 3 * time.Second}, {0, 8, 0, time.Second}, {8, 3, 1, 2 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			var hooks []Hook
			for i := range tc.marked {
				hooks = append(hooks, independent(fmt.Sprint("h", i), time.Second, Pass()))
			}
			for i := range tc.plain {
				h := independent(fmt.Sprint("p", i), time.Second, Pass())
				h.Independent = false
				hooks = append(hooks, h)
			}
			start := time.Now()
			d := evaluate(t, newRuntime(t, &Options{Parallel: tc.parallel}, hooks...), &PreToolUse{ToolName: "T"})
			assert.Equal(t, OutcomePass, d.Outcome)
			assert.Equal(t, tc.want, time.Since(start), "%+v", tc)
		})
	}
}

// TestEndOfChainCancelsTheRest: answers are committed in chain order; at the
// first deny the others are cancelled, waited for, and do not count.
func TestEndOfChainCancelsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var evaluations []EvaluationRecord
		observe := func(_ context.Context, r Record) {
			if e, ok := r.(EvaluationRecord); ok {
				evaluations = append(evaluations, e)
			}
		}
		rt := newRuntime(t, &Options{Observe: observe, Parallel: 3},
			independent("slow pass", 3*time.Second, Pass()),
			independent("quick deny", time.Second, Deny("no")),
			independent("early allow", time.Millisecond, Allow()),
			independent("endless", time.Hour, Reject("late")),
			independent("never", time.Second, Pass()))
		start := time.Now()
		d := evaluate(t, rt, &PreToolUse{ToolName: "T"})
		assert.Equal(t, 3*time.Second, time.Since(start))
		assert.Equal(t, "slow pass:ran:pass quick deny:ran:deny early allow:cancelled endless:cancelled never:not-reached", fates(d.Steps()))
		assert.Equal(t, "no", d.Reason)
		assert.Empty(t, d.Allows)
		steps := slices.Collect(d.Steps())
		assert.Equal(t, FailureCancelled, steps[2].Failure.Kind)
		assert.Contains(t, steps[3].Why, "quick deny ended the chain with deny")
		require.Len(t, evaluations, 1)
		assert.Equal(t, 2, evaluations[0].HooksRun, "what was cancelled is not counted")
		assert.Zero(t, rt.Abandoned())
	})
}

// TestTogetherIsAsInSequence: over random chains, in both conducts and
// dialects and on every event they share, hooks that run together come to the
// decision that they come to one by one.
func TestTogetherIsAsInSequence(t *testing.T) {
	answers := []Result{
		Pass(), Pass().WithContext("c1"), Reject("r1"), Reject("r2").WithContext("c2"), Allow(), Ask("q1"), Deny("d1"),
		{Rejects: true, Reason: "r3", Permission: PermissionAsk, Question: "q2"},
		{Metadata: Metadata{{Key: "k", Value: json.RawMessage("1")}}}, {Metadata: Metadata{{Key: "k", Value: json.RawMessage("2")}}},
		{StopReason: "s"}, {SystemMessage: "m"}, {UpdatedInput: json.RawMessage(`{"a":1}`)},
	}
	events := []Event{&Start{}, &PreToolUse{ToolName: "T"}, &PostToolUse{ToolName: "T", ToolSucceeded: true}, &Stop{}}
	type told struct {
		Outcome                              Outcome
		Reason, Question, Context, By, Model string
		Metadata, Rejections, Allows         string
		Messages, Stop, Input, Steps         string
	}
	tell := func(d Decision) told {
		var steps []string
		for s := range d.Steps() {
			if s.Fate == FateCancelled {
				s.Fate = FateNotReached // the price, and the only difference
			}
			steps = append(steps, fmt.Sprint(s.Hook.Name, s.Fate, s.Decision))
		}
		metadata, _ := json.Marshal(d.Metadata)
		return told{d.Outcome, d.Reason, d.Question, d.Context, d.By, d.ForModel(), string(metadata), fmt.Sprint(d.Rejections), fmt.Sprint(d.Allows),
			fmt.Sprint(d.SystemMessages), d.StopReason, string(d.UpdatedInput), strings.Join(steps, " ")}
	}
	random := rand.New(rand.NewPCG(1, 2))
	rounds := 400
	if testing.Short() {
		rounds = 100
	}
	for range rounds {
		ev := events[random.IntN(len(events))]
		var hooks []Hook
		for i := range 1 + random.IntN(7) {
			r := answers[random.IntN(len(answers))]
			fails := random.IntN(8) == 0
			h := says(Tier(1+random.IntN(3)), fmt.Sprint("h", i), r)
			h.On, h.Independent = ev.EventName(), random.IntN(4) > 0
			h.Dialect, h.FailMode = Dialect(random.IntN(int(dialectCount))), FailMode(random.IntN(3))
			if h.Dialect == VSCode {
				h.Matcher = ""
			}
			h.Run = Func(func(context.Context, Call) (Result, error) {
				if fails {
					return r, fmt.Errorf("failed")
				}
				return r, nil
			})
			hooks = append(hooks, h)
		}
		for _, c := range []Conduct{Contract, Hardened} {
			alone := evaluate(t, newRuntime(t, &Options{Conduct: c, Parallel: 1}, hooks...), ev)
			for _, parallel := range []int{2, 8} {
				together := evaluate(t, newRuntime(t, &Options{Conduct: c, Parallel: parallel}, hooks...), ev)
				require.Equal(t, tell(alone), tell(together))
			}
		}
	}
}

// TestTogetherThroughProcesses: independent command hooks share one payload,
// are cancelled with their processes, and leave nothing behind.
func TestTogetherThroughProcesses(t *testing.T) {
	mark := func(name, line string) Hook {
		h := command(name, Command{Line: line})
		h.Independent = true
		return h
	}
	var calls atomic.Int32
	ev := &PreToolUse{ToolName: "T", ToolInput: blob(1 << 20), Common: Common{Trajectory: trajectoryOf("[]", &calls)}}
	rt := newRuntime(t, nil,
		mark("a", `[ "$(wc -c)" -gt 1048576 ] && echo '{"hookSpecificOutput":{"k":"a"}}'`),
		mark("b", `[ "$(wc -c)" -gt 1048576 ] || exit 1; echo '{"hookSpecificOutput":{"permissionDecision":"deny"},"reason":"b"}'`),
		mark("c", `exec sleep 600`), mark("d", `cat >/dev/null; exec sleep 600`))
	filesBefore := openFiles(t)
	d := evaluate(t, rt, ev)
	assert.Equal(t, "a:ran:pass b:ran:deny c:cancelled d:cancelled", fates(d.Steps()))
	assert.Equal(t, "b", d.Reason)
	assert.EqualValues(t, 1, calls.Load())
	assert.LessOrEqual(t, openFiles(t), filesBefore)
}

// TestObserverThatPanics: the panic is the host's, but hooks that run beside
// the one it was told of are ended before it gets there.
func TestObserverThatPanics(t *testing.T) {
	var ended atomic.Bool
	beside := independent("beside", time.Hour, Pass())
	beside.Run = Func(func(ctx context.Context, _ Call) (Result, error) {
		<-ctx.Done()
		ended.Store(true)
		return Result{}, ctx.Err()
	})
	observe := func(_ context.Context, r Record) {
		if _, ok := r.(ExecutionRecord); ok {
			panic("observer")
		}
	}
	rt := newRuntime(t, &Options{Observe: observe}, independent("first", 0, Reject("no")), beside)
	assert.PanicsWithValue(t, "observer", func() { _, _ = rt.Evaluate(t.Context(), &PreToolUse{ToolName: "T"}) })
	assert.True(t, ended.Load())
	assert.Zero(t, rt.Abandoned())
}

// TestSandboxThatPanics: a panic of the host's sandbox, and runtime.Goexit where
// it does not end the host's own goroutine, is a failure of the hook.
func TestSandboxThatPanics(t *testing.T) {
	for _, together := range []bool{false, true} {
		for name, boom := range map[string]func(){"panic": func() { panic("boom") }, "goexit": runtime.Goexit} {
			h := command("h", Command{Line: "x"})
			h.FailMode, h.Independent = FailBlock, together
			sandbox := &memorySandbox{exec: func(context.Context, *string, string) (Exit, string) { boom(); return Exit{}, "" }}
			if name == "goexit" && !together {
				continue
			}
			d := evaluate(t, newRuntime(t, &Options{Sandbox: sandbox}, h), &PreToolUse{ToolName: "T"})
			assert.Equal(t, OutcomeReject, d.Outcome, name)
			assert.Equal(t, FailurePanic, slices.Collect(d.Steps())[0].Failure.Kind)
		}
	}
}

// TestSandboxThatEndsTheHost: a runtime.Goexit in the host's own goroutine, as
// that of t.FailNow, leaves no clock of the hook running.
func TestSandboxThatEndsTheHost(t *testing.T) {
	var hook context.Context
	sandbox := &memorySandbox{exec: func(ctx context.Context, _ *string, _ string) (Exit, string) {
		hook = ctx
		runtime.Goexit()
		return Exit{}, ""
	}}
	rt := newRuntime(t, &Options{Sandbox: sandbox}, command("h", Command{Line: "x"}))
	var host sync.WaitGroup
	host.Go(func() {
		_, _ = rt.Evaluate(t.Context(), &PreToolUse{ToolName: "T"})
		t.Error("Evaluate returned")
	})
	host.Wait()
	require.ErrorIs(t, hook.Err(), context.Canceled)
}

// brokenSandbox panics where it is told to.
type brokenSandbox struct {
	*memorySandbox
	put     bool
	removed int // the first Remove panics
}

func (b *brokenSandbox) Put(ctx context.Context, name string, r io.Reader) (string, error) {
	if b.put {
		panic("boom")
	}
	return b.memorySandbox.Put(ctx, name, r)
}

func (b *brokenSandbox) Remove(ctx context.Context, path string) error {
	if b.removed++; b.removed == 1 {
		panic("boom " + path)
	}
	return b.memorySandbox.Remove(ctx, path)
}

// TestFilesOfASandboxThatPanics: a Put that panics fails its hook; after a
// Remove that panics the other files go all the same (SUM-3).
func TestFilesOfASandboxThatPanics(t *testing.T) {
	for _, together := range []bool{false, true} {
		var all []Hook
		for i := range 3 {
			h := command(fmt.Sprint("h", i), Command{Line: "x"})
			h.FailMode, h.Independent = FailBlock, together
			all = append(all, h)
		}
		ev := &PreToolUse{ToolName: "T"}
		ev.Trajectory = func(_ context.Context, w io.Writer) error { _, err := io.WriteString(w, "[]"); return err }
		ok := func(context.Context, *string, string) (Exit, string) { return Exit{}, "" }

		sandbox := &brokenSandbox{memorySandbox: &memorySandbox{exec: ok}, put: true}
		d := evaluate(t, newRuntime(t, &Options{Conduct: Hardened, Sandbox: sandbox}, all...), ev)
		assert.Equal(t, OutcomeReject, d.Outcome)
		for s := range d.Steps() {
			assert.Equal(t, FailurePanic, s.Failure.Kind)
		}

		sandbox = &brokenSandbox{memorySandbox: &memorySandbox{exec: ok}}
		d = evaluate(t, newRuntime(t, &Options{Conduct: Hardened, Sandbox: sandbox}, all...), ev)
		assert.Equal(t, OutcomePass, d.Outcome)
		assert.Equal(t, 3, sandbox.removed)
		assert.Len(t, sandbox.files, 1, "all but the one")
		require.Len(t, d.Diagnostics, 1)
		assert.Equal(t, "a trajectory file could not be removed: the sandbox panicked", d.Diagnostics[0].Message)
	}
}

// TestCancelledTogether: what a step of hooks that ran together says of their
// end fits what ended them.
func TestCancelledTogether(t *testing.T) {
	waits := says(TierSystem, "waits", Pass())
	waits.Run = Func(func(ctx context.Context, _ Call) (Result, error) { <-ctx.Done(); return Pass(), ctx.Err() })
	waits.Independent = true
	also := waits
	also.Name = "also"
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	d, err := newRuntime(t, nil, waits, also).Evaluate(ctx, &PreToolUse{ToolName: "T"})
	require.ErrorIs(t, err, context.Canceled)
	for s := range d.Steps() {
		assert.Equal(t, FateCancelled, s.Fate)
		assert.NotContains(t, s.Why+s.Failure.Message, "deadline")
		assert.NotContains(t, s.Why, "ended the chain")
	}
}
