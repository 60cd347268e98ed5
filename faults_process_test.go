//go:build unix

package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hostile is a hook that does what it should not, and what its step must say.
type hostile struct {
	name, line string
	kind       FailureKind // "" is no failure
	exit       string      // the exit code, or the signal
	outcome    Outcome
}

const (
	killed = "killed"
	hangs  = FailureTimeout
)

var hostiles = []hostile{
	{"sleeps", `sleep 30; echo late`, hangs, killed, OutcomeReject},
	{"spins", `while :; do :; done`, hangs, killed, OutcomeReject},
	{"ignores signals", `trap "" TERM INT HUP QUIT; sleep 30; sleep 30; echo late`, hangs, killed, OutcomeReject},
	{"stops itself", `kill -STOP $$; echo late`, hangs, killed, OutcomeReject},
	{"stops its group", `sleep 30 & kill -STOP 0; echo late`, hangs, killed, OutcomeReject},
	{"forks", `sleep 30 & sleep 30 & wait; echo late`, hangs, killed, OutcomeReject},
	{"forks twice", `( (trap "" TERM; sleep 30; echo late) & ) ; sleep 30`, hangs, killed, OutcomeReject},
	{"forks on and on", `f() { sleep 0.01; f & }; f; wait; sleep 30`, hangs, killed, OutcomeReject},
	{"floods stdout", `yes`, hangs, killed, OutcomeReject},
	{"floods stderr", `yes >&2`, hangs, killed, OutcomeReject},
	{"floods both", `yes & yes >&2`, hangs, killed, OutcomeReject},
	{"floods and ends", `head -c 5000000 /dev/zero; head -c 5000000 /dev/zero >&2`, FailureOutput, "0", OutcomeReject},
	{"floods and blocks", `head -c 5000000 /dev/zero; echo no >&2; exit 2`, noFailure, "2", OutcomeReject},
	{"closes stdin", `exec 0<&-; sleep 30`, hangs, killed, OutcomeReject},
	{"closes its outputs", `exec 1>&- 2>&-; sleep 30`, hangs, killed, OutcomeReject},
	{"closes everything and passes", `exec 0<&- 1>&- 2>&-; exit 0`, noFailure, "0", OutcomePass},
	{"never reads", `exit 0`, noFailure, "0", OutcomePass},
	{"writes before it reads", `head -c 500000 /dev/zero | tr '\0' ' '; head -c 500000 /dev/zero >&2; cat >/dev/null`, noFailure, "0", OutcomePass},
	{"writes, reads, hangs", `head -c 3000000 /dev/zero; cat >/dev/null; sleep 30`, hangs, killed, OutcomeReject},
	{"leaves a child with the pipes", `sleep 30 & echo '{}'`, noFailure, "0", OutcomePass},
	{"leaves a grandchild with the pipes", `( (sleep 30 & sleep 30) & ) ; echo no >&2; exit 2`, noFailure, "2", OutcomeReject},
	{"leaves one with a copy of stdout", `exec 3>&1; (sleep 30) >/dev/null 2>&1 & echo '{}'`, noFailure, "0", OutcomePass},
	{"leaves one that ignores hangups", `nohup sleep 30 >/dev/null 2>&1 & disown; exit 0`, noFailure, "0", OutcomePass},
	{"leaves a process substitution", `echo '{}' | tee >(sleep 30)`, noFailure, "0", OutcomePass},
	{"deletes its folder", `rm -rf "$PWD"; sleep 30`, hangs, killed, OutcomeReject},
	{"deletes its folder and blocks", `rm -rf "$PWD"; echo no >&2; exit 2`, noFailure, "2", OutcomeReject},
	{"opens the terminal", `read x </dev/tty || exit 1`, FailureExit, "1", OutcomeReject},
	{"traps its exit", `trap 'sleep 30; exit 0' EXIT; exit 0`, hangs, killed, OutcomeReject},
	{"traps the deadline", `trap 'exit 0' EXIT TERM; sleep 30`, hangs, killed, OutcomeReject},
	{"becomes another program", `exec sleep 30`, hangs, killed, OutcomeReject},
	{"kills itself", `echo no >&2; kill -9 $$`, FailureSignal, killed, OutcomeReject},
	{"kills its group", `sleep 30 & kill -9 0`, FailureSignal, killed, OutcomeReject},
	{"crashes", `kill -SEGV $$`, FailureSignal, "segmentation fault", OutcomeReject},
	{"ends like a killed program", `exit 137`, FailureExit, "137", OutcomeReject},
	// An escape, and a documented one: its answer is in time all the same.
	{"escapes with job control", `set -m; sleep 30 & echo $! >"$ESCAPED"; sleep 30`, hangs, killed, OutcomeReject},
}

