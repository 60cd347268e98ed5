package hooks_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/hookruntime/hooks"
)

// CFG-5: one doubt per hook, and hooks that nothing can be said about.
func TestLint(t *testing.T) {
	tool := func(on hooks.EventName, matcher string) hooks.Hook {
		return hooks.Hook{Name: "h", On: on, Tier: hooks.TierUserGlobal, Matcher: matcher, Run: hooks.Command{Line: "./h"}}
	}
	with := func(h hooks.Hook, change func(*hooks.Hook)) hooks.Hook { change(&h); return h }
	prompt := func(on hooks.EventName, text string) hooks.Hook {
		return hooks.Hook{Name: "h", On: on, Tier: hooks.TierUserGlobal, Run: hooks.Prompt{Text: text}}
	}
	tools := []string{"Bash", "Edit", "mcp__srv__get"}
	for _, c := range []struct {
		hook hooks.Hook
		want string // severity, key and a part of the message; empty: nothing
	}{
		{tool(hooks.OnPreToolUse, "*"), ""},
		{tool(hooks.OnPreToolUse, "Bash|Other"), ""},
		{tool(hooks.OnPreToolUse, "mcp__.*"), ""},
		{tool(hooks.OnPreToolUse, "(?i)bash"), ""},
		{tool(hooks.OnPreToolUse, "^(?!mcp__).*$"), ""},
		{tool(hooks.OnStop, ""), ""},
		{prompt(hooks.OnStop, "Is it OK? $ARGUMENTS"), ""},
		{with(tool(hooks.OnPreToolUse, "*"), func(h *hooks.Hook) { h.Timeout = 5 * time.Minute }), ""},
		{with(tool(hooks.OnPreToolUse, "*"), func(h *hooks.Hook) { h.FailMode = hooks.FailBlock }), ""},
		{tool(hooks.OnPreToolUse, ""), "warning matcher never fires"},
		{tool(hooks.OnPreToolUse, "bash"), "warning matcher none of the tool names given, did you mean Bash?"},
		{tool(hooks.OnPreToolUse, "mcp__srv"), "warning matcher none of the tool names"},
		{tool(hooks.OnPreToolUse, "["), "warning matcher compared exactly"},
		{tool(hooks.OnPreToolUse, "a)|(b"), "warning matcher compared exactly"},
		{tool(hooks.OnPostToolUse, "(a"), "error matcher does not compile"},
		{with(tool(hooks.OnPostToolUse, "(a"), func(h *hooks.Hook) { h.Tier = hooks.TierAgent }), "warning matcher compared exactly"},
		{tool(hooks.OnPreToolUse, "Bash(git commit*)"), `warning matcher "Bash(git commit*)" can equal no tool name`},
		{tool(hooks.OnPreToolUse, "Bash "), "warning matcher white space"},
		{tool(hooks.OnPreToolUse, " Bash"), "warning matcher white space"},
		{tool(hooks.OnPreToolUse, "Bash, Edit"), "warning matcher none of the tool names"},
		{tool(hooks.OnPreToolUse, "Bash,Edit"), "warning matcher comma"},
		{tool(hooks.OnPreToolUse, "(x+x+)+y"), "warning matcher took too long"},
		{tool(hooks.OnStop, "Bash"), "warning matcher has no effect"},
		{tool(hooks.OnStart, "*"), "warning matcher has no effect"},
		{with(tool(hooks.OnPreToolUse, "*"), func(h *hooks.Hook) { h.Timeout = 301 * time.Second }), "warning timeout over 300 seconds"},
		{with(tool(hooks.OnStop, ""), func(h *hooks.Hook) { h.FailMode = hooks.FailBlock }), "warning failMode keeps the agent running"},
		{prompt(hooks.OnStop, "Is it fine? Look at the tokens. $ARGUMENTS"), "warning prompt never mentions ok"},
		{prompt(hooks.OnStart, "Say ok."), "warning type no effect"},
	} {
		name := fmt.Sprintf("%s %q", c.hook.On, c.hook.Matcher)
		names := tools
		if strings.Contains(c.want, "too long") {
			names = []string{strings.Repeat("x", 60)}
		}
		got := hooks.Lint([]hooks.Hook{c.hook}, names...)
		if c.want == "" {
			assert.Empty(t, got, name)
			continue
		}
		if assert.Len(t, got, 1, name) {
			f := strings.SplitN(c.want, " ", 3)
			assert.Equal(t, f[0], got[0].Severity.String(), name)
			assert.Equal(t, f[1], got[0].Key, name)
			assert.Contains(t, got[0].Message, f[2], name)
			assert.Equal(t, "h", got[0].Hook)
		}
	}
}

func ExampleLint() {
	guard := hooks.Hook{
		Name: "guard", On: hooks.OnPreToolUse, Tier: hooks.TierUserGlobal,
		Matcher: "runInTerminal", Run: hooks.Command{Line: "./guard"},
	}
	for _, d := range hooks.Lint([]hooks.Hook{guard}, "RunInTerminal", "ReadFile") {
		fmt.Println(d)
	}
	// Output:
	// warning: hook "guard": matcher "runInTerminal" matches none of the tool names given, did you mean RunInTerminal?
}
