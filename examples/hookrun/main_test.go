package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ran is what one run of the program came to.
type ran struct {
	code           int
	stdout, stderr string
}

// hookrun runs the program in this process.
func hookrun(stdin string, args ...string) ran {
	var stdout, stderr bytes.Buffer
	code := run(args, strings.NewReader(stdin), &stdout, &stderr)
	return ran{code, stdout.String(), stderr.String()}
}

// folder writes files into a new folder and returns a function that names them.
func folder(t *testing.T, files map[string]string) func(string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return func(name string) string { return filepath.Join(dir, name) }
}

// hook is a hook file; the body is indented as spec.hook is.
func hook(name, event, body string) string {
	return "api_version: azuresre.ai/v2\nkind: Hook\nmetadata:\n  name: " + name +
		"\nspec:\n  eventType: " + event + "\n  activationMode: always\n  hook:\n    " +
		strings.ReplaceAll(body, "\n", "\n    ") + "\n"
}

func says(name, answer string) string {
	return hook(name, "PreToolUse", "type: command\nmatcher: Bash\ncommand: |\n  echo '"+answer+"'")
}

// failedClean is a run that told its errors on stderr alone.
func failedClean(t *testing.T, r ran, texts ...string) {
	t.Helper()
	assert.Equal(t, exitError, r.code)
	assert.Empty(t, r.stdout)
	for _, text := range texts {
		assert.Contains(t, r.stderr, text)
	}
}

const call = `{"hook_event_name":"PreToolUse","agent_name":"meta_agent","tool_name":"Bash","tool_input":{"command":"a && b <c>"}}`

func TestUsage(t *testing.T) {
	for _, tt := range []struct {
		args string
		want []string
	}{
		{"", []string{"no hooks: name hook files with -system, -agent or -user", "run hookrun -help"}},
		{"-nosuch", []string{"flag provided but not defined: -nosuch"}},
		{"-user", []string{"flag needs an argument: -user"}},
		{"-user a.yaml one.json two.json", []string{"one payload is evaluated at a time, not 2: one.json two.json"}},
		{"-user a.yaml -update -tools A", []string{"-update means nothing to evaluate a payload", "-tools means nothing to evaluate a payload"}},
		{"-check", []string{"-check needs hook files or folders"}},
		{"-check -child a.yaml", []string{"-child means nothing with -check"}},
		{"-test", []string{"-test needs a folder or files with stories"}},
		{"-test dir -json", []string{"-json means nothing with -test"}},
		{"-schema file", []string{"-schema takes no argument, not file"}},
	} {
		t.Run(tt.args, func(t *testing.T) {
			failedClean(t, hookrun("", strings.Fields(tt.args)...), tt.want...)
		})
	}
}

func TestHelp(t *testing.T) {
	r := hookrun("", "-help")
	assert.Equal(t, ran{exitProceeds, helpText, ""}, r)
	o, err := parseArgs([]string{"-user", "x"})
	require.NoError(t, err)
	assert.Equal(t, "run", o.mode())
	for _, flags := range fits {
		for _, name := range flags {
			assert.Contains(t, helpText, "-"+name, "every flag is in the help")
		}
	}
}

// What the help shows works as it is shown.
func TestHelpExample(t *testing.T) {
	block := func(begin, end string) string {
		_, rest, ok := strings.Cut(helpText, begin)
		require.True(t, ok, begin)
		text, _, ok := strings.Cut(begin+rest, end)
		require.True(t, ok, end)
		return strings.ReplaceAll(text, "\n       ", "\n") + "\n"
	}
	path := folder(t, map[string]string{
		"guard.yaml":      block("api_version:", "\n\n     The script"),
		"call.json":       block(`{"hook_event_name": "PreToolUse"`, "\n\n  4."),
		"guard_test.yaml": block("story:", "\n\n     The whole"),
	})
	r := hookrun("", "-check", path("guard.yaml"))
	assert.Equal(t, exitProceeds, r.code)
	assert.Empty(t, r.stderr)
	r = hookrun("", "-user", path("guard.yaml"), path("call.json"))
	assert.Equal(t, exitBlocked, r.code, r.stderr)
	assert.Contains(t, r.stdout, "PreToolUse RunInTerminal: reject, decided by guard")
	r = hookrun("", "-test", path(""))
	assert.Equal(t, exitProceeds, r.code, r.stderr)
	assert.Contains(t, r.stdout, "1 passed, 0 failed\n")
}

func TestSchema(t *testing.T) {
	r := hookrun("", "-schema")
	assert.Equal(t, exitProceeds, r.code)
	assert.Empty(t, r.stderr)
	assert.True(t, json.Valid([]byte(r.stdout)))
	assert.Contains(t, r.stdout, "https://json-schema.org/draft/2020-12/schema")
}

// The exit codes are those of the built program.
func TestBuiltProgram(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs the go command")
	}
	path := folder(t, map[string]string{
		"deny.yaml": says("guard", `{"hookSpecificOutput": {"permissionDecision": "deny"}}`),
		"ask.yaml":  says("guard", `{"hookSpecificOutput": {"permissionDecision": "ask"}}`),
		"call.json": call,
	})
	program := path("hookrun.exe") // Windows wants the extension, nobody else minds
	out, err := exec.Command(goTool, "build", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	for file, want := range map[string]int{"deny.yaml": exitBlocked, "ask.yaml": exitAsk, "nosuch.yaml": exitError} {
		cmd := exec.Command(program, "-system", path(file), path("call.json"), "-json")
		stdout, _ := cmd.Output()
		assert.Equal(t, want, cmd.ProcessState.ExitCode(), file)
		assert.Equal(t, want != exitError, json.Valid(stdout), file)
	}
}
