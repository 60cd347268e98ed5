//go:build unix

package proc

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// soon bounds what takes some milliseconds, and what takes the 500 ms of a
	// drain. Never is what a hung test would take.
	soon      = 3 * time.Second
	testInput = 10 << 20
)

// bash returns the Cmd of a script with two captures on it.
func bash(script string) (Cmd, *Capture, *Capture) {
	stdout, stderr := &Capture{Head: 1 << 20}, &Capture{Head: 32 << 10, Tail: 32 << 10}
	return Cmd{
		Argv:   []string{"/bin/bash", "-c", script},
		Env:    []string{"PATH=" + os.Getenv("PATH")},
		Stdout: stdout,
		Stderr: stderr,
	}, stdout, stderr
}

// patient is the manner of Run but for a drain that the clock does not end.
func patient() manner { return manner{kill: (*group).kill, drain: time.Minute} }

// mustRun runs c, which must start, and end within limit.
func mustRun(t *testing.T, ctx context.Context, c Cmd, limit time.Duration) Exit {
	t.Helper()
	return mustRunIn(t, ctx, c, manner{kill: (*group).kill, drain: drainTime}, limit)
}

func mustRunIn(t *testing.T, ctx context.Context, c Cmd, m manner, limit time.Duration) Exit {
	t.Helper()
	start := time.Now()
	exit, err := run(ctx, &c, m)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	if took := time.Since(start); took > limit {
		t.Errorf("Run took %v, the limit is %v", took, limit)
	}
	return exit
}

func wantExit(t *testing.T, got, want Exit) {
	t.Helper()
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// wantKilled checks that Run ended the process. On a busy machine Run may have
// to return before the process is gone.
func wantKilled(t *testing.T, got Exit) {
	t.Helper()
	if got.Code != -1 || got.Signal != "killed" && got.Signal != signalUndead {
		t.Errorf("got %+v, want a killed process", got)
	}
}

func wantText(t *testing.T, what string, got fmt.Stringer, want string) {
	t.Helper()
	if got.String() != want {
		t.Errorf("%s = %q, want %q", what, got, want)
	}
}

// eventually waits for a fact that has no channel of its own.
func eventually(t *testing.T, what string, fact func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); !fact(); <-tick.C {
		if time.Now().After(deadline) {
			t.Errorf("still not so: %s", what)
			return
		}
	}
}

// stat returns the state and the process group of a process, from /proc.
func stat(pid string) (state string, group int, ok bool) {
	data, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return "", 0, false
	}
	// pid (name) state ppid pgrp …; the name may hold anything.
	f := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	group, _ = strconv.Atoi(f[2])
	return f[0], group, true
}

// running lists the living processes of a group. Killed orphans can stay
// zombies of process 1 for seconds; those do not live.
func running(group int) (pids []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid := filepath.Base(dir)
		if state, g, ok := stat(pid); ok && g == group && state != "Z" && state != "X" {
			pids = append(pids, pid)
		}
	}
	return pids
}

// wantNoneRunning checks that nothing is left of the group whose id is the
// first line of out.
func wantNoneRunning(t *testing.T, out fmt.Stringer) {
	t.Helper()
	first, _, _ := strings.Cut(out.String(), "\n")
	group, err := strconv.Atoi(first)
	if err != nil {
		t.Fatalf("no process id in %q", out)
	}
	if runtime.GOOS != "linux" {
		return // no /proc
	}
	// A process that was sent SIGKILL still needs a moment on its processor.
	eventually(t, "the group is gone", func() bool { return len(running(group)) == 0 })
}

// doneAfterFirst replaces the stdout of c, and returns a context that is done
// a moment after the first write there. A deadline counted from the start might
// be over, on a busy machine, before anything has started.
func doneAfterFirst(t *testing.T, c *Cmd) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	c.Stdout = &onFirst{Writer: c.Stdout, f: func() { time.AfterFunc(100*time.Millisecond, cancel) }}
	return ctx
}

// onFirst calls f at the first write.
type onFirst struct {
	io.Writer
	once sync.Once
	f    func()
}

func (w *onFirst) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.once.Do(w.f)
	return n, err
}

// handles counts this process's descriptors; 0 where that is not known.
func handles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}
