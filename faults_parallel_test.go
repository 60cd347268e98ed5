package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestParallelCommands is F28 and F27: 64 callers, among them sub-agents, share
// one Runtime; every one gets its own verdict from a real process, and exactly
// the tools that were not blocked run.
func TestParallelCommands(t *testing.T) {
	h := command("h", Command{Line: `in=$(cat); token=${in##*\"token\":\"}; token=${token%%\"*}
case $in in *'"agent_name":"child'*) who=child ;; *) who=parent ;; esac
[ $((token % 2)) = 0 ] || echo "{\"decision\":\"block\",\"reason\":\"$who $token\"}"`})
	rt := newRuntime(t, nil, h)
	const callers = 64
	var executed atomic.Int32
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			ev := &PreToolUse{ToolName: "T", CallID: fmt.Sprint(i), ToolInput: json.RawMessage(fmt.Sprintf(`{"token":"%d"}`, i))}
			who := "parent"
			if ev.Agent = "main"; i%4 > 1 {
				ev.Agent, ev.Child, who = fmt.Sprint("child", i), true, "child"
			}
			d, err := rt.Evaluate(t.Context(), ev)
			assert.NoError(t, err)
			if !d.Blocks() {
				executed.Add(1)
				assert.Zero(t, i%2)
				return
			}
			assert.Equal(t, fmt.Sprint(who, " ", i), d.Reason)
		})
	}
	all.Wait()
	assert.EqualValues(t, callers/2, executed.Load())
}

// The full form of TestSoak and TestFreshScripts, with the soak's progress:
//
//	go test . -run 'TestSoak|TestFreshScripts' -v -timeout 1h -soak 20000
var soak = flag.Int("soak", 600, "how many evaluations TestSoak makes, and TestFreshScripts a third as many")

// TestFreshScripts is F35: scripts in parallel, while other processes start all
// the time, run every time; nothing that was just written is executed.
func TestFreshScripts(t *testing.T) {
	rounds := min(max(*soak/3/32, 1), 200) // of 32
	if testing.Short() {
		rounds = 2
	}
	stop := make(chan struct{})
	var starter, all sync.WaitGroup
	starter.Go(func() {
		local := &Local{}
		for {
			select {
			case <-stop:
				return
			default:
			}
			_, err := local.Exec(context.Background(), Process{Argv: []string{"/bin/bash", "-c", ":"}})
			assert.NoError(t, err)
		}
	})
	for i := range 32 {
		all.Go(func() {
			for j := range rounds {
				want := fmt.Sprint(i, "-", j)
				h := command("h", Command{Script: "#!/bin/bash\necho " + want + " >&2; exit 2"})
				rt, err := New([]Hook{h}, nil)
				if assert.NoError(t, err) {
					d, err := rt.Evaluate(t.Context(), &PreToolUse{ToolName: "T"})
					assert.NoError(t, err)
					assert.Equal(t, want, d.Reason)
				}
			}
		})
	}
	all.Wait()
	close(stop)
	starter.Wait()
}

// TestNothingQueues is F47: all calls to one hook run at once (each waits for
// the others to begin), and a tool that no hook matches waits for none of them.
func TestNothingQueues(t *testing.T) {
	const callers = 20
	var began sync.WaitGroup
	began.Add(callers)
	together := make(chan struct{})
	go func() { began.Wait(); close(together) }()
	h := says(TierSystem, "h", Pass())
	h.Matcher, h.FailMode = "T", FailBlock
	h.Run = Func(func(ctx context.Context, _ Call) (Result, error) {
		began.Done()
		select {
		case <-together:
			return Allow(), nil
		case <-ctx.Done():
			return Pass(), ctx.Err()
		}
	})
	rt := newRuntime(t, nil, h)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			if i == callers-1 { // the others are in flight until this one begins
				d, err := rt.Evaluate(t.Context(), &PreToolUse{ToolName: "Unmatched"})
				assert.NoError(t, err)
				assert.Equal(t, OutcomePass, d.Outcome)
			}
			d, err := rt.Evaluate(t.Context(), &PreToolUse{ToolName: "T"})
			assert.NoError(t, err)
			assert.Equal(t, OutcomeAllow, d.Outcome)
		})
	}
	all.Wait()
}

// TestNoLockWhileAHookRuns: a hook may use all of its Runtime, and so may
// everybody else while it runs. Each of the hooks waits in its own evaluation,
// begun by the one before, until the last of them has done so.
func TestNoLockWhileAHookRuns(t *testing.T) {
	const deep = 16
	var rt *Runtime
	h := says(TierSystem, "h", Pass())
	h.Matcher, h.FailMode, h.Timeout = `T\d+`, FailBlock, 20*time.Second
	h.Run = Func(func(ctx context.Context, c Call) (Result, error) {
		var n int
		fmt.Sscanf(c.Event.(*PreToolUse).ToolName, "T%d", &n)
		done := make(chan error, 1)
		go func() {
			_, err := rt.With(says(TierUserGlobal, "extra", Pass()))
			if err == nil && n < deep {
				// A tool that was never seen: its matchers are asked, and the
				// verdict is remembered.
				var d Decision
				d, err = rt.Evaluate(ctx, &PreToolUse{ToolName: fmt.Sprint("T", n+1)})
				if _, planErr := rt.Plan(&PreToolUse{ToolName: fmt.Sprint("T", 100+n)}); err == nil {
					err = planErr
				}
				if err == nil && d.Blocks() {
					err = errors.New(d.Reason)
				}
			}
			_, _, _ = rt.Hooks(), rt.Warnings(), rt.CheckSwitches(Switches{Activated: []string{"h"}})
			_ = rt.Abandoned()
			done <- err
		}()
		select {
		case err := <-done:
			return Pass(), err
		case <-ctx.Done():
			return Pass(), ctx.Err()
		}
	})
	for _, independent := range []bool{false, true} {
		h.Independent = independent
		rt = newRuntime(t, nil, h)
		d := evaluate(t, rt, &PreToolUse{ToolName: "T1"})
		assert.Equal(t, OutcomePass, d.Outcome, d.Explain())
	}
}

