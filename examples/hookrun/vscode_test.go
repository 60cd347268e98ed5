package main

import (
	"encoding/json"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const vscodeExample = "examples/vscode/"

// inRoot runs the program in the root of the repository, where the example's
// hooks expect to be.
func inRoot(t *testing.T, args ...string) ran {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the words are those of bash")
	}
	t.Chdir("../..")
	return hookrun("", append([]string{"-dialect", "vscode"}, args...)...)
}

func TestVSCodeExampleCheck(t *testing.T) {
	r := inRoot(t, "-check", vscodeExample+"hooks")
	assert.Equal(t, exitProceeds, r.code, r.stderr)
	assert.Empty(t, r.stderr)
	assert.Contains(t, r.stdout, "command, vscode")
	assert.Contains(t, r.stdout, "policy/PostToolUse/1")
}

func TestVSCodeExamplePre(t *testing.T) {
	r := inRoot(t, "-json", "-user", vscodeExample+"hooks", vscodeExample+"payloads/pre.json")
	assert.Equal(t, exitBlocked, r.code, r.stderr)
	var d struct {
		Outcome, Reason, Context string
		UpdatedInput             json.RawMessage `json:"updated_input"`
		SystemMessages           []string        `json:"system_messages"`
		Steps                    []struct{ Hook, Dialect string }
	}
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &d), r.stdout)
	assert.Equal(t, "deny", d.Outcome)
	assert.Equal(t, "Destructive command blocked by policy", d.Reason)
	assert.Equal(t, "User has read-only access to production files", d.Context)
	assert.JSONEq(t, `{"files":["src/safe.ts"]}`, string(d.UpdatedInput))
	assert.Equal(t, []string{"Edits are reviewed."}, d.SystemMessages)
	assert.Equal(t, "vscode", d.Steps[0].Dialect)
}

func TestVSCodeExamplePost(t *testing.T) {
	r := inRoot(t, "-user", vscodeExample+"hooks", vscodeExample+"payloads/post.json")
	assert.Equal(t, exitBlocked, r.code, r.stderr)
	assert.Contains(t, r.stdout, "PostToolUse editFiles: reject, decided by policy/PostToolUse/1")
	assert.Contains(t, r.stdout, "the tool's result stays")
	assert.Contains(t, r.stdout, "context: Run the build before you go on")
}

func TestVSCodeExampleOthers(t *testing.T) {
	r := inRoot(t, "-user", vscodeExample+"hooks", vscodeExample+"payloads/stop.json")
	assert.Equal(t, exitBlocked, r.code)
	assert.Contains(t, r.stdout, "reason: Run the tests before you finish")
	r = hookrun("", "-dialect", "vscode", "-user", vscodeExample+"hooks", vscodeExample+"payloads/start.json")
	assert.Equal(t, exitProceeds, r.code)
	assert.Contains(t, r.stdout, "context: This repository uses tabs")
	r = hookrun(`{"hook_event_name": "Start"}`, "-dialect", "vscode", "-plan", "-user", vscodeExample+"hooks")
	assert.Equal(t, exitProceeds, r.code, "a payload of the contract is understood")
	assert.Contains(t, r.stdout, "context/SessionStart/1  user-global  command, vscode  planned")
}

// A payload that was captured elsewhere names a folder that is not here.
func TestVSCodeForeignFolder(t *testing.T) {
	at := folder(t, map[string]string{"h.json": `{"hooks": {"Stop": [{"type": "command", "command": "pwd >&2; exit 2"}]}}`})
	t.Chdir(at(""))
	r := hookrun(`{"hook_event_name": "Stop", "cwd": "/no/such/folder"}`, "-dialect", "vscode", "-user", "h.json")
	assert.Equal(t, exitBlocked, r.code, r.stderr)
	assert.Contains(t, r.stderr, `the payload's cwd "/no/such/folder" is no folder here`)
	r = hookrun(`{"hook_event_name": "Stop"}`, "-dialect", "klingon", "-user", "h.json")
	failedClean(t, r, "the dialects are hook-contract and vscode")
}

// A stop where the agent wanted to end anyway lets it end.
func TestVSCodeStopCodes(t *testing.T) {
	at := folder(t, map[string]string{"h.json": `{"hooks": {
		"Stop": [{"type": "command", "command": "echo '{\"continue\": false}'"}],
		"UserPromptSubmit": [{"type": "command", "command": "echo '{\"continue\": false}'"}]}}`})
	r := hookrun(`{"hook_event_name": "Stop"}`, "-dialect", "vscode", "-user", at("h.json"))
	assert.Equal(t, exitProceeds, r.code, r.stdout)
	r = hookrun(`{"hook_event_name": "UserPromptSubmit", "prompt": "x"}`, "-dialect", "vscode", "-user", at("h.json"))
	assert.Equal(t, exitBlocked, r.code, r.stdout)
	assert.Contains(t, r.stdout, "UserPromptSubmit: stop, decided by h/UserPromptSubmit/1")
}
