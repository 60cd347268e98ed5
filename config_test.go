package hooks_test

import (
	"embed"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookruntime/hooks"
)

//go:embed testdata/config
var configFiles embed.FS

func lineHook(name string, on hooks.EventName, line string) hooks.Hook {
	return hooks.Hook{Name: name, On: on, Run: hooks.Command{Line: line}}
}

func withTier(tier hooks.Tier, agent string, hs ...hooks.Hook) []hooks.Hook {
	for i := range hs {
		hs[i].Tier, hs[i].Agent = tier, agent
	}
	return hs
}

// CFG-1: the example of the contract text, every field, without a warning.
func TestLoadContractExample(t *testing.T) {
	got, warnings, err := hooks.Load(hooks.TierUserGlobal, "testdata/config/good/contract.yaml")
	require.NoError(t, err)
	assert.Empty(t, warnings)
	require.Len(t, got, 1)
	script := got[0].Run.(hooks.Command).Script
	assert.True(t, strings.HasPrefix(script, "#!/bin/bash\nset -euo pipefail\n\ncontext="), script)
	assert.True(t, strings.HasSuffix(script, "ok: true}'\nfi\n"), script)
	assert.Equal(t, hooks.Hook{
		Name: "block-restricted-skill", On: hooks.OnPreToolUse, Tier: hooks.TierUserGlobal,
		Matcher: "read_skill_file", Timeout: 30 * time.Second, FailMode: hooks.FailBlock,
		Run: hooks.Command{Script: script},
	}, got[0])
}

// CFG-2, CFG-3: an ExtendedAgent; what is not ours in it may hold aliases.
func TestLoadAgent(t *testing.T) {
	got, warnings, err := hooks.Load(hooks.TierAgent, "testdata/config/good/agent.yaml")
	require.NoError(t, err)
	assert.Empty(t, warnings)
	audit := lineHook("deployer/PostToolUse/1", hooks.OnPostToolUse, "./audit")
	audit.Matcher = "*"
	python := hooks.Hook{
		Name: "deployer/PreToolUse/1", On: hooks.OnPreToolUse, Matcher: "mcp__(get|list)_.*", FailMode: hooks.FailAllow,
		Run: hooks.Command{Script: "#!/usr/bin/env python3\nprint('{\"ok\": true}')\n"},
	}
	guard := lineHook("deployer/PreToolUse/2", hooks.OnPreToolUse, "./guard")
	guard.Matcher, guard.Timeout = "RunInTerminal", 5*time.Second
	judge := hooks.Hook{
		Name: "deployer/Stop/1", On: hooks.OnStop,
		Run: hooks.Prompt{Text: "Answer ok false until the work is done. $ARGUMENTS", Model: "fast", MaxRejections: 25},
	}
	assert.Equal(t, withTier(hooks.TierAgent, "deployer", audit, python, guard, judge), got)

	_, _, err = hooks.Load(hooks.TierUserGlobal, "testdata/config/good/agent.yaml")
	assert.ErrorContains(t, err, "agent.yaml:2:1: error: an ExtendedAgent belongs to tier agent, and its hooks cannot be loaded for tier user-global")
}

// CFG-2: hooks without a name are named after the file and numbered over all
// documents, in every tier.
func TestLoadBareMap(t *testing.T) {
	for _, tier := range []hooks.Tier{hooks.TierSystem, hooks.TierAgent, hooks.TierUserGlobal} {
		got, warnings, err := hooks.Load(tier, "testdata/config/good/bare.yaml")
		require.NoError(t, err)
		assert.Empty(t, warnings)
		assert.Equal(t, withTier(tier, "",
			lineHook("bare/Start/1", hooks.OnStart, "./context"),
			lineHook("bare/Stop/1", hooks.OnStop, "./one"),
			lineHook("bare/Stop/2", hooks.OnStop, "./two"),
			lineHook("bare/Stop/3", hooks.OnStop, "./three")), got)
	}
}

// CFG-2: the REST body, nulls as the interface returns them.
func TestLoadREST(t *testing.T) {
	got, warnings, err := hooks.Load(hooks.TierUserGlobal, "testdata/config/good/rest.json")
	require.NoError(t, err)
	assert.Empty(t, warnings)
	assert.Equal(t, []hooks.Hook{{
		Name: "ask-before-delete", On: hooks.OnPreToolUse, Tier: hooks.TierUserGlobal,
		Matcher: "^aws-mcp_(delete|terminate).*", OnDemand: true, Timeout: 5 * time.Minute, FailMode: hooks.FailBlock,
		Run: hooks.Command{Line: "./ask && true"},
	}}, got)
}