// misbehave is what the Funcs of TestOneRuntimeForAll do, by call id.
func misbehave(release <-chan struct{}) Func {
	return func(ctx context.Context, c Call) (Result, error) {
		ev := c.Event.(*PreToolUse)
		switch id := ev.CallID; {
		case strings.HasPrefix(id, "panic"):
			panic(id)
		case strings.HasPrefix(id, "goexit"):
			runtime.Goexit()
		case strings.HasPrefix(id, "block"):
			<-release // whatever the context says
			return Allow(), nil
		case strings.HasPrefix(id, "wait"):
			<-ctx.Done()
			return Pass(), ctx.Err()
		case strings.HasPrefix(id, "mutate"):
			for i := range ev.ToolInput {
				ev.ToolInput[i] = ' '
			}
			ev.ToolName, ev.Metadata[0].Value[1] = "Other", 'x'
		case strings.HasPrefix(id, "error"):
			return Allow(), errors.New(id)
		}
		return Reject(ev.CallID), nil
	}
}

// TestOneRuntimeForAll: 64 goroutines use one Runtime, which is replaced and
// cancelled in flight, with Funcs that panic, leave, block for ever, fail, or
// mutate what they got. Every caller gets its own answer; the race detector
// watches.
func TestOneRuntimeForAll(t *testing.T) {
	release := make(chan struct{})
	patient, hasty := says(TierSystem, "h", Pass()), says(TierSystem, "hasty", Pass())
	patient.Run, patient.FailMode, patient.Matcher, patient.Timeout = misbehave(release), FailBlock, "T", 20*time.Second
	hasty.Run, hasty.FailMode, hasty.Matcher, hasty.Timeout = misbehave(release), FailBlock, "Late", 20*time.Millisecond
	first := newRuntime(t, nil, patient, hasty)
	var current atomic.Pointer[Runtime]
	current.Store(first)
	input, mark := json.RawMessage(`{"shared":"by all callers"}`), json.RawMessage(`"mark"`)

	kinds := []struct{ name, tool, reason string }{
		{"ok", "T", ""}, {"mutate", "T", ""}, {"wait", "T", "cancelled"},
		{"panic", "T", `Hook "h" failed (panic).`}, {"goexit", "T", `Hook "h" failed (panic).`}, {"error", "T", `Hook "h" failed (error).`},
		{"block", "Late", `Hook "hasty" failed (timeout).`}, {"wait", "Late", `Hook "hasty" failed (timeout).`},
	}
	var all sync.WaitGroup
	for worker := range 64 {
		all.Go(func() {
			for round := range 16 {
				kind := kinds[(worker+round)%len(kinds)]
				rt := current.Load()
				if round%4 == 0 { // the evaluations in flight keep theirs
					next, err := rt.With(patient, says(TierUserGlobal, fmt.Sprint("extra", worker%4), Pass()))
					assert.NoError(t, err)
					current.Store(next)
				}
				id := fmt.Sprint(kind.name, "-", worker, "-", round)
				ctx, cancel := context.WithCancel(t.Context())
				if kind.reason == "cancelled" {
					go cancel()
				}
				d, err := rt.Evaluate(ctx, &PreToolUse{
					ToolName: kind.tool, CallID: id, ToolInput: input,
					Common: Common{Metadata: Metadata{{Key: "m", Value: mark}}},
				})
				cancel()
				switch kind.reason {
				case "cancelled":
					assert.ErrorIs(t, err, context.Canceled)
					assert.True(t, d.Blocks())
				case "":
					assert.NoError(t, err)
					assert.Equal(t, id, d.Reason)
				default:
					assert.NoError(t, err)
					assert.Equal(t, kind.reason, d.Reason, id)
				}
			}
		})
	}
	all.Wait()
	assert.Equal(t, `{"shared":"by all callers"}`, string(input))
	assert.Equal(t, `"mark"`, string(mark))
	assert.Positive(t, first.Abandoned(), "those that block are counted")
	close(release)
	for end := time.Now().Add(10 * time.Second); first.Abandoned() > 0 && time.Now().Before(end); {
		runtime.Gosched()
	}
	assert.Zero(t, first.Abandoned())
	d := evaluate(t, first, &PreToolUse{ToolName: "T", CallID: "usable"})
	assert.Equal(t, "usable", d.Reason)
	assert.Len(t, slices.Collect(d.Steps()), 2, "the first runtime is as it was")
}
