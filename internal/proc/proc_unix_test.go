//go:build unix

package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

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

// A hook is out of reach of the terminal, as the terminal is of the hook.
func TestOwnGroup(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	c, stdout, stderr := bash(`echo $$; ps -o pgid= -p $$; read x </dev/tty && exit 9; exit 0`)
	wantExit(t, mustRun(t, ctx, c, soon), Exit{})
	if f := strings.Fields(stdout.String()); len(f) == 2 && f[0] != f[1] {
		t.Errorf("process %s has group %s", f[0], f[1])
	}
	if !strings.Contains(stderr.String(), "/dev/tty") {
		t.Errorf("/dev/tty could be opened; stderr: %q", stderr)
	}
}

// The same under a host with a terminal, which tests do not have.
func TestOwnGroupOfTerminal(t *testing.T) {
	const pty = `import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))`
	out, err := exec.Command("python3", "-c", pty, os.Args[0], "-test.run=^(TestOwnGroup|TestHasTerminal)$", "-test.v").CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip(err)
	}
	if err != nil || !bytes.Contains(out, []byte("terminal: true")) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestHasTerminal(t *testing.T) { t.Logf("terminal: %v", hasTerminal()) }

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

// A child in a session of its own is out of reach, but holds nothing up.
func TestEscapedChild(t *testing.T) {
	setsid, err := exec.LookPath("setsid")
	if err != nil {
		t.Skip(err)
	}
	ended := func(script string, cancelled bool) {
		c, stdout, _ := bash(script)
		if cancelled {
			wantKilled(t, mustRun(t, doneAfterFirst(t, &c), c, soon))
		} else {
			wantExit(t, mustRun(t, t.Context(), c, soon), Exit{})
		}
		pid, err := strconv.Atoi(strings.TrimSpace(stdout.String()))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Errorf("the child %d did not escape: %v", pid, err)
		}
	}
	escape := setsid + ` bash -c 'echo $$; exec sleep 30' & `
	ended(escape, false)
	ended(escape+`sleep 30`, true)
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
			c, stdout, _ := bash(script)
			c.Stdin = bytes.NewReader(make([]byte, testInput))
			ctx := doneAfterFirst(t, &c)
			done := make(chan time.Time, 1)
			context.AfterFunc(ctx, func() { done <- time.Now() })
			exit := mustRun(t, ctx, c, soon)
			late := time.Since(<-done)
			t.Logf("returned %v after the deadline", late)
			if late > 5*250*time.Millisecond {
				t.Error("which is too late")
			}
			wantKilled(t, exit)
			if strings.Contains(stdout.String(), "late") {
				t.Errorf("stdout = %q", stdout)
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
	wantKilled(t, mustRun(t, ctx, c, soon))
	wantNoneRunning(t, stdout)
}

func TestCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	marker := filepath.Join(t.TempDir(), "marker")
	c, _, _ := bash(`touch ` + marker)
	if _, err := Run(ctx, &c); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("it ran")
	}
}

// A process that ended by itself keeps its exit when ctx is done during the
// drain, which then is over.
func TestCancelDuringDrain(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	// The child writes when the shell is long gone.
	c, stdout, _ := bash(`exec 3>&1 >/dev/null; (sleep 0.1; echo $$ >&3; sleep 30) & exit 7`)
	c.Stdout = &onFirst{Writer: stdout, f: cancel}
	wantExit(t, mustRunIn(t, ctx, c, patient(), soon), Exit{Code: 7})
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
	exit, err := run(ctx, &c, manner{kill: func(*group) {}, drain: drainTime})
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
			_, err := Run(t.Context(), &tc.c)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("err = %v, want %q in it", err, tc.want)
			}
		})
	}
	if after := handles(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// F54: nothing accumulates.
func TestNothingStays(t *testing.T) {
	input := make([]byte, testInput)
	runs := 300
	if testing.Short() {
		runs = 60
	}
	once := func(i int) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
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
			c.Stdout = &onFirst{Writer: stdout, f: cancel}
		case 5:
			c.Argv[0] = "/nonexistent/program"
		}
		_, err := Run(ctx, &c)
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