// CFG-2, CFG-3, F17: several documents; scalars are text where text is wanted.
func TestLoadSeveralDocuments(t *testing.T) {
	got, warnings, err := hooks.Load(hooks.TierSystem, "testdata/config/good/several.yaml")
	require.NoError(t, err)
	assert.Empty(t, warnings)
	start := lineHook("123", hooks.OnStart, "./start")
	start.Sources = []string{"Alert", "incident"}
	pre := lineHook("Yes", hooks.OnPreToolUse, "true")
	pre.Matcher, pre.OnDemand = "No", true
	assert.Equal(t, withTier(hooks.TierSystem, "", start, pre), got)
}

// A YAML file may be JSON inside, with a byte-order mark in front of either.
func TestParseJSONInYAML(t *testing.T) {
	data, err := os.ReadFile("testdata/config/good/rest.json")
	require.NoError(t, err)
	want, _, err := hooks.Parse(hooks.TierSystem, "rest.json", data)
	require.NoError(t, err)
	for _, name := range []string{"rest.yaml", "rest", "rest.JSON"} {
		got, _, err := hooks.Parse(hooks.TierSystem, name, append([]byte("\xef\xbb\xbf"), data...))
		require.NoError(t, err, name)
		assert.Equal(t, want, got, name)
	}
}

// F04: one bad hook, and none of the good ones is handed out.
func TestLoadAllOrNothing(t *testing.T) {
	const good = "testdata/config/good/contract.yaml"
	got, warnings, err := hooks.Load(hooks.TierUserGlobal, good,
		"testdata/config/bad/type-unknown.yaml", "testdata/config/bad/mode-missing.yaml", "testdata/config/missing.yaml")
	assert.Nil(t, got)
	assert.Len(t, warnings, 1, "the warnings come beside the errors")
	var ce *hooks.ConfigError
	require.ErrorAs(t, err, &ce)
	require.Len(t, ce.Diagnostics, 2, "the errors of all files: %v", err)
	assert.Equal(t, hooks.Diagnostic{
		Severity: hooks.SeverityError, File: filepath.FromSlash("testdata/config/bad/type-unknown.yaml"), Line: 10, Column: 5,
		Key: "spec.hook.type", Hook: "guard", Message: "type is bash; it must be command or prompt",
	}, ce.Diagnostics[0])
	assert.Contains(t, ce.Diagnostics[1].String(), "missing.yaml: error: cannot be opened: no such file")
}

func TestLoadNothing(t *testing.T) {
	for name, load := range map[string]func() error{
		"no file":       func() error { _, _, err := hooks.Load(hooks.TierSystem); return err },
		"empty folder":  func() error { _, _, err := hooks.Load(hooks.TierSystem, t.TempDir()); return err },
		"empty file":    func() error { _, _, err := hooks.Parse(hooks.TierSystem, "a.yaml", nil); return err },
		"only comments": func() error { _, _, err := hooks.Parse(hooks.TierSystem, "a.yaml", []byte("# nothing\n")); return err },
		"only x- keys":  func() error { _, _, err := hooks.Parse(hooks.TierSystem, "a.yaml", []byte("x-a: 1\n")); return err },
	} {
		assert.ErrorContains(t, load(), "no hooks", name)
	}
}

// CFG-3: there is no default tier.
func TestLoadRefusesTier(t *testing.T) {
	for _, tier := range []hooks.Tier{0, -1, hooks.TierUserGlobal + 1} {
		for _, load := range []func() ([]hooks.Hook, []hooks.Diagnostic, error){
			func() ([]hooks.Hook, []hooks.Diagnostic, error) {
				return hooks.Load(tier, "testdata/config/good/contract.yaml")
			},
			func() ([]hooks.Hook, []hooks.Diagnostic, error) {
				return hooks.LoadFS(configFiles, tier, "testdata/config/good/contract.yaml")
			},
			func() ([]hooks.Hook, []hooks.Diagnostic, error) {
				return hooks.Parse(tier, "a.yaml", []byte("hooks: {Stop: [{type: command, command: a}]}"))
			},
		} {
			got, _, err := load()
			assert.Nil(t, got)
			assert.ErrorContains(t, err, "TierSystem, TierAgent or TierUserGlobal")
		}
	}
}

