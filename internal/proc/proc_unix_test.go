//go:build unix

package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
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

// mustRun runs c, which must start, and end within limit.
func mustRun(t *testing.T, ctx context.Context, c Cmd, limit time.Duration) Exit {
	t.Helper()
	start := time.Now()
	exit, err := Run(ctx, c)
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

// stat returns the state, process group and session of a process, from /proc.
func stat(pid string) (state string, group, session int, ok bool) {
	data, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return "", 0, 0, false
	}
	// pid (name) state ppid pgrp session …; the name may hold anything.
	f := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	group, _ = strconv.Atoi(f[2])
	session, _ = strconv.Atoi(f[3])
	return f[0], group, session, true
}

// running lists the living processes of a group. Killed orphans can stay
// zombies of process 1 for seconds; those do not live.
func running(group int) (pids []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid := filepath.Base(dir)
		if state, g, _, ok := stat(pid); ok && g == group && state != "Z" && state != "X" {
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

func TestExit(t *testing.T) {
	for _, tc := range []struct {
		script, stdout, stderr string
		want                   Exit
	}{
		{script: `exit 0`},
		{`echo out; echo err >&2`, "out\n", "err\n", Exit{}},
		{`echo no >&2; exit 2`, "", "no\n", Exit{Code: 2}},
		{`exit 255`, "", "", Exit{Code: 255}},
		{`echo out; kill -9 $$`, "out\n", "", Exit{-1, "killed"}},
		{`kill -SEGV $$`, "", "", Exit{-1, "segmentation fault"}},
		{`echo "$0 $# $HOME"`, "/bin/bash 0 \n", "", Exit{}},
	} {
		t.Run(tc.script, func(t *testing.T) {
			c, stdout, stderr := bash(tc.script)
			wantExit(t, mustRun(t, t.Context(), c, soon), tc.want)
			wantText(t, "stdout", stdout, tc.stdout)
			wantText(t, "stderr", stderr, tc.stderr)
		})
	}
}

func TestNilStreams(t *testing.T) {
	exit := mustRun(t, t.Context(), Cmd{Argv: []string{"/bin/bash", "-c", "/bin/cat; echo x; echo y >&2; exit 3"}}, soon)
	wantExit(t, exit, Exit{Code: 3})
}

// A nil Env is empty, not this process's own.
func TestEnvironmentIsWhatIsGiven(t *testing.T) {
	t.Setenv("FAKE_API_KEY", "canary")
	env, err := exec.LookPath("env")
	if err != nil {
		t.Skip(err)
	}
	for _, tc := range []struct {
		env  []string
		want string
	}{{nil, ""}, {[]string{"A=1", "B=2", "A=3"}, "B=2\nA=3\n"}} {
		var stdout Capture
		stdout.Head = 1 << 10
		mustRun(t, t.Context(), Cmd{Argv: []string{env}, Env: tc.env, Stdout: &stdout}, soon)
		wantText(t, "environment", &stdout, tc.want)
	}
}

func TestOwnSession(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	c, stdout, stderr := bash(`echo $$; cat /proc/$$/stat; read x </dev/tty && exit 9; exit 0`)
	wantExit(t, mustRun(t, t.Context(), c, soon), Exit{})
	lines := strings.Split(stdout.String(), "\n")
	f := strings.Fields(lines[1])
	if pid := lines[0]; f[4] != pid || f[5] != pid {
		t.Errorf("process %s has group %s and session %s", pid, f[4], f[5])
	}
	if !strings.Contains(stderr.String(), "/dev/tty") {
		t.Errorf("/dev/tty could be opened; stderr: %q", stderr)
	}
}

// F02: children that keep the outputs open.
func TestChildKeepsPipesOpen(t *testing.T) {
	for _, script := range []string{
		`echo $$; sleep 30 & echo "{}"`,
		`exec 3>&1; echo $$; (sleep 30) >/dev/null 2>&1 & echo "{}"`,
		`echo $$; ( (sleep 30 &) & ) ; echo "{}"`, // orphaned twice over
		`echo $$; (trap "" TERM HUP; sleep 30; sleep 30) & echo "{}"`,
	} {
		t.Run(script, func(t *testing.T) {
			c, stdout, _ := bash(script)
			wantExit(t, mustRun(t, t.Context(), c, soon), Exit{})
			if !strings.HasSuffix(stdout.String(), "\n{}\n") {
				t.Errorf("stdout = %q", stdout)
			}
			wantNoneRunning(t, stdout)
		})
	}
}

// A child that holds no pipe is ended too, and at once.
func TestChildWithoutPipes(t *testing.T) {
	c, stdout, _ := bash(`echo $$; sleep 30 </dev/null >/dev/null 2>&1 &`)
	mustRun(t, t.Context(), c, soon)
	wantNoneRunning(t, stdout)
}

// What arrives after the shell is gone still counts: the group must not be
// killed before the drain.
func TestLateOutputIsKept(t *testing.T) {
	c, stdout, _ := bash(`echo hello > >(sleep 0.1; cat; echo late)`)
	wantExit(t, mustRun(t, t.Context(), c, soon), Exit{})
	wantText(t, "stdout", stdout, "hello\nlate\n")
}

// stalled is a writer that takes its time with the first Write, as one does
// whose goroutine finds no processor.
type stalled struct {
	io.Writer
	once sync.Once
	time time.Duration
}

func (w *stalled) Write(p []byte) (int, error) {
	w.once.Do(func() { <-time.After(w.time) })
	return w.Writer.Write(p)
}

// What a process wrote before it ended is never lost, however late we are in
// reading it: an answer that is lost reads like one that was never given.
func TestAnswerIsReadLate(t *testing.T) {
	const times = 2 * (drainTime + settleTime)
	c, stdout, stderr := bash(`echo $$; echo e >&2; sleep 0.1; echo answer; head -c 50000 /dev/zero | tr '\0' x >&2; sleep 30 & exit 2`)
	c.Stdout, c.Stderr = &stalled{Writer: stdout, time: times}, &stalled{Writer: stderr, time: times}
	wantExit(t, mustRun(t, t.Context(), c, soon), Exit{Code: 2})
	if !strings.HasSuffix(stdout.String(), "\nanswer\n") || stderr.Total() != 50002 {
		t.Errorf("stdout = %q, %d bytes of stderr", stdout, stderr.Total())
	}
	wantNoneRunning(t, stdout)

	// Nor at the deadline.
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	c, stdout, _ = bash(`echo $$; sleep 0.1; echo answer; sleep 30`)
	c.Stdout = &stalled{Writer: stdout, time: times}
	wantExit(t, mustRun(t, ctx, c, soon), Exit{-1, "killed"})
	if !strings.HasSuffix(stdout.String(), "\nanswer\n") {
		t.Errorf("stdout = %q", stdout)
	}
}

// A child that escaped and writes on and on does not keep us reading.
func TestEscapedFlood(t *testing.T) {
	setsid, err := exec.LookPath("setsid")
	if err != nil {
		t.Skip(err)
	}
	c, stdout, _ := bash(setsid + ` bash -c 'echo $$; exec yes' & sleep 0.1; exit 0`)
	wantExit(t, mustRun(t, t.Context(), c, soon), Exit{})
	first, _, _ := strings.Cut(stdout.String(), "\n")
	if pid, err := strconv.Atoi(first); err != nil || syscall.Kill(pid, syscall.SIGKILL) == syscall.EPERM {
		t.Errorf("no child: %q, %v", first, err)
	}
}

// A child in a session of its own is out of reach, but holds nothing up.
func TestEscapedChild(t *testing.T) {
	setsid, err := exec.LookPath("setsid")
	if err != nil {
		t.Skip(err)
	}
	ended := func(ctx context.Context, script string, want Exit) {
		c, stdout, _ := bash(script)
		wantExit(t, mustRun(t, ctx, c, soon), want)
		pid, err := strconv.Atoi(strings.TrimSpace(stdout.String()))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Errorf("the child %d did not escape: %v", pid, err)
		}
	}
	escape := setsid + ` bash -c 'echo $$; exec sleep 30' & `
	ended(t.Context(), escape, Exit{})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	ended(ctx, escape+`sleep 30`, Exit{-1, "killed"})
}

// F01, F12, F13: the deadline ends everything, whatever it does about it.
func TestDeadline(t *testing.T) {
	for _, script := range []string{
		`echo $$; sleep 30`,
		`echo $$; sleep 30; true`,
		`echo $$; (sleep 30; echo late) & (sleep 30; echo late); wait; echo late`,
		`trap "" TERM INT HUP; echo $$; sleep 30; echo late`,
		`trap "" TERM; echo $$; exec python3 -c "import time; time.sleep(30)"`,
		`echo $$; kill -STOP $$; echo late`,
		`echo $$; (kill -STOP $BASHPID; echo late) & wait`,
		`echo $$; while :; do :; done`,
	} {
		t.Run(script, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			c, stdout, _ := bash(script)
			c.Stdin = bytes.NewReader(make([]byte, testInput))
			deadline, _ := ctx.Deadline()
			exit := mustRun(t, ctx, c, soon)
			if late := time.Since(deadline); late > 250*time.Millisecond*5 {
				t.Errorf("returned %v after the deadline", late)
			}
			wantExit(t, exit, Exit{-1, "killed"})
			if ctx.Err() == nil || strings.Contains(stdout.String(), "late") {
				t.Errorf("ctx.Err() = %v, stdout = %q", ctx.Err(), stdout)
			}
			wantNoneRunning(t, stdout)
		})
	}
}

