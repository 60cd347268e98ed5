package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheck(t *testing.T) {
	path := folder(t, map[string]string{
		"good.yaml":  hook("guard", "PreToolUse", "type: command\nmatcher: Bash\ntimeout: 5\nfailMode: block\ncommand: exit 0"),
		"agent.yaml": "api_version: azuresre.ai/v2\nkind: ExtendedAgent\nmetadata: {name: helper}\nspec:\n  hooks:\n    Stop:\n      - {type: prompt, prompt: 'ok?'}\n",
		"bad.yaml":   hook("bad", "PreToolUse", "type: command\nmatcher: Bsh\nfail_mode: block\ncomand: exit 0"),
	})
	r := hookrun("", "-check", path("good.yaml"), path("agent.yaml"), "-tools", "Bash,ReadFile")
	assert.Equal(t, exitProceeds, r.code)
	assert.Empty(t, r.stderr)
	assert.Equal(t, []string{
		"NAME           TIER         EVENT       MATCHER  TYPE     TIMEOUT  FAILMODE  ACTIVATION",
		"guard          user-global  PreToolUse  Bash     command  5s       block     always",
		"helper/Stop/1  agent        Stop        -        prompt   30s      not set   always",
	}, strings.Split(strings.TrimSpace(r.stdout), "\n"))

	r = hookrun("", "-check", path("bad.yaml"), "-system", path("good.yaml"), "-tools=Bash")
	assert.Equal(t, exitError, r.code)
	assert.Contains(t, r.stderr, path("bad.yaml")+":11:5: warning: unknown key fail_mode, did you mean failMode?")
	assert.Contains(t, r.stderr, "error: neither command nor script is given")
	assert.Contains(t, r.stdout, "guard  system ")
	assert.NotContains(t, r.stdout, "bad")

	r = hookrun("", "-json", "-check", path("bad.yaml"), path("agent.yaml"))
	assert.Equal(t, exitError, r.code)
	assert.Empty(t, r.stderr)
	var got map[string][]map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &got))
	assert.Equal(t, []map[string]any{{
		"name": "helper/Stop/1", "tier": "agent", "agent": "helper", "event": "Stop", "matcher": "",
		"type": "prompt", "timeout": 30.0, "fail_mode": "", "activation": "always",
	}}, got["hooks"])
	found := false
	for _, d := range got["diagnostics"] {
		if d["suggestion"] == "failMode" {
			found = true
			assert.Equal(t, path("bad.yaml"), d["file"])
			assert.Equal(t, 11.0, d["line"])
			assert.Equal(t, 5.0, d["column"])
			assert.Equal(t, "spec.hook.fail_mode", d["key"])
			assert.Equal(t, "warning", d["severity"])
			assert.NotEmpty(t, d["message"])
		}
	}
	assert.True(t, found, r.stdout)

	r = hookrun("", "-json", "-check", path("nosuch.yaml"))
	assert.Equal(t, exitError, r.code)
	assert.Contains(t, r.stdout, `"hooks":[]`)
	r = hookrun("", "-check="+path("good.yaml"), "-json")
	assert.Contains(t, r.stdout, `"diagnostics":[]`)
	assert.Equal(t, exitProceeds, r.code)

	r = hookrun("", "-check", path("good.yaml"), "-tools", "bash RunInTerminal")
	assert.Contains(t, r.stderr, "matches none of the tool names given")
	assert.Equal(t, exitProceeds, r.code, "a warning is no error")
}