// CFG-4: the host's own tier may use the reserved prefix.
func TestSystemPrefix(t *testing.T) {
	data, err := os.ReadFile("testdata/config/bad/name-system.yaml")
	require.NoError(t, err)
	got, _, err := hooks.Parse(hooks.TierSystem, "a.yaml", data)
	require.NoError(t, err)
	assert.Equal(t, "system__guard", got[0].Name)
}

func TestLoadFolder(t *testing.T) {
	const folder = "testdata/config/folder"
	got, warnings, err := hooks.Load(hooks.TierUserGlobal, folder)
	require.NoError(t, err)
	var names []string
	for _, h := range got {
		names = append(names, h.Name)
	}
	assert.Equal(t, []string{"10-start/Start/1", "20-stop/Stop/1", "30-more/Start/1"}, names)
	require.Len(t, warnings, 1)
	assert.Equal(t, filepath.Join(folder, ".hidden.yaml"), warnings[0].File)

	inFS, fsWarnings, err := hooks.LoadFS(os.DirFS("."), hooks.TierUserGlobal, folder)
	require.NoError(t, err)
	assert.Equal(t, got, inFS)
	assert.Len(t, fsWarnings, 1)
}

func TestLoadFS(t *testing.T) {
	got, _, err := hooks.LoadFS(configFiles, hooks.TierUserGlobal, "testdata/config/good/contract.yaml", "testdata/config/folder")
	require.NoError(t, err)
	assert.Len(t, got, 4)

	fsys := fstest.MapFS{"a/x.yaml": {Data: []byte("hooks: {Stop: [{type: comand}]}")}, "a/link.yaml/y": {}}
	_, _, err = hooks.LoadFS(fsys, hooks.TierUserGlobal, "a")
	assert.ErrorContains(t, err, "a/x.yaml:1:17: error: type is comand")
	_, _, err = hooks.LoadFS(fsys, hooks.TierUserGlobal, "b")
	assert.ErrorContains(t, err, "b: error: cannot be opened: file does not exist")
}

func TestLoadHugeFile(t *testing.T) {
	fsys := fstest.MapFS{"a.yaml": {Data: make([]byte, 5<<20)}}
	_, _, err := hooks.LoadFS(fsys, hooks.TierUserGlobal, "a.yaml")
	assert.ErrorContains(t, err, "larger than 4 MiB")
}

// CFG-4, F49: names are unique over all files of a call, in their tier and
// agent.
func TestDuplicateNames(t *testing.T) {
	const good = "testdata/config/good/contract.yaml"
	_, _, err := hooks.Load(hooks.TierUserGlobal, good, "testdata/config/good/rest.json", good)
	assert.ErrorContains(t, err, good+":4:3: error: name \"block-restricted-skill\" is used twice in tier user-global, in "+good+":4 and in "+good+":4")

	// Agent hooks are numbered on, so that two files of one agent add up.
	got, _, err := hooks.Load(hooks.TierAgent, "testdata/config/good/agent.yaml", "testdata/config/good/agent.yaml")
	require.NoError(t, err)
	assert.Equal(t, "deployer/Stop/2", got[len(got)-1].Name)
}