// TestHostileHooks: whatever a hook does, its answer comes soon after its
// deadline, its step says what happened, and nothing of its group runs on. It
// comes within 250 ms on an idle machine, and within a second when the
// processors are busy; the bounds of the test are five times as wide.
//
// With -short they run in the busiest way alone.
func TestHostileHooks(t *testing.T) {
	t.Run("alone", func(t *testing.T) {
		if testing.Short() {
			t.Skip("takes ten seconds")
		}
		var worst time.Duration
		for _, h := range hostiles {
			worst = max(worst, h.run(t, HookContract, 1250*time.Millisecond))
		}
		t.Logf("at worst %v behind the deadline", worst)
	})
	t.Run("busy", func(t *testing.T) {
		var over atomic.Bool
		var burners sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			burners.Go(func() {
				for n := 0; !over.Load(); n++ {
					_ = n * n
				}
			})
		}
		t.Logf("at worst %v behind the deadline", runHostiles(t, HookContract))
		over.Store(true)
		burners.Wait()
	})
	t.Run("VSCode", func(t *testing.T) {
		if testing.Short() {
			t.Skip("takes three seconds")
		}
		t.Logf("at worst %v behind the deadline", runHostiles(t, VSCode))
	})
}

// runHostiles runs four at a time, and returns how late the latest was.
func runHostiles(t *testing.T, dialect Dialect) time.Duration {
	var running sync.WaitGroup
	late := make([]time.Duration, len(hostiles))
	slots := make(chan struct{}, 4)
	for i, h := range hostiles {
		slots <- struct{}{}
		running.Go(func() {
			late[i] = h.run(t, dialect, 5*time.Second)
			<-slots
		})
	}
	running.Wait()
	return slices.Max(late)
}

// run evaluates the hook and returns how long behind its deadline the answer
// came; 0 for one that ended by itself.
func (h hostile) run(t *testing.T, dialect Dialect, bound time.Duration) (late time.Duration) {
	dir := t.TempDir()
	group, escaped := filepath.Join(dir, "group"), filepath.Join(dir, "escaped")
	assert.NoError(t, os.Mkdir(filepath.Join(dir, "work"), 0o700))
	hook := command("h", Command{
		Line: `echo $$ >"$GROUP"; ` + h.line, Dir: filepath.Join(dir, "work"),
		Env: []string{"GROUP=" + group, "ESCAPED=" + escaped},
	})
	hook.Dialect, hook.FailMode, hook.Timeout = dialect, FailBlock, 250*time.Millisecond
	if dialect == VSCode && h.outcome == OutcomeReject {
		h.outcome = OutcomeDeny // what rejects a tool call there
	}
	if h.kind != hangs {
		hook.Timeout = 20 * time.Second
	}
	rt, err := New([]Hook{hook}, nil)
	if !assert.NoError(t, err) {
		return 0
	}
	start := time.Now()
	d, err := rt.Evaluate(context.Background(), &PreToolUse{ToolName: "T", ToolInput: blob(1 << 20)})
	took := time.Since(start)
	assert.NoError(t, err, h.name)
	if h.kind == hangs {
		late = took - hook.Timeout
		assert.Less(t, late, bound, h.name)
	} else {
		assert.Less(t, took, 10*time.Second, h.name)
	}

	s := slices.Collect(d.Steps())[0]
	kind, exit := noFailure, s.Signal
	if s.Failure != nil {
		kind = s.Failure.Kind
	}
	if s.ExitCode != nil {
		exit = strconv.Itoa(*s.ExitCode)
	}
	assert.Equal(t, h.kind, kind, "%s: %s", h.name, d.Explain())
	// A processor that is far too busy lets even the killed wait for it.
	assert.Equal(t, h.exit, strings.TrimSuffix(exit, ", but still ending"), h.name)
	assert.Equal(t, h.outcome, d.Outcome, h.name)
	assert.LessOrEqual(t, len(s.Stdout), 1<<20+100, h.name)
	assert.LessOrEqual(t, len(s.Stderr), 64<<10+100, h.name)
	assert.NotContains(t, s.Stdout+d.Reason, "late", h.name)
	assert.Positive(t, s.Duration, h.name)

	if pid := pidIn(t, group); pid > 0 {
		awaitEnd(t, h.name, pid)
	}
	if pid := pidIn(t, escaped); pid > 0 {
		assert.NoError(t, syscall.Kill(pid, syscall.SIGKILL), "it was to escape")
	}
	return late
}

