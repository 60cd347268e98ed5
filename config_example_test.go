package hooks_test

import (
	"fmt"

	"github.com/hookruntime/hooks"
)

func ExampleLoad() {
	loaded, warnings, err := hooks.Load(hooks.TierUserGlobal, "testdata/config/good/contract.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(warnings), "warnings")
	for _, h := range loaded {
		fmt.Println(h.Name, h.On, h.Tier, h.Matcher, h.FailMode)
	}
	// Output:
	// 0 warnings
	// block-restricted-skill PreToolUse user-global read_skill_file block
}

func ExampleLoadFS() {
	loaded, _, err := hooks.LoadFS(configFiles, hooks.TierAgent, "testdata/config/folder")
	fmt.Println(len(loaded), err)
	// Output: 3 <nil>
}

func ExampleParse() {
	_, warnings, err := hooks.Parse(hooks.TierUserGlobal, "guard.yaml", []byte(`
api_version: azuresre.ai/v2
kind: Hook
metadata:
  name: guard
spec:
  eventType: BeforeTool
  activationMode: always
  hook:
    type: command
    matcher: RunInTerminal
    fail_mode: block
    command: ./guard
`))
	fmt.Println(err)
	for _, w := range warnings {
		fmt.Println(w)
	}
	// Output:
	// hooks: guard.yaml:7:3: error: eventType is BeforeTool; it must be Start, PreToolUse, PostToolUse or Stop
	// guard.yaml:12:5: warning: unknown key fail_mode, did you mean failMode?
}

func ExampleCheck() {
	found, findings := hooks.Check([]string{"testdata/config/wild/readable.yaml", "testdata/config/bad/type-misspelled.yaml"},
		&hooks.CheckOptions{ToolNames: []string{"RunInTerminal", "mssql_query"}})
	fmt.Println(len(found), "hook,", len(findings), "findings")
	fmt.Println(findings[0])
	// Output:
	// 1 hook, 5 findings
	// testdata/config/bad/type-misspelled.yaml:10:5: error: type is comand; it must be command or prompt, did you mean command?
}
