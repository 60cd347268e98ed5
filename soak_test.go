//go:build unix

package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
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

// The full form, with its progress:
//
//	go test . -run TestSoak -v -timeout 1h -soak 20000
var soak = flag.Int("soak", 600, "how many evaluations TestSoak makes")

// soakKinds are the evaluations of a soak, in turn. A deadline is 30 ms; a hook
// without one may take 20 s on a busy machine.
var soakKinds = []struct {
	tool, line string
	want       FailureKind
}{
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

// soakRuntime has a hook for each of the kinds.
func soakRuntime(t *testing.T) *Runtime {
	var hooks []Hook
	for _, k := range soakKinds {
		h := Hook{Name: k.tool, On: OnPreToolUse, Tier: TierSystem, Matcher: k.tool, FailMode: FailBlock, Timeout: 20 * time.Second}
		if k.want == FailureTimeout {
			h.Timeout = 30 * time.Millisecond
		}
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
	rt := soakRuntime(t)
	small, large := &PreToolUse{ToolInput: json.RawMessage(`{}`)}, &PreToolUse{ToolInput: blob(1 << 20)}
	var done atomic.Int64
	every := int64(0) // how often progress is shown
	evaluate := func(i int) {
		kind := soakKinds[i%len(soakKinds)]
		ev := *small
		if kind.tool == "unread" || kind.tool == "late" {
			ev = *large
		}
		ev.ToolName, ev.CallID = kind.tool, strconv.Itoa(i)
		ev.Trajectory = func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, `[{"role":"user"}]`)
			return err
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if kind.want == FailureCancelled {
			defer time.AfterFunc(30*time.Millisecond, cancel).Stop()
		}
		d, err := rt.Evaluate(ctx, &ev)
		if kind.want == FailureCancelled != errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", kind.tool, err)
		}
		for s := range d.Steps() {
			if s.Fate != FateRan && s.Fate != FateCancelled {
				continue
			}
			got := noFailure
			if s.Failure != nil {
				got = s.Failure.Kind
			}
			if s.Hook.Name != kind.tool || got != kind.want {
				t.Errorf("%s: %s failed with %q, not %q", kind.tool, s.Hook.Name, got, kind.want)
			}
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

	run(5 * len(soakKinds)) // whatever is made once is there now
	done.Store(0)
	every = int64(max(total/20, 1))
	before := footprintOf()
	start := time.Now()
	run(total)
	took := time.Since(start)
	var after footprint
	defer runtime.KeepAlive(large)
	eventually(func() bool {
		after = footprintOf()
		return after.goroutines <= before.goroutines && after.files <= before.files && after.children <= before.children
	})
	t.Logf("%d evaluations in %v; before %+v, after %+v", total, took.Round(time.Millisecond), before, after)
	assert.LessOrEqual(t, after.goroutines, before.goroutines, "goroutines")
	assert.LessOrEqual(t, after.files, before.files, "descriptors")
	assert.LessOrEqual(t, after.children, before.children, "children")
	assert.LessOrEqual(t, after.heap, before.heap+before.heap/10, "live heap")
	assert.Zero(t, rt.Abandoned())
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	assert.Empty(t, left, "temporary files")
}