// F38
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c, stdout, _ := bash(`echo $$; sleep 30 & sleep 30`)
	c.Stdout = &onFirst{Writer: stdout, f: cancel}
	wantExit(t, mustRun(t, ctx, c, soon), Exit{-1, "killed"})
	wantNoneRunning(t, stdout)
}

func TestCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	marker := filepath.Join(t.TempDir(), "marker")
	c, _, _ := bash(`touch ` + marker)
	if _, err := Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("it ran")
	}
}

// A process that ended by itself keeps its exit when ctx is done during the
// drain, which then is over.
func TestCancelDuringDrain(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	c, stdout, _ := bash(`sleep 30 & echo $$; exit 7`)
	c.Stdout = io.MultiWriter(stdout, w)
	go func() {
		pid := make([]byte, 20)
		n, _ := r.Read(pid)
		go func() { _, _ = io.Copy(io.Discard, r) }()
		eventually(t, "the shell is a zombie", func() bool {
			state, _, _, _ := stat(strings.TrimSpace(string(pid[:n])))
			return state == "Z"
		})
		cancel()
	}()
	start := time.Now()
	wantExit(t, mustRun(t, ctx, c, soon), Exit{Code: 7})
	if took := time.Since(start); took >= drainTime {
		t.Errorf("took %v: the drain went on", took)
	}
	wantNoneRunning(t, stdout)
}

