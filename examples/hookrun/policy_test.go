package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPolicyTests(t *testing.T) {
	const guard = "hooks: {user: guard.yaml}\npayload: {hook_event_name: PreToolUse, tool_name: Bash}\n"
	path := folder(t, map[string]string{
		"guard.yaml":  says("guard", `{"ok": false, "reason": "No."}`),
		"a_test.yaml": "story: It rejects.\n" + guard + "want: {outcome: reject}\n---\nstory: It asks.\n" + guard + "# keep\nwant: {outcome: ask}\n",
		"b_test.yaml": "story: In both.\nconduct: both\n" + guard + "want: {outcome: reject}\n---\nstory: Elsewhere.\nneeds: [no-such-program]\n" + guard + "want: {outcome: pass}\n",
		"broken":      "story: s\n" + guard + "want: {outcom: pass}\n",
	})
	r := hookrun("", "-test", path(""))
	assert.Equal(t, exitError, r.code)
	assert.Empty(t, r.stderr)
	assert.Contains(t, r.stdout, "ok    "+path("a_test.yaml")+":1: It rejects.\n")
	assert.Contains(t, r.stdout, "FAIL  "+path("a_test.yaml")+":6: It asks.\n      outcome: want \"ask\", got \"reject\"\n      PreToolUse Bash: reject, decided by guard\n        reason: No.\n        HOOK ")
	assert.Contains(t, r.stdout, "ok    "+path("b_test.yaml")+":1: In both. (contract)\nok    "+path("b_test.yaml")+":1: In both. (hardened)\n")
	assert.Contains(t, r.stdout, "skip  "+path("b_test.yaml")+":7: Elsewhere.: needs no-such-program\n")
	assert.Contains(t, r.stdout, "\n3 passed, 1 failed, 1 skipped\n")

	r = hookrun("", "-test", path("b_test.yaml"))
	assert.Equal(t, exitProceeds, r.code)

	r = hookrun("", "-update", "-test", path(""))
	assert.Equal(t, exitProceeds, r.code)
	assert.Contains(t, r.stdout, "updated "+path("a_test.yaml")+"\nok ")
	assert.Contains(t, r.stdout, "\n4 passed, 0 failed, 1 skipped\n")
	data, err := os.ReadFile(path("a_test.yaml"))
	require.NoError(t, err)
	assert.Contains(t, string(data), "# keep\nwant:\n  outcome: reject\n")

	failedClean(t, hookrun("", "-test", path("broken")), path("broken")+`:4:8: error: unknown key "outcom"`)
	failedClean(t, hookrun("", "-test", path("nosuch")), path("nosuch")+": error: ")
}
