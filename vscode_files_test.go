package hooks_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookruntime/hooks"
)

// Files of one name in several folders add up, and New takes their hooks.
func TestVSCodeFilesAddUp(t *testing.T) {
	one := &fstest.MapFile{Data: []byte(`{"hooks": {"SessionStart": [{"type": "command", "command": "true", "timeout": 2.5, "env": {"A": "b=c"}}]}}`)}
	files := fstest.MapFS{"a/hooks.json": one, "b/hooks.json": one}
	all, warnings, err := hooks.VSCode.LoadFS(files, hooks.TierUserGlobal, "a", "b/hooks.json")
	require.NoError(t, err)
	assert.Empty(t, warnings)
	require.Len(t, all, 2)
	assert.Equal(t, "hooks/SessionStart/1", all[0].Name)
	assert.Equal(t, "hooks/SessionStart/2", all[1].Name)
	assert.Equal(t, hooks.OnStart, all[0].On)
	assert.Equal(t, hooks.VSCode, all[0].Dialect)
	assert.Equal(t, "2.5s", all[0].Timeout.String())
	assert.Equal(t, []string{"A=b=c"}, all[0].Run.(hooks.Command).Env)
	_, err = hooks.New(all, nil)
	require.NoError(t, err)

	found, ds := hooks.Check([]string{"a"}, &hooks.CheckOptions{Dialect: hooks.VSCode, FS: files})
	assert.Empty(t, ds)
	require.Len(t, found, 1)
	assert.Equal(t, hooks.TierUserGlobal, found[0].Tier)
}

// Host code switches dialect by changing one value.
func ExampleDialect() {
	dialect := hooks.VSCode
	file := []byte(`{"hooks": {"PreToolUse": [{"type": "command", "command": "echo Not today >&2; exit 2"}]}}`)
	policy, _, err := dialect.Parse(hooks.TierUserGlobal, "hooks.json", file)
	if err != nil {
		panic(err)
	}
	d := decide(&hooks.PreToolUse{ToolName: "editFiles"}, policy...)
	fmt.Printf("%s: %s\n", d.Outcome, d.Reason)
	// Output:
	// deny: Not today
}

func ExampleDialect_ParseEvent() {
	ev, err := hooks.VSCode.ParseEvent([]byte(`{"hook_event_name": "SessionStart", "session_id": "s1", "source": "new"}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(ev.EventName(), hooks.CommonOf(ev).SessionID)
	// Output:
	// Start s1
}

func ExampleDialect_Load() {
	policy, warnings, err := hooks.VSCode.Load(hooks.TierUserGlobal, "examples/vscode/hooks")
	if err != nil {
		panic(err)
	}
	for _, h := range policy {
		fmt.Println(h.Name)
	}
	fmt.Println(len(warnings), "warnings")
	// Output:
	// context/SessionStart/1
	// finish/Stop/1
	// policy/PreToolUse/1
	// policy/PreToolUse/2
	// policy/PostToolUse/1
	// 0 warnings
}

func ExampleDialect_EncodeEvent() {
	data, err := hooks.VSCode.EncodeEvent(&hooks.UserPromptSubmit{Prompt: "hello"})
	if err != nil {
		panic(err)
	}
	_, rest, _ := strings.Cut(string(data), ",") // behind the timestamp
	fmt.Println(strings.TrimSpace(rest))
	// Output:
	// "hook_event_name":"UserPromptSubmit","prompt":"hello"}
}
