package sshsandbox

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/quick"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookruntime/hooks"
)

func TestCheckSandbox(t *testing.T) {
	t.Parallel()
	require.NoError(t, hooks.CheckSandbox(t.Context(), New(startServer(t).connect(t), nil)))
}

// bashRun is the process of a script.
func bashRun(script string, stdout io.Writer) hooks.Process {
	return hooks.Process{Argv: []string{"/bin/bash", "--noprofile", "--norc", "-c", script}, Stdout: stdout}
}

// What the server's environment holds, what its shell prints and what is
// exported to it does not reach the hook.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	s := New(startServer(t).connect(t), &Options{Dir: "/", Env: []string{"ADDED=1", "WITH-DASH=2"}})
	var stdout, stderr bytes.Buffer
	p := bashRun(`pwd; echo file | cat; env`, &stdout)
	p.Stderr = &stderr
	exit, err := s.Exec(t.Context(), p)
	require.NoError(t, err)
	assert.Equal(t, hooks.Exit{}, exit)
	assert.Empty(t, stderr.String())
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	assert.Equal(t, []string{"/", "file"}, lines[:2])
	for _, line := range lines[2:] {
		key, _, _ := strings.Cut(line, "=")
		allowed := []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR",
			"PYTHONNOUSERSITE", "ADDED", "WITH-DASH", "PWD", "SHLVL", "_"} // the last three are bash's own
		assert.True(t, slices.Contains(allowed, key) || strings.HasPrefix(key, "LC_"), line)
	}
	assert.Contains(t, lines, "ADDED=1")
	assert.Contains(t, lines, "WITH-DASH=2")
}

// Hooks of a runtime run there: a guard reads the trajectory that was put for
// it, and denies.
func TestEvaluate(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	sandbox := New(startServer(t).connect(t), &Options{TempDir: temp})
	rt, err := hooks.New([]hooks.Hook{{
		Name: "guard", Tier: hooks.TierSystem, On: hooks.OnPreToolUse, Matcher: "*",
		Run: hooks.Command{Script: `#!/bin/bash
[[ $(cat) =~ \"execution_summary\":\"([^\"]*)\" ]] || exit 1
grep -q forbidden "${BASH_REMATCH[1]}" || exit 3
echo '{"ok": false, "reason": "It is forbidden.", "hookSpecificOutput": {"permissionDecision": "deny"}}'
`},
	}}, &hooks.Options{Conduct: hooks.Hardened, Sandbox: sandbox})
	require.NoError(t, err)
	d, err := rt.Evaluate(t.Context(), &hooks.PreToolUse{ToolName: "T", Common: hooks.Common{
		Trajectory: func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, `["this is forbidden"]`)
			return err
		},
	}})
	require.NoError(t, err)
	assert.Equal(t, hooks.OutcomeDeny, d.Outcome, d.Explain())
	assert.Equal(t, "It is forbidden.", d.Reason)
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	assert.Empty(t, left, "the trajectory is gone")
}

// running lists the living processes of a group, which the test can see
// because the other machine is this one.
func running(group int) (pids []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		data, _ := os.ReadFile(file)
		// pid (name) state ppid pgrp …; the name may hold anything.
		f := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		if len(f) > 2 && f[0] != "Z" && f[0] != "X" && f[2] == strconv.Itoa(group) {
			pids = append(pids, filepath.Base(filepath.Dir(file)))
		}
	}
	return pids
}

// eventually waits for a fact that has no channel of its own.
func eventually(t *testing.T, limit time.Duration, what string, fact func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(limit); !fact(); <-tick.C {
		if time.Now().After(end) {
			t.Fatal("still not so: " + what)
		}
	}
}

func needProc(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("looks for processes in /proc")
	}
}

// cable is a connection that can fall silent, in both directions, without an
// end.
type cable struct {
	net.Conn
	silent atomic.Bool
}

func (c *cable) Write(p []byte) (int, error) {
	if c.silent.Load() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

func (c *cable) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err != nil || !c.silent.Load() {
			return n, err
		}
	}
}

// The connection breaks in the middle of a hook that ignores signals and has
// children who hold its outputs. Nothing of it runs on, and the failure is the
// hook's.
func TestDroppedConnection(t *testing.T) {
	t.Parallel()
	needProc(t)
	s := startServer(t)
	for _, tc := range []struct {
		name     string
		cut      func(*cable)
		patience time.Duration
		timeout  time.Duration // of the hook
		failure  hooks.FailureKind
		within   time.Duration // that the hook is gone
	}{
		{"closed", func(c *cable) { _ = c.Close() }, 0, time.Minute, hooks.FailureSignal, 5 * time.Second},
		{"reset", func(c *cable) { _ = c.Conn.(*net.TCPConn).SetLinger(0); _ = c.Close() }, 0, time.Minute, hooks.FailureSignal, 5 * time.Second},
		{"silent, no sign of life", func(c *cable) { c.silent.Store(true) }, time.Second, 8 * time.Second, hooks.FailureTimeout, 6 * time.Second},
		{"silent until the deadline", func(c *cable) { c.silent.Store(true) }, time.Minute, 4 * time.Second, hooks.FailureTimeout, 12 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", s.addr)
			require.NoError(t, err)
			line := &cable{Conn: conn}
			sandbox := New(s.dial(t, line), &Options{Patience: tc.patience})
			file := filepath.Join(t.TempDir(), "group")
			rt, err := hooks.New([]hooks.Hook{{
				Name: "h", Tier: hooks.TierSystem, On: hooks.OnPreToolUse, Matcher: "*", Timeout: tc.timeout, FailMode: hooks.FailBlock,
				Run: hooks.Command{
					Line: `trap '' HUP INT TERM PIPE; sleep 300 & (sleep 300 &); echo $$ >"$FILE.new"; mv "$FILE.new" "$FILE"; while :; do sleep 300; done`,
					Env:  []string{"FILE=" + file},
				},
			}}, &hooks.Options{Sandbox: sandbox})
			require.NoError(t, err)
			done := make(chan hooks.Decision, 1)
			go func() {
				d, _ := rt.Evaluate(context.Background(), &hooks.PreToolUse{ToolName: "T"})
				done <- d
			}()
			var group int
			eventually(t, 30*time.Second, "the hook runs", func() bool {
				data, _ := os.ReadFile(file)
				group, _ = strconv.Atoi(strings.TrimSpace(string(data)))
				return group > 0
			})
			require.NotEmpty(t, running(group))
			tc.cut(line)
			eventually(t, tc.within, "nothing of the hook runs", func() bool { return len(running(group)) == 0 })
			d := <-done
			assert.True(t, d.Blocks())
			step := slices.Collect(d.Steps())[0]
			require.NotNil(t, step.Failure)
			assert.Equal(t, tc.failure, step.Failure.Kind, step.Failure.Message)
		})
	}
}

