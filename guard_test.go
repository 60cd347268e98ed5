package hooks_test

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
	policy, _, err := hooks.Load(hooks.TierUserGlobal, "examples/hookrun/policy/guard.yaml")
	require.NoError(t, err)
	rt, err := hooks.New(policy, &hooks.Options{Conduct: hooks.Hardened})
	require.NoError(t, err)
	for command, want := range map[string]hooks.Outcome{
		`{"command":"ls"}`:           hooks.OutcomePass,
		`{"command":"rm -rf build"}`: hooks.OutcomeDeny,
	} {
		d, err := rt.Evaluate(t.Context(), &hooks.PreToolUse{ToolName: "RunInTerminal", ToolInput: json.RawMessage(command)})
		require.NoError(t, err)
		require.Equal(t, want, d.Outcome, d.Explain())
	}
}

// The README shows the hook and the test above.
func TestReadmeShowsTheGuard(t *testing.T) {
	for file, fence := range map[string]string{"examples/hookrun/policy/guard.yaml": "yaml", "guard_test.go": "go"} {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		found := false
		for _, block := range strings.Split(readme(t), "```"+fence+"\n")[1:] {
			text, _, _ := strings.Cut(block, "```")
			found = found || strings.Contains(strings.ReplaceAll(string(source), "\r\n", "\n"), text)
		}
		assert.True(t, found, "no %s block of the README stands in %s", fence, file)
	}
}