// A process that cannot be killed is left behind, and collected at its end.
func TestUndead(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	before := runtime.NumGoroutine()
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	c, stdout, _ := bash(fmt.Sprintf(`echo $$; read x <%s; echo late`, fifo))
	c.Stdin = bytes.NewReader(make([]byte, testInput))
	c.Stdout = &onFirst{Writer: stdout, f: cancel}
	start := time.Now()
	exit, err := run(ctx, c, func(*group) {})
	if err != nil || exit != (Exit{-1, signalUndead}) || time.Since(start) > soon {
		t.Errorf("run = %+v, %v after %v", exit, err, time.Since(start))
	}
	f, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	wantNoneRunning(t, stdout)
	eventually(t, "its goroutine has ended", func() bool { return runtime.NumGoroutine() <= before })
	if got := stdout.String(); strings.Contains(got, "late") {
		t.Errorf("written to after the return: %q", got)
	}
}

// F11: a large input that is not read, not read to its end, or refused.
func TestUnreadStdin(t *testing.T) {
	input := make([]byte, testInput)
	runs := 200
	if testing.Short() {
		runs = 20
	}
	for _, tc := range []struct {
		script, stdout, stderr string
		want                   Exit
	}{
		{`exit 0`, "", "", Exit{}},
		{`echo no >&2; exit 2`, "", "no\n", Exit{Code: 2}},
		{`head -c 10 >/dev/null; echo "{}"`, "{}\n", "", Exit{}},
		{`exec 0<&-; sleep 0.3; echo '{"decision":"block","reason":"r"}'`, `{"decision":"block","reason":"r"}` + "\n", "", Exit{}},
	} {
		t.Run(tc.script, func(t *testing.T) {
			var wg sync.WaitGroup
			free := make(chan struct{}, 20)
			for range runs {
				free <- struct{}{}
				wg.Go(func() {
					defer func() { <-free }()
					c, stdout, stderr := bash(tc.script)
					c.Stdin = bytes.NewReader(input)
					exit, err := Run(t.Context(), c)
					if err != nil || exit != tc.want || stdout.String() != tc.stdout || stderr.String() != tc.stderr {
						t.Errorf("%+v, %v, %q, %q", exit, err, stdout, stderr)
					}
				})
			}
			wg.Wait()
		})
	}
}

