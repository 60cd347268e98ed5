package main

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/hookruntime/hooks"
)

// goHooks are the host's own hooks. In Go a hook costs no process, sees the
// event as a value and may share state with its host, here the transcript.
func goHooks(t *transcript) []hooks.Hook {
	return []hooks.Hook{
		{
			Name: "stay-in-workspace", Tier: hooks.TierSystem,
			On: hooks.OnPreToolUse, Matcher: "ReadFile|CreateFile",
			FailMode: hooks.FailBlock, Run: hooks.Func(stayInWorkspace),
		},
		{
			Name: "audit", Tier: hooks.TierSystem,
			On: hooks.OnPostToolUse, Matcher: "*",
			FailMode: hooks.FailAllow, Run: audit(t),
		},
	}
}

// stayInWorkspace denies paths that lead out of the workspace. It is not the
// only control, as no hook should be: the tools themselves are confined.
func stayInWorkspace(_ context.Context, c hooks.Call) (hooks.Result, error) {
	var input struct {
		FilePath string `json:"filePath"`
	}
	ev := c.Event.(*hooks.PreToolUse)
	// An input that does not fit is refused as well: null has no path, and the
	// empty path is not local.
	if err := json.Unmarshal(ev.ToolInput, &input); err != nil || !filepath.IsLocal(input.FilePath) {
		return hooks.Deny("Paths must stay inside the workspace."), nil
	}
	return hooks.Pass(), nil
}

// audit reports what the PreToolUse hook "classify" found out about the call.
// Metadata of hooks is for reports; it is as trustworthy as the hooks are.
func audit(t *transcript) hooks.Func {
	return func(_ context.Context, c hooks.Call) (hooks.Result, error) {
		ev := c.Event.(*hooks.PostToolUse)
		class := "unknown"
		if ev.Resumed {
			class = "lost in the pause"
		}
		if raw := ev.Metadata.Get("quickstart_class"); raw != nil {
			if err := json.Unmarshal(raw, &class); err != nil {
				return hooks.Result{}, err
			}
		}
		t.line("audit: %s %s, class: %s", ev.CallID, ev.ToolName, class)
		return hooks.Pass(), nil
	}
}