// What circulates loads or is refused exactly as the contract says, and
// nothing looks as if it worked.
func TestWildFiles(t *testing.T) {
	wantErrors := `snake.yaml:4:3: error: eventType is missing, did you mean it by event_type? it must be Start, PreToolUse, PostToolUse or Stop [spec.eventType → eventType]
`
	wantWarnings := `snake.yaml:1:1: warning: kind is missing; Hook is taken [kind]
snake.yaml:1:1: warning: api_version is missing; azuresre.ai/v2 is taken [api_version]
snake.yaml:3:1: warning: activationMode is missing, always is taken; it must be always or onDemand [spec.activationMode]
snake.yaml:4:3: warning: unknown key event_type, did you mean eventType? [spec.event_type → eventType]
snake.yaml:5:3: warning: unknown key activation_mode, did you mean activationMode? [spec.activation_mode → activationMode]
snake.yaml:6:3: warning: unknown key enabled has no effect: the hook is NOT disabled by it; remove the hook, or set activationMode: onDemand [spec.enabled]
snake.yaml:7:3: warning: unknown key permissionDecision has no effect: a hook denies, asks or allows by what its command answers (hookSpecificOutput.permissionDecision), not by its configuration [spec.permissionDecision]
snake.yaml:11:5: warning: unknown key fail_mode, did you mean failMode? [spec.hook.fail_mode → failMode]
snake.yaml:12:5: warning: unknown key max_rejections, did you mean maxRejections? [spec.hook.max_rejections → maxRejections]
`
	fsys := os.DirFS("testdata/config/wild")
	got, warnings, err := hooks.LoadFS(fsys, hooks.TierUserGlobal, "snake.yaml")
	assert.Nil(t, got)
	assert.Equal(t, wantErrors, renderFindings(err.(*hooks.ConfigError).Diagnostics))
	assert.Equal(t, wantWarnings, renderFindings(warnings))

	got, warnings, err = hooks.LoadFS(fsys, hooks.TierUserGlobal, "readable.yaml")
	require.NoError(t, err)
	watch := lineHook("watch-sql", hooks.OnPostToolUse, "./watch")
	watch.Matcher, watch.FailMode = ".*sql.*|.*SQL.*|.*mssql.*", hooks.FailAllow
	assert.Equal(t, withTier(hooks.TierUserGlobal, "", watch), got)
	assert.Equal(t, `readable.yaml:1:1: warning: api_version is missing; azuresre.ai/v2 is taken [api_version]
readable.yaml:7:3: warning: unknown key enabled has no effect: the hook is NOT disabled by it; remove the hook, or set activationMode: onDemand [spec.enabled]
readable.yaml:8:3: warning: unknown key permissionDecision has no effect: a hook denies, asks or allows by what its command answers (hookSpecificOutput.permissionDecision), not by its configuration [spec.permissionDecision]
readable.yaml:13:5: warning: unknown key fail_mode, did you mean failMode? [spec.hook.fail_mode → failMode]
`, renderFindings(warnings))
}

func renderFindings(ds []hooks.Diagnostic) string {
	var b strings.Builder
	for _, d := range ds {
		b.WriteString(renderFinding(d))
	}
	return b.String()
}

// CFG-3: a check takes the tier from the shape, finds hooks beside errors, and
// knows the host's tools.
func TestCheck(t *testing.T) {
	got, findings := hooks.Check([]string{
		"testdata/config/good/agent.yaml", "testdata/config/good/contract.yaml",
		"testdata/config/good/bare.yaml", "testdata/config/bad/type-unknown.yaml",
	}, nil)
	tiers := map[string]hooks.Tier{}
	for _, h := range got {
		tiers[h.Name] = h.Tier
	}
	assert.Equal(t, map[string]hooks.Tier{
		"deployer/PostToolUse/1": hooks.TierAgent, "deployer/PreToolUse/1": hooks.TierAgent,
		"deployer/PreToolUse/2": hooks.TierAgent, "deployer/Stop/1": hooks.TierAgent,
		"block-restricted-skill": hooks.TierUserGlobal,
		"bare/Start/1":           hooks.TierAgent, "bare/Stop/1": hooks.TierAgent, "bare/Stop/2": hooks.TierAgent, "bare/Stop/3": hooks.TierAgent,
	}, tiers)
	require.Len(t, findings, 1)
	assert.Equal(t, "spec.hook.type", findings[0].Key)

	got, findings = hooks.Check([]string{"testdata/config/good/contract.yaml"}, &hooks.CheckOptions{
		Tier: hooks.TierSystem, ToolNames: []string{"Bash", "ReadSkillFile"}, FS: configFiles,
	})
	assert.Equal(t, hooks.TierSystem, got[0].Tier)
	assert.Equal(t, `testdata/config/good/contract.yaml:11:5: warning: matcher "read_skill_file" matches none of the tool names given, did you mean ReadSkillFile? [spec.hook.matcher → ReadSkillFile]
`, renderFindings(findings))

	got, findings = hooks.Check([]string{"testdata/config/good/contract.yaml"}, &hooks.CheckOptions{Tier: 7})
	assert.Empty(t, got)
	assert.Contains(t, findings[0].Message, "Tier(7) is no tier")

	got, findings = hooks.Check([]string{"testdata/config/bad/key-merge.yaml"}, nil)
	assert.Empty(t, got, "a hook that is read in part is not handed out")
	assert.Len(t, findings, 1)
}
