package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestModelCommand(t *testing.T) {
	path := folder(t, map[string]string{
		"judge.yaml": hook("judge", "PreToolUse", "type: prompt\nmatcher: Bash\nmodel: small\nfailMode: block\nprompt: 'ok? $ARGUMENTS'"),
		"quick.yaml": hook("judge", "PreToolUse", "type: prompt\nmatcher: Bash\ntimeout: 1\nprompt: 'ok? $ARGUMENTS'"),
		"trace.json": `["seen"]`,
	})
	for _, tt := range []struct {
		name, command, file string
		args                []string
		outcome, failure    string
		reason              string
	}{
		{name: "passes", command: `echo '{"ok": true}'`, outcome: "pass"},
		{name: "rejects", command: `echo '{"ok": false, "reason": "No."}'`, outcome: "reject", reason: "No."},
		{name: "fenced", command: "printf '```json\\n{\"ok\": false}\\n```\\n'", args: []string{"-hardened"}, outcome: "reject", reason: "Hook rejected the action without providing a reason."},
		{name: "gets the prompt", command: `grep -q '^ok? {.*"tool_name":"Bash"' && echo '{"ok": true}'`, args: []string{"-hardened"}, outcome: "pass"},
		{name: "gets the model", command: `echo "{\"ok\": false, \"reason\": \"$HOOK_MODEL\"}"`, outcome: "reject", reason: "small"},
		{name: "gets the trajectory", command: `[ "$(cat "$HOOK_TRAJECTORY")" = '["seen"]' ] && echo '{"ok": false, "reason": "read"}'`, args: []string{"-trajectory", path("trace.json")}, outcome: "reject", reason: "read"},
		{name: "gets no trajectory", command: `echo "{\"ok\": false, \"reason\": \"[$HOOK_TRAJECTORY]\"}"`, outcome: "reject", reason: "[]"},
		{name: "fails", command: `echo '{"ok": true}'; echo down >&2; exit 7`, args: []string{"-hardened"}, outcome: "reject", failure: "model", reason: `Hook "judge" failed (model).`},
		{name: "fails as documented", command: `echo '{"ok": false}'; exit 7`, outcome: "pass", failure: "model"},
		{name: "is killed", command: `kill -9 $$`, outcome: "pass", failure: "model"},
		{name: "is not found", command: `no-such-program`, outcome: "pass", failure: "model"},
		{name: "says nothing", command: `true`, outcome: "pass", failure: "output"},
		{name: "says too much", command: `printf '{"ok": true}'; head -c 2000000 /dev/zero | tr '\0' ' '`, args: []string{"-hardened"}, outcome: "reject", failure: "output", reason: `Hook "judge" failed (output).`},
		{name: "is late", command: `sleep 60 & sleep 60; echo '{"ok": false}'`, file: "quick.yaml", outcome: "pass", failure: "timeout"},
		{name: "is late, hardened", command: `sleep 60`, file: "quick.yaml", args: []string{"-hardened"}, outcome: "reject", failure: "timeout", reason: `Hook "judge" failed (timeout).`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := tt.file
			if file == "" {
				file = "judge.yaml"
			}
			start := time.Now()
			r := hookrun(call, append(tt.args, "-json", "-user", path(file), "-model-cmd", tt.command)...)
			assert.Less(t, time.Since(start), 30*time.Second, "what the command started is killed with it")
			d := decode(t, r)
			require.Len(t, d.Steps, 1)
			assert.Equal(t, tt.outcome, d.Outcome, "%+v", d)
			assert.Equal(t, tt.failure, d.Steps[0].Failure)
			assert.Equal(t, tt.reason, d.Reason)
		})
	}
}

// The command finds in its environment what the user has there.
func TestModelCommandEnvironment(t *testing.T) {
	t.Setenv("MY_LLM_KEY", "secret")
	path := folder(t, map[string]string{
		"judge.yaml": hook("judge", "PreToolUse", "type: prompt\nmatcher: Bash\nprompt: ok?"),
	})
	r := hookrun(call, "-json", "-user", path("judge.yaml"), "-model-cmd", `[ "$MY_LLM_KEY" = secret ] && echo '{"ok": false, "reason": "found"}'`)
	assert.Equal(t, "found", decode(t, r).Reason)
}
