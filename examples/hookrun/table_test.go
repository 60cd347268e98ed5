package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookruntime/hooks"
)

func TestGuard(t *testing.T) {
	all, _, err := hooks.Load(hooks.TierUserGlobal, "policy/guard.yaml")
	require.NoError(t, err)
	rt, err := hooks.New(all, nil)
	require.NoError(t, err)
	for command, want := range map[string]hooks.Outcome{
		"rm -rf build": hooks.OutcomeDeny,
		"ls":           hooks.OutcomePass,
	} {
		input, _ := json.Marshal(map[string]string{"command": command})
		d, err := rt.Evaluate(t.Context(), &hooks.PreToolUse{ToolName: "RunInTerminal", ToolInput: input})
		require.NoError(t, err)
		assert.Equal(t, want, d.Outcome, "%s\n%s", command, d.Explain())
	}
}

// What TESTING.md shows is what is tested here.
func TestDocumentation(t *testing.T) {
	doc, err := os.ReadFile("TESTING.md")
	require.NoError(t, err)
	for _, file := range []string{"table_test.go", "policy/guard_test.yaml"} {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		shown := string(data)
		if _, code, ok := strings.Cut(shown, "\nfunc TestGuard"); ok {
			code, _, _ = strings.Cut(code, "\n}\n")
			shown = "func TestGuard" + code + "\n}\n"
		}
		assert.Contains(t, string(doc), shown, file)
	}
	r := hookrun("", "-test", "policy")
	assert.Equal(t, exitProceeds, r.code)
	assert.Contains(t, r.stdout, "2 passed, 0 failed\n")
}
