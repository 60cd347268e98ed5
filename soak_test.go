//go:build unix

package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// soakKind is one kind of what a soak does, again and again. do returns an error
// when anything but want came of it; a kind that wants FailureCancelled is
// cancelled, and returns that.
type soakKind struct {
	name string
	want FailureKind
	do   func(ctx context.Context, id string) error
	of   interface{ Abandoned() int }
}

// soakHook is a hook of a soak: the tool that it is for, the command line or
// misdeed, and how that fails.
type soakHook struct {
	tool, line string
	want       FailureKind
}

// soakHooks are those of the hook data contract. A deadline is 30 ms; a hook
// without one may take 20 s on a busy machine.
var soakHooks = []soakHook{
	{"ok", `cat >/dev/null; echo '{"hookSpecificOutput":{"additionalContext":"c","k":1}}'`, noFailure},
	{"block", `echo no >&2; exit 2`, noFailure},
	{"crash", `echo out; echo err >&2; exit 1`, FailureExit},
	{"signal", `kill -9 $$`, FailureSignal},
	{"late", `sleep 30 & sleep 30`, FailureTimeout},
	{"flood", `yes & yes >&2`, FailureTimeout},
	{"full", `head -c 1500000 /dev/zero`, FailureOutput},
	{"unread", `exit 0`, noFailure},
	{"orphan", `sleep 30 </dev/null >/dev/null 2>&1 & exit 0`, noFailure},
	{"garbled", `echo '{"ok":'`, FailureOutput},
	{"unstarted", ``, FailureStart},
	{"cancelled", `sleep 30 & sleep 30`, FailureCancelled},
	{"func", ``, noFailure},
	{"panic", ``, FailurePanic},
	{"goexit", ``, FailurePanic},
	{"slow func", ``, FailureTimeout},
	{"judged", ``, noFailure},
	{"judge late", ``, FailureTimeout},
}

// soakLives are those of the lifecycle: each stands at every point, and
// misbehaves.
var soakLives = []soakHook{
	{"life ok", "", noFailure},
	{"life error", "error", FailureError},
	{"life panic", "panic", FailurePanic},
	{"life goexit", "goexit", FailurePanic},
	{"life late", "late", FailureTimeout},
	{"life mutated", "mutate", noFailure},
	{"life cancelled", "late", FailureCancelled},
}

// soakKinds returns what a soak does, in turn. Some hooks of the hook data
// contract are hooks of VSCode, too: each in a runtime of its own, since there
// they run for every tool.
func soakKinds(t *testing.T) []soakKind {
	var kinds []soakKind
	small, large := json.RawMessage(`{}`), blob(1<<20) // more than a pipe holds
	evaluates := func(rt *Runtime, k soakHook) {
		input := small
		if k.tool == "unread" || k.tool == "late" {
			input = large
		}
		kinds = append(kinds, k.evaluates(t, rt, input))
	}
	rt := soakRuntime(t, HookContract, soakHooks...)
	for _, k := range soakHooks {
		evaluates(rt, k)
		switch k.tool {
		case "ok", "block", "crash", "late", "flood", "cancelled":
			evaluates(soakRuntime(t, VSCode, k), k)
		}
	}
	for _, k := range soakLives {
		kinds = append(kinds, k.lives(t))
	}
	return kinds
}

// deadline is how long what is to fail in this way may take.
func (k soakHook) deadline() time.Duration {
	if k.want == FailureTimeout {
		return 30 * time.Millisecond
	}
	return 20 * time.Second
}

// soakRuntime has these hooks.
func soakRuntime(t *testing.T, dialect Dialect, of ...soakHook) *Runtime {
	var hooks []Hook
	for _, k := range of {
		h := Hook{Dialect: dialect, Name: k.tool, On: OnPreToolUse, Tier: TierSystem, Matcher: k.tool, FailMode: FailBlock, Timeout: k.deadline()}
		h.Run = Command{Line: k.line}
		if k.tool == "unstarted" {
			h.Run = Command{Line: "true", Dir: "/nonexistent"}
		} else if strings.HasPrefix(k.tool, "judge") {
			h.Run = Prompt{Text: k.tool}
		} else if k.line == "" {
			h.Run = Func(func(ctx context.Context, c Call) (Result, error) {
				switch c.Event.(*PreToolUse).ToolName {
				case "panic":
					panic("soak")
				case "goexit":
					runtime.Goexit()
				case "slow func":
					<-ctx.Done()
				}
				return Pass(), ctx.Err()
			})
		}
		hooks = append(hooks, h)
	}
	judge := model(func(ctx context.Context, q ModelRequest) (ModelAnswer, error) {
		if q.Policy == "judge late" {
			<-ctx.Done()
		}
		return ModelAnswer{Text: `{"ok":true}`}, ctx.Err()
	})
	return newRuntime(t, &Options{Conduct: Hardened, Model: judge}, hooks...)
}

