package hooks

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func command(name string, c Command) Hook {
	return Hook{Name: name, On: OnPreToolUse, Tier: TierSystem, Matcher: "*", Run: c}
}

// blob is a tool_input of n bytes of text.
func blob(n int) json.RawMessage {
	return json.RawMessage(`{"blob":"` + strings.Repeat("x", n) + `"}`)
}

// TestLargePayload is F11: 10 MB for hooks that never read it, read all of it,
// read a little, or close stdin; no error, no leak.
func TestLargePayload(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 3
	}
	ev := &PreToolUse{ToolName: "T", ToolInput: blob(10 << 20)}
	for line, want := range map[string]string{
		`exit 0`:                           "pass",
		`echo no >&2; exit 2`:              "reject no",
		`head -c 10 >/dev/null; echo '{}'`: "pass",
		`exec 0<&-; echo '{"decision":"block","reason":"r"}'`:                       "reject r",
		`[ "$(wc -c)" -gt 10485760 ] || exit 1; echo '{"ok":false,"reason":"all"}'`: "reject all",
	} {
		t.Run(line, func(t *testing.T) {
			rt := newRuntime(t, nil, command("h", Command{Line: line}))
			evaluate(t, rt, ev) // whatever is made once is there now
			goroutines, files := runtime.NumGoroutine(), openFiles(t)
			for range rounds {
				d := evaluate(t, rt, ev)
				s := slices.Collect(d.Steps())[0]
				require.Nil(t, s.Failure)
				require.Equal(t, want, strings.TrimSpace(d.Outcome.String()+" "+d.Reason))
			}
			for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > goroutines && time.Now().Before(end); {
				runtime.Gosched()
			}
			assert.LessOrEqual(t, runtime.NumGoroutine(), goroutines)
			assert.LessOrEqual(t, openFiles(t), files)
		})
	}
}

func openFiles(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0 // not on this system
	}
	return len(entries)
}

// TestScripts is CMD-17 and F45.
func TestScripts(t *testing.T) {
	for script, want := range map[string]string{
		"#!/bin/bash\n[[ $(cat) == *tool_name* ]] && cat <<<'{\"ok\":false,\"reason\":\"bash\"}'": "reject bash",
		"#!/bin/bash -eu\nfalse\necho '{\"ok\":false}'":                                           "pass exit",
		"#!/bin/bash -\nexit 0":  "pass",
		"#!/bin/bash -l\nexit 0": "pass",
		"#!/bin/bash -e --\n[ -n \"$UNSET\" ] && exit 0; echo x >&2; exit 2": "reject x",
		"#!/bin/bash -u\r\nexit 0": "pass",
	} {
		d := evaluate(t, newRuntime(t, nil, command("h", Command{Script: script})), &PreToolUse{ToolName: "T"})
		s := slices.Collect(d.Steps())[0]
		got := d.Outcome.String() + " " + d.Reason
		if s.Failure != nil {
			got = d.Outcome.String() + " " + string(s.Failure.Kind)
		}
		assert.Equal(t, want, strings.TrimSpace(got), script+s.Stderr)
	}
}

// TestPythonIsIsolated: a module planted in the working folder, which an agent
// could write to, must not own a hook.
func TestPythonIsIsolated(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs python3")
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "json.py"), []byte("raise SystemExit(0)"), 0o600))
	t.Setenv("PYTHONPATH", dir)
	script := "#!/usr/bin/env python3\nimport json,sys\nc = json.load(sys.stdin)\nprint(json.dumps({'ok': False, 'reason': c['tool_name']}))"
	d := evaluate(t, newRuntime(t, nil, command("h", Command{Script: script, Dir: dir, Env: []string{"PYTHONPATH=" + dir}})), &PreToolUse{ToolName: "T"})
	assert.Equal(t, "T", d.Reason)
}