// F23: the process writes more than a pipe holds before it reads.
func TestWritesBeforeItReads(t *testing.T) {
	c, stdout, stderr := bash(`head -c 2000000 /dev/zero | tr "\0" x >&2; head -c 2000000 /dev/zero | tr "\0" y; cat >/dev/null; exit 2`)
	c.Stdin = bytes.NewReader(make([]byte, testInput))
	wantExit(t, mustRun(t, t.Context(), c, 5*time.Second), Exit{Code: 2})
	if stdout.Total() != 2000000 || stderr.Total() != 2000000 {
		t.Errorf("%d and %d bytes", stdout.Total(), stderr.Total())
	}
}

// F24: the end of stdin is seen, also while siblings start.
func TestEndOfStdin(t *testing.T) {
	for _, size := range []int{0, 1, 64 << 10, testInput} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			input := bytes.Repeat([]byte{'x'}, size)
			var wg sync.WaitGroup
			start := time.Now()
			for range 50 {
				wg.Go(func() {
					c, stdout, _ := bash(`wc -c`)
					c.Stdin = bytes.NewReader(input)
					exit, err := Run(t.Context(), c)
					if err != nil || exit != (Exit{}) || strings.TrimSpace(stdout.String()) != strconv.Itoa(size) {
						t.Errorf("%+v, %v, %q", exit, err, stdout)
					}
				})
			}
			wg.Wait()
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// F31: no amount of output fills the memory or blocks the process.
func TestFlood(t *testing.T) {
	for _, tc := range []struct {
		script string
		want   Exit
	}{
		{`yes`, Exit{-1, "killed"}},
		{`yes >&2`, Exit{-1, "killed"}},
		{`head -c 100000000 /dev/zero | tr "\0" x >&2; exit 2`, Exit{Code: 2}},
	} {
		t.Run(tc.script, func(t *testing.T) {
			ctx := t.Context()
			if tc.want.Signal != "" {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 300*time.Millisecond)
				defer cancel()
			}
			c, stdout, stderr := bash(tc.script)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			wantExit(t, mustRun(t, ctx, c, 10*time.Second), tc.want)
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > 8<<20 {
				t.Errorf("allocated %d bytes", got)
			}
			if !stdout.Overflowed() && !stderr.Overflowed() {
				t.Error("no overflow is seen")
			}
		})
	}
}

func TestRemovesItsWorkingFolder(t *testing.T) {
	c, stdout, _ := bash(`rm -rf "$PWD"; echo gone; exit 2`)
	c.Dir = filepath.Join(t.TempDir(), "dir")
	if err := os.Mkdir(c.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	wantExit(t, mustRun(t, t.Context(), c, soon), Exit{Code: 2})
	wantText(t, "stdout", stdout, "gone\n")
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing")
	before := handles(t)
	for _, tc := range []struct {
		name string
		c    Cmd
		want string // in the error
	}{
		{"nothing", Cmd{}, "no program"},
		{"missing program", Cmd{Argv: []string{missing}}, missing},
		{"not executable", Cmd{Argv: []string{file}}, file},
		{"bare name", Cmd{Argv: []string{"bash"}}, "bash"},
		{"missing folder", Cmd{Argv: []string{"/bin/bash"}, Dir: missing}, missing + ": no such file"},
		{"folder is a file", Cmd{Argv: []string{"/bin/bash"}, Dir: file}, file + ": not a directory"},
		{"NUL in the environment", Cmd{Argv: []string{"/bin/bash"}, Env: []string{"A=a\x00b"}}, "NUL"},
		{"environment too large", Cmd{Argv: []string{"/bin/bash"}, Env: []string{"A=" + strings.Repeat("x", 1<<22)}}, "argument list too long"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, _, _ := bash("")
			tc.c.Stdin, tc.c.Stdout, tc.c.Stderr = strings.NewReader("x"), c.Stdout, c.Stderr
			_, err := Run(t.Context(), tc.c)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("err = %v, want %q in it", err, tc.want)
			}
		})
	}
	if after := handles(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

type failing struct{ left int }

func (w *failing) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errors.New("enough")
	}
	return len(p), nil
}