// pidIn reads a process id; 0 when there is none, as when the machine was too
// busy to start the hook before its deadline.
func pidIn(t *testing.T, file string) int {
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	assert.NoError(t, err)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	return pid
}

// awaitEnd waits until nothing of a process group runs: what was sent SIGKILL
// needs a moment on its processor.
func awaitEnd(t *testing.T, what string, group int) {
	t.Helper()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		return // not on this system
	}
	var left []string
	if !eventually(func() bool {
		left = processes(func(_ int, state string, _, g int) bool { return g == group && state != "Z" && state != "X" })
		return len(left) == 0
	}) {
		t.Errorf("%s: still running: %v", what, left)
	}
}

// processes lists those that are chosen by pid, state, parent and group.
func processes(choose func(pid int, state string, parent, group int) bool) (pids []string) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// pid (name) state parent group …; the name may hold anything.
		f := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		pid := filepath.Base(filepath.Dir(file))
		n, _ := strconv.Atoi(pid)
		parent, _ := strconv.Atoi(f[1])
		group, _ := strconv.Atoi(f[2])
		if choose(n, f[0], parent, group) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// eventually waits for a fact that has no channel of its own.
func eventually(fact func() bool) bool {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); !fact(); <-tick.C {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// TestCancelledCommand is F38: cancelling reaches the process tree, and is an
// error whatever failMode says.
func TestCancelledCommand(t *testing.T) {
	for _, mode := range []FailMode{FailAllow, FailBlock} {
		group := filepath.Join(t.TempDir(), "group")
		h := command("h", Command{Line: `echo $$ >"$GROUP"; sleep 30 & sleep 30`, Env: []string{"GROUP=" + group}})
		h.FailMode = mode
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			eventually(func() bool { fi, err := os.Stat(group); return err == nil && fi.Size() > 0 })
			cancel()
		}()
		start := time.Now()
		d, err := newRuntime(t, nil, h).Evaluate(ctx, &PreToolUse{ToolName: "T"})
		require.ErrorIs(t, err, context.Canceled)
		assert.True(t, d.Blocks())
		assert.Less(t, time.Since(start), 5*time.Second)
		s := slices.Collect(d.Steps())[0]
		assert.Equal(t, FateCancelled, s.Fate)
		assert.Equal(t, FailureCancelled, s.Failure.Kind)
		assert.Equal(t, killed, s.Signal)
		awaitEnd(t, fmt.Sprint(mode), pidIn(t, group))
	}
}