// TestFailuresStayInTheStep is CMD-7, F39 and F50: the step tells the operator
// everything, the model nothing.
func TestFailuresStayInTheStep(t *testing.T) {
	for line, kind := range map[string]FailureKind{
		`echo out; echo secret >&2; exit 1`:          FailureExit,
		`echo out; echo secret >&2; kill -9 $$`:      FailureSignal,
		`echo out; echo secret >&2; sleep 60`:        FailureTimeout,
		`echo out secret`:                            FailureOutput,
		`/nonexistent/secret/program`:                FailureExit,
		`head -c 1100000 /dev/zero; echo secret >&2`: FailureOutput,
	} {
		h := command("h", Command{Line: line})
		h.FailMode, h.Timeout = FailBlock, 20*time.Second
		if kind == FailureTimeout {
			h.Timeout = time.Second
		}
		d := evaluate(t, newRuntime(t, nil, h), &PreToolUse{ToolName: "T"})
		s := slices.Collect(d.Steps())[0]
		require.NotNil(t, s.Failure, line)
		assert.Equal(t, kind, s.Failure.Kind, line)
		assert.Equal(t, `[Tool execution blocked] Hook "h" failed (`+string(kind)+`).`, d.ForModel())
		assert.Contains(t, s.Stdout+s.Stderr, "secret", line)
		if kind == FailureExit {
			assert.NotNil(t, s.ExitCode)
		}
	}
	h := command("h", Command{Line: "true", Dir: "/nonexistent/folder"})
	d := evaluate(t, newRuntime(t, nil, h), &PreToolUse{ToolName: "T"})
	assert.Equal(t, FailureStart, slices.Collect(d.Steps())[0].Failure.Kind)
}

// TestHardenedSalvage is QRK-8 through real processes.
func TestHardenedSalvage(t *testing.T) {
	const block = `echo '{"ok":false,"reason":"R"}'`
	for line, want := range map[string][2]string{
		block + `; exit 1`:                    {"pass exit", "reject R exit"},
		`echo banner; ` + block:               {"pass output", "reject R output"},
		block + `; exit 2`:                    {"reject Blocked by hook", "reject R"},
		block + `; echo S >&2; exit 2`:        {"reject S", "reject S"},
		`echo '{"reason":"only"}'; exit 2`:    {"reject Blocked by hook", "reject only"},
		block + `; kill -9 $$`:                {"pass signal", "pass signal"},
		block + `; head -c 1100000 /dev/zero`: {"pass output", "pass output"},
		`echo '{"hookSpecificOutput":{"permissionDecision":"ask"}}'; exit 1`: {"pass exit", "pass exit"},
	} {
		for c, want := range map[Conduct]string{Contract: want[0], Hardened: want[1]} {
			h := command("h", Command{Line: line})
			h.FailMode = FailAllow
			d := evaluate(t, newRuntime(t, &Options{Conduct: c}, h), &PreToolUse{ToolName: "T"})
			got := d.Outcome.String() + " " + d.Reason
			if f := slices.Collect(d.Steps())[0].Failure; f != nil {
				got = strings.TrimSpace(got) + " " + string(f.Kind)
			}
			assert.Equal(t, want, strings.TrimSpace(got), "%v: %s", c, line)
		}
	}
}

// TestInputNeverBecomesArguments is F32 and F33: no payload in the process
// list or the environment.
func TestInputNeverBecomesArguments(t *testing.T) {
	h := command("h", Command{Line: `tr '\0' ' ' </proc/$$/cmdline; env; exit 1`})
	d := evaluate(t, newRuntime(t, nil, h), &PreToolUse{ToolName: "T", ToolInput: json.RawMessage(`{"command":"canary\u0000` + strings.Repeat("x", 200_000) + `"}`)})
	s := slices.Collect(d.Steps())[0]
	if runtime.GOOS == "linux" {
		require.Contains(t, s.Stdout, "bash")
	}
	assert.NotContains(t, s.Stdout, "canary")
}