// The connection breaks while a file is being put, and when it is there but was
// not accepted yet.
func TestDroppedPut(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	for name, content := range map[string]string{"half": "12345", "whole": "1234567890"} {
		t.Run(name, func(t *testing.T) {
			temp := t.TempDir()
			client := s.connect(t)
			b, err := New(client, nil).bash(putScript, "hooks-put-x", temp, "file", "10")
			require.NoError(t, err)
			_, err = io.WriteString(b, content)
			require.NoError(t, err)
			file := filepath.Join(temp, "hooks-put-x", "file")
			eventually(t, 10*time.Second, "the file is there", func() bool {
				data, err := os.ReadFile(file)
				return err == nil && (name == "half" || string(data) == content) // head holds the half back
			})
			require.NoError(t, client.Close())
			eventually(t, 10*time.Second, "the folder is gone", func() bool {
				left, err := os.ReadDir(temp)
				return err == nil && len(left) == 0
			})
		})
	}
}

// A hook that ended leaves nothing: not what keeps its group, no session, no
// goroutine.
func TestLeavesNothing(t *testing.T) {
	needProc(t)
	s := New(startServer(t).connect(t), &Options{MaxSessions: 2})
	before := 0
	for i := range 12 {
		var stdout bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		script := `echo $$; exit 7`
		want := hooks.Exit{Code: 7}
		if i%2 == 1 {
			script, want = `echo $$; sleep 300`, hooks.Exit{Code: -1, Signal: "SIGKILL"}
		}
		p := bashRun(script, writer(func(b []byte) {
			stdout.Write(b)
			if i%2 == 1 {
				cancel()
			}
		}))
		exit, err := s.Exec(ctx, p)
		cancel()
		require.NoError(t, err)
		require.Equal(t, want, exit)
		group, err := strconv.Atoi(strings.TrimSpace(stdout.String()))
		require.NoError(t, err)
		eventually(t, 5*time.Second, "the group is gone", func() bool { return len(running(group)) == 0 })
		if i == 3 {
			before = runtime.NumGoroutine()
		}
	}
	eventually(t, 5*time.Second, "the goroutines are gone", func() bool { return runtime.NumGoroutine() <= before })
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }

func TestRefusals(t *testing.T) {
	t.Parallel()
	s := New(startServer(t).connect(t), nil)
	for _, p := range []hooks.Process{
		{},
		{Argv: []string{"bash"}},
		{Argv: []string{"/opt/a=b/program"}},
		{Argv: []string{"/bin/true", "nul\x00"}},
		{Argv: []string{"/bin/true"}, Env: []string{"NOVALUE"}},
		{Argv: []string{"/bin/true"}, Dir: "-"},
		{Argv: []string{"/etc"}},
	} {
		_, err := s.Exec(t.Context(), p)
		assert.ErrorContains(t, err, "sshsandbox: ", fmt.Sprint(p))
	}
	for _, path := range []string{"", "/", "/tmp", "/tmp/x/y", "/tmp/hooks-put-x/y", "hooks-put-" + strings.Repeat("A", 26) + "/x"} {
		assert.ErrorContains(t, s.Remove(t.Context(), path), "was not put here", path)
	}
	for _, name := range []string{"", ".", "..", "a/b"} {
		_, err := s.Put(t.Context(), name, strings.NewReader(""))
		assert.ErrorContains(t, err, "not the name of a file", name)
	}
	_, err := s.Interpreter("perl")
	assert.Error(t, err)
	noBash := New(s.client, &Options{Bash: "/nonexistent/bash"})
	_, err = noBash.Interpreter("bash")
	assert.ErrorContains(t, err, "the shell on the other machine ended")
}

// What is quoted is what bash reads.
func TestQuoting(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	every := make([]byte, 255)
	for i := range every {
		every[i] = byte(i + 1)
	}
	property := func(random [][]byte) bool {
		words := []string{"", string(every), `$(exit 1)'"`}
		for _, word := range random {
			words = append(words, strings.ReplaceAll(string(word), "\x00", ""))
		}
		line := quoteAll(words)
		got, err := exec.Command(bash, "-c", "printf '%s\\0' "+line).Output()
		return err == nil && string(got) == strings.Join(words, "\x00")+"\x00" &&
			!strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' })
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 20}); err != nil {
		t.Error(err)
	}
}