// TestHostilePython: hooks that are not shells leave their group as little.
func TestHostilePython(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs python3")
	}
	const head = "#!/usr/bin/env python3\nimport os, signal, sys, time\nopen(os.environ['GROUP'], 'w').write(str(os.getpid()))\n"
	for name, body := range map[string]string{
		"ignores signals": "for s in (1, 2, 15): signal.signal(s, signal.SIG_IGN)\ntime.sleep(30)\nprint('late')",
		"forks":           "os.fork(); os.fork()\ntime.sleep(30)\nprint('late')",
		"never flushes":   "sys.stdout.write('{')\ntime.sleep(30)",
		"is left waiting": "if os.fork(): os.wait()\nelse: os.kill(os.getpid(), signal.SIGSTOP)",
	} {
		group := filepath.Join(t.TempDir(), "group")
		h := command("h", Command{Script: head + body, Env: []string{"GROUP=" + group}})
		h.FailMode, h.Timeout = FailBlock, 500*time.Millisecond
		start := time.Now()
		d := evaluate(t, newRuntime(t, nil, h), &PreToolUse{ToolName: "T", ToolInput: blob(1 << 20)})
		assert.Less(t, time.Since(start)-h.Timeout, 5*time.Second, name)
		s := slices.Collect(d.Steps())[0]
		require.NotNil(t, s.Failure, name)
		assert.Equal(t, FailureTimeout, s.Failure.Kind, name)
		assert.Equal(t, OutcomeReject, d.Outcome, name)
		if pid := pidIn(t, group); pid > 0 {
			awaitEnd(t, name, pid)
		}
	}
}

// shortTimeout is the deadline of hooks that are to miss it, and long enough
// for others to begin on a busy machine.
const shortTimeout = 400 * time.Millisecond

// TestGuardsThatDoNotAnswer is F01: a guard that times out, is late, crashes or
// is missing is a failure with a kind, and never passes under failMode block;
// one that is slow within its time is heard.
func TestGuardsThatDoNotAnswer(t *testing.T) {
	for _, tc := range []struct{ line, allow, block string }{
		{`cat >/dev/null; sleep 5; echo late >&2; exit 2`, "pass (timeout)", `reject Hook "h" failed (timeout). (timeout)`},
		{`cat >/dev/null; sleep 0.05; echo slow >&2; exit 2`, "reject slow", "reject slow"},
		{`/nonexistent/guard`, "pass (exit)", `reject Hook "h" failed (exit). (exit)`},
		{`kill -ABRT $$`, "pass (signal)", `reject Hook "h" failed (signal). (signal)`},
	} {
		for mode, want := range map[FailMode]string{FailAllow: tc.allow, FailBlock: tc.block} {
			for _, conduct := range []Conduct{Contract, Hardened} {
				h := command("h", Command{Line: tc.line})
				h.FailMode, h.Timeout = mode, shortTimeout
				if !strings.Contains(want, "timeout") {
					h.Timeout = 20 * time.Second
				}
				d := evaluate(t, newRuntime(t, &Options{Conduct: conduct}, h), &PreToolUse{ToolName: "T"})
				assert.Equal(t, want, story(&d), "%v, %v: %s", mode, conduct, tc.line)
			}
		}
	}
}

// TestProgramGoesAway is F21: a guard's program that is deleted, or loses its
// execute bit, between two calls.
func TestProgramGoesAway(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, "guard", "#!/bin/bash\necho no >&2\nexit 2\n", 0o700)
	h := command("h", Command{Line: "./guard", Dir: dir})
	h.FailMode = FailBlock
	rt := newRuntime(t, nil, h)
	for _, tc := range []struct {
		change func() error
		want   string
		code   int
	}{
		{func() error { return nil }, "reject no", 2},
		{func() error { return os.Chmod(filepath.Join(dir, "guard"), 0o600) }, `reject Hook "h" failed (exit). (exit)`, 126},
		{func() error { return os.Remove(filepath.Join(dir, "guard")) }, `reject Hook "h" failed (exit). (exit)`, 127},
	} {
		require.NoError(t, tc.change())
		d := evaluate(t, rt, &PreToolUse{ToolName: "T"})
		assert.Equal(t, tc.want, story(&d))
		s := slices.Collect(d.Steps())[0]
		assert.Equal(t, tc.code, *s.ExitCode)
		assert.NotEmpty(t, s.Stderr, "bash's own message")
	}
}