// A writer that fails is the caller's affair; the process does not notice.
func TestFailingWriter(t *testing.T) {
	c, _, stderr := bash(`head -c 1000000 /dev/zero && echo done >&2`)
	c.Stdout = &failing{100}
	wantExit(t, mustRun(t, t.Context(), c, soon), Exit{})
	wantText(t, "stderr", stderr, "done\n")
}

// One writer for both outputs sees no overlapping writes: the race detector
// watches.
func TestOneWriterForBoth(t *testing.T) {
	c, stdout, _ := bash(`for i in 1 2 3; do echo o$i; echo e$i >&2; done`)
	c.Stderr = stdout
	wantExit(t, mustRun(t, t.Context(), c, soon), Exit{})
	wantText(t, "both", stdout, "o1\ne1\no2\ne2\no3\ne3\n")

	c.Stdout, c.Stderr = uncomparable{stdout}, uncomparable{&Capture{}}
	wantExit(t, mustRun(t, t.Context(), c, soon), Exit{})
}

type uncomparable []io.Writer

func (u uncomparable) Write(p []byte) (int, error) { return u[0].Write(p) }

type writerTo struct{ io.Reader }

func (writerTo) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, "by WriteTo")
	return int64(n), err
}

func TestStdinReaders(t *testing.T) {
	for _, tc := range []struct {
		name  string
		stdin io.Reader
		want  string
	}{
		{"nil", nil, ""},
		{"WriterTo", writerTo{}, "by WriteTo"},
		{"plain", io.MultiReader(strings.NewReader("a"), strings.NewReader("b")), "ab"},
		{"failing", io.MultiReader(strings.NewReader("a"), failingReader{}), "a"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, stdout, _ := bash(`cat`)
			c.Stdin = tc.stdin
			wantExit(t, mustRun(t, t.Context(), c, soon), Exit{})
			wantText(t, "stdout", stdout, tc.want)
		})
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errors.New("broken") }

// handles counts this process's descriptors; 0 where that is not known.
func handles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// F54: nothing accumulates.
func TestNothingStays(t *testing.T) {
	input := make([]byte, testInput)
	runs := 300
	if testing.Short() {
		runs = 60
	}
	once := func(i int) {
		timeout := time.Minute
		script := []string{
			`cat >/dev/null; echo $$`,
			`echo $$; exit 2`,
			`sleep 30 >/dev/null 2>&1 & echo $$`,
			`echo $$; sleep 30 & sleep 30`,
			`echo $$; kill -9 $$`,
			``,
		}[i%6]
		c, stdout, _ := bash(script)
		c.Stdin = bytes.NewReader(input)
		switch i % 6 {
		case 3:
			timeout = 50 * time.Millisecond
		case 5:
			c.Argv[0] = "/nonexistent/program"
		}
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		_, err := Run(ctx, c)
		if failed := i%6 == 5; failed != (err != nil) {
			t.Errorf("%s: %v", script, err)
		}
		if err == nil && stdout.Total() > 0 {
			wantNoneRunning(t, stdout)
		}
	}
	once(0) // whatever is opened once, by the poller say
	fds, goroutines := handles(t), runtime.NumGoroutine()
	for i := range runs {
		once(i)
	}
	if got := handles(t); got > fds {
		t.Errorf("%d descriptors before, %d after", fds, got)
	}
	eventually(t, "all goroutines have ended", func() bool { return runtime.NumGoroutine() <= goroutines })
	// A zombie of ours would show as a child that can be waited for.
	if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("a child is left: %d, %v", pid, err)
	}
}

// BenchmarkRun is to be compared with BenchmarkExec, which is os/exec alone.
func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		c, _, _ := bash(`cat >/dev/null; echo '{}'`)
		c.Stdin = strings.NewReader(`{"tool_name":"bash"}`)
		if exit, err := Run(b.Context(), c); err != nil || exit.Code != 0 {
			b.Fatal(exit, err)
		}
	}
}

func BenchmarkExec(b *testing.B) {
	for b.Loop() {
		cmd := exec.Command("/bin/bash", "-c", `cat >/dev/null; echo '{}'`)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
		cmd.Stdin = strings.NewReader(`{"tool_name":"bash"}`)
		cmd.Stdout, cmd.Stderr = new(bytes.Buffer), new(bytes.Buffer)
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
	}
}