// evaluates returns the kind that evaluates an event for the tool of a hook.
func (k soakHook) evaluates(t *testing.T, rt *Runtime, input json.RawMessage) soakKind {
	ev := PreToolUse{ToolName: k.tool, ToolInput: input}
	ev.Trajectory = func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, `[{"role":"user"}]`)
		return err
	}
	says := map[string]string{"ok": "c", "block": "no"}[k.tool]
	name := fmt.Sprint(rt.Hooks()[0].Dialect, " ", k.tool)
	return soakKind{name, k.want, func(ctx context.Context, id string) error {
		ev := ev
		ev.CallID = id
		d, err := rt.Evaluate(ctx, &ev)
		ran := 0
		for s := range d.Steps() {
			if s.Fate != FateRan && s.Fate != FateCancelled {
				continue
			}
			got := noFailure
			if s.Failure != nil {
				got = s.Failure.Kind
			}
			if ran++; s.Hook.Name != k.tool || got != k.want {
				t.Errorf("%s: %s failed with %q, not %q", name, s.Hook.Name, got, k.want)
			}
		}
		if err == nil && (ran != 1 || says != "" && d.Reason+d.Context != says) {
			return fmt.Errorf("%d hooks ran and said %q, %q", ran, d.Reason, d.Context)
		}
		return err
	}, rt}
}

// lives returns the kind that takes a thread through a turn whose hooks all
// misbehave in one way.
func (k soakHook) lives(t *testing.T) soakKind {
	reg, _, c := lifecycleOf(t, &LifecycleOptions{
		Timeout: k.deadline(),
		Observe: func(_ context.Context, r Record) {
			if l := r.(LifecycleRecord); l.Failure != k.want {
				t.Errorf("%s: %s failed with %q, not %q", k.tool, l.Point, l.Failure, k.want)
			}
		},
	}, everywhere("h", func(ctx context.Context, who string, v any) error { return misdo(ctx, k.line, who, v, nil) })...)
	return soakKind{k.tool, k.want, func(ctx context.Context, id string) error {
		th := threadOf(c)
		th.ID = id
		_, created := th.InjectMessage(ctx, textMessage(RoleUser, "x"))
		_, sent := c.Assemble(ctx, th, "s")
		_, stored := c.Tracker(c.Gateway(th, &th.store)).Run(ctx, NewToolCall(id, "f", "{}"), tool("r", nil))
		vetoes := 0 // a hook that fails prevents that a message is created
		for _, err := range []error{created, sent, stored} {
			var veto *HookError
			if errors.As(err, &veto) {
				vetoes++
			} else if err != nil {
				return err
			}
		}
		if left := len(th.store.Messages()); left != 2-vetoes || (left == 0) != (k.want != noFailure) {
			return fmt.Errorf("%d messages are stored, and %d were prevented", left, vetoes)
		}
		return nil
	}, reg}
}

// footprint is what must not grow.
type footprint struct {
	goroutines, files, children int
	heap                        uint64
}

func footprintOf() footprint {
	runtime.GC()
	runtime.GC() // the first one's finalizers let go of more
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, _ := os.ReadDir("/proc/self/fd")
	return footprint{
		goroutines: runtime.NumGoroutine(), files: len(files), heap: m.HeapAlloc,
		// Zombies are children, too: each was left uncollected.
		children: len(processes(func(_ int, _ string, parent, _ int) bool { return parent == os.Getpid() })),
	}
}

// TestSoak is F54: a long mixed run ends with the goroutines, descriptors,
// temporary files and children it began with, and with the same live heap.
func TestSoak(t *testing.T) {
	total := *soak
	if testing.Short() {
		total = min(total, 180)
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	kinds := soakKinds(t)
	var done atomic.Int64
	every := int64(0) // how often progress is shown
	evaluate := func(i int) {
		kind := kinds[i%len(kinds)]
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if kind.want == FailureCancelled {
			defer time.AfterFunc(30*time.Millisecond, cancel).Stop()
		}
		err := kind.do(ctx, strconv.Itoa(i))
		if cancelled := errors.Is(err, context.Canceled); cancelled != (kind.want == FailureCancelled) || err != nil && !cancelled {
			t.Errorf("%s: %v", kind.name, err)
		}
		if n := done.Add(1); every > 0 && n%every == 0 {
			t.Logf("%d evaluations", n)
		}
	}
	run := func(n int) {
		var workers sync.WaitGroup
		var next atomic.Int64
		for range 8 {
			workers.Go(func() {
				for i := next.Add(1); i <= int64(n); i = next.Add(1) {
					evaluate(int(i))
				}
			})
		}
		workers.Wait()
	}

	run(3 * len(kinds)) // whatever is made once is there now
	done.Store(0)
	every = int64(max(total/20, 1))
	before := footprintOf()
	start := time.Now()
	run(total)
	took := time.Since(start)
	var after footprint
	defer runtime.KeepAlive(kinds)
	eventually(func() bool {
		after = footprintOf()
		return after.goroutines <= before.goroutines && after.files <= before.files && after.children <= before.children
	})
	t.Logf("%d evaluations in %v; before %+v, after %+v", total, took.Round(time.Millisecond), before, after)
	assert.LessOrEqual(t, after.goroutines, before.goroutines, "goroutines")
	assert.LessOrEqual(t, after.files, before.files, "descriptors")
	assert.LessOrEqual(t, after.children, before.children, "children")
	assert.LessOrEqual(t, after.heap, before.heap+before.heap/10, "live heap")
	for _, k := range kinds {
		assert.Zero(t, k.of.Abandoned(), k.name)
	}
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	assert.Empty(t, left, "temporary files")
}
