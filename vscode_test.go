package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookruntime/hooks/internal/proc"
)

// readVSCode reads stdout as a hook of the event that exited with 0.
func readVSCode(on EventName, stdout string) (Step, answer) {
	out := &proc.Capture{Head: 1 << 20}
	_, _ = out.Write([]byte(stdout))
	a := newVSCodeReader(on.row(), Contract, Limits{}.withDefaults()).exited(0, out, &proc.Capture{})
	s := Step{Dialect: VSCode, On: on}
	s.hear(on.row(), Contract, &a.result)
	return s, a
}

// FuzzVSCodeAnswer looks for answers that break what holds of every answer:
//
//   - reading never panics and never fails: exit 0 is an opinion or nothing;
//   - what is not exactly one JSON object says nothing;
//   - an answer without the word allow never allows (escapes spell no word here:
//     they are excluded);
//   - an unknown key, added at either level, changes nothing that is heard;
//   - a deny, a block or a stop that is not heard leaves a note.
func FuzzVSCodeAnswer(f *testing.F) {
	for _, s := range []string{
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"x","updatedInput":{"files":["src/safe.ts"]},"additionalContext":"y"}}`,
		`{"continue":false,"stopReason":"x","systemMessage":"y"}`,
		`{"decision":"block","reason":"x"}`,
		`{"hookSpecificOutput":{"permissionDecision":"allow","additionalContext":5}}`,
		`{"hookEventName":"Stop","hookSpecificOutput":null}`,
		`text {"decision":"block"}`, `[]`, `{}`, ``,
	} {
		for i := range VSCode.Events() {
			f.Add(s, i)
		}
	}
	f.Fuzz(func(t *testing.T, text string, event int) {
		on := VSCode.Events()[uint(event)%8]
		s, a := readVSCode(on, text)
		require.Nil(t, a.failure)
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &object); err != nil && !strings.HasPrefix(text, "\ufeff") && !strings.ContainsAny(text, "\\") && isASCII(text) {
			require.Equal(t, Result{}, a.result, "%v", err)
		}
		if s.heard == OutcomeAllow && !strings.Contains(text, `\`) {
			require.Contains(t, text, "allow")
		}
		for _, word := range []string{`"deny"`, `"block"`, `"continue":false`} {
			if strings.Contains(text, word) && object != nil && s.heard == OutcomePass && len(a.notes) == 0 {
				// It stands where nobody looks: in a text, or under a key that is
				// not known.
				require.False(t, statesPlainly(object, word), text)
			}
		}
		for _, at := range []string{"{", `"hookSpecificOutput":{`} {
			if i := strings.Index(text, at); object != nil && i >= 0 && strings.TrimSpace(text[i+len(at):]) != "" {
				more := text[:i+len(at)] + `"x-added":1,` + text[i+len(at):]
				if !json.Valid([]byte(more)) {
					continue // into an empty object
				}
				again, _ := readVSCode(on, more)
				require.Equal(t, s.heard, again.heard, more)
				require.Equal(t, s.Reason, again.Reason)
			}
		}
	})
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 126 })
}

// statesPlainly reports whether a verdict stands alone in its proper place.
func statesPlainly(object map[string]json.RawMessage, word string) bool {
	if len(object) != 1 {
		return false
	}
	switch word {
	case `"deny"`:
		return strings.ReplaceAll(string(object["hookSpecificOutput"]), " ", "") == `{"permissionDecision":"deny"}`
	case `"block"`:
		return string(object["decision"]) == word
	}
	return string(object["continue"]) == "false"
}

// TestVSCodeFold holds what vscode.md says of several hooks over random steps,
// alone and between hooks of the first contract.
func TestVSCodeFold(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	lim := Limits{}.withDefaults()
	order := []Outcome{OutcomeStop, OutcomeDeny, OutcomeAsk, OutcomeReject, OutcomeAllow, OutcomePass}
	for range 20000 {
		on := []EventName{OnPreToolUse, OnPostToolUse, OnStop}[rnd.IntN(3)]
		row, conduct := on.row(), Conduct(rnd.IntN(2))
		var steps, ours, theirs []Step
		for i := range rnd.IntN(6) {
			s := Step{Hook: HookRef{Name: fmt.Sprint(i)}, index: i, Dialect: Dialect(rnd.IntN(2))}
			r := Result{Rejects: rnd.IntN(3) == 0, Permission: Permission(rnd.IntN(4)), Reason: fmt.Sprint("r", i), Context: []string{"", fmt.Sprint("c", i)}[rnd.IntN(2)]}
			if s.Dialect == VSCode {
				r.StopRun = rnd.IntN(8) == 0
				r.byExit = r.Rejects
			}
			s.hear(row, conduct, &r)
			steps = append(steps, s)
			if s.Dialect == VSCode {
				theirs = append(theirs, s)
			} else {
				ours = append(ours, s)
			}
		}
		all := fold(row, conduct, lim, false, steps)
		a := foldContract(row, conduct, false, ours)
		b := foldVSCode(row, conduct, false, theirs)
		want := OutcomePass
		for _, o := range slices.Backward(order) {
			if len(ours) > 0 && a.Outcome == o || len(theirs) > 0 && b.Outcome == o {
				want = o
			}
		}
		require.Equal(t, want, all.Outcome)
		for _, s := range theirs { // no answer of VSCode's is lost
			require.LessOrEqual(t, Contract.rank(s.heard), Contract.rank(all.Outcome))
			if row.terms[VSCode].context && !all.Withheld && s.Context != "" {
				require.Contains(t, strings.Split(all.Context, "\n"), s.Context)
			}
		}
		if len(theirs) == 0 {
			require.Equal(t, a, all, "hooks of the first contract alone fold as ever")
		}
		if all.Outcome != OutcomePass {
			require.NotEmpty(t, all.By)
		}
		again := fold(row, conduct, lim, false, steps)
		require.Equal(t, all, again, "it is pure")
	}
}

func TestVSCodeFiles(t *testing.T) {
	const file = `{
  /* ä
  é */ "hooks": { // x
    "PreTolUse": [ {"type": "command", "command": "// /* \" */ true"} ],
    "Stop": [ /* ü */ {"type": "command"}, ],
    "SessionStart": [{"type": "command", "command": "true", "timeout": "5"}],
    "PreToolUse": {"type": "command"}
  }
}`
	_, warnings, err := VSCode.Parse(TierUserGlobal, "dir/a.json", []byte(file))
	var lines []string
	for _, d := range warnings {
		lines = append(lines, d.String())
	}
	assert.Equal(t, []string{
		"dir/a.json:4:5: warning: unknown event PreTolUse is skipped; the events are SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, PreCompact, SubagentStart, SubagentStop and Stop, did you mean PreToolUse?",
		"dir/a.json:5:42: warning: a comma before a closing bracket is left out; JSON has none there",
	}, lines)
	var ce *ConfigError
	require.ErrorAs(t, err, &ce)
	lines = nil
	for _, d := range ce.Diagnostics {
		lines = append(lines, d.String())
	}
	assert.Equal(t, []string{
		"dir/a.json:5:23: error: command is missing; a hook needs at least one of command, windows, linux, osx, bash and powershell",
		`dir/a.json:6:61: error: timeout is the text "5"; it must be a positive number of seconds`,
		"dir/a.json:7:5: error: PreToolUse is a mapping; it must be a list of hooks",
	}, lines)

	for text, want := range map[string]string{
		`{"hooks": {}}`:                       "no hooks in this file",
		`{}`:                                  "hooks is missing",
		`[]`:                                  "the document is a list",
		`{"hooks": {} /* x `:                  "the JSON ends too early",
		`{"hooks": {"Stop": [5]}}`:            "a hook of Stop is 5; it must be a mapping",
		`{"hooks": {"Stop": [{"hooks": 5}]}}`: "hooks is 5; it must be a list of hooks",
		`{"hooks": {"Stop": [{"command": "true", "env": {"A=B": "x", "": "y"}}]}}`: "not of the form KEY=value",
		`{"hooks": {"Stop": [{"command": "true", "timeout": 1e99}]}}`:              "it must be a positive number of seconds",
	} {
		_, _, err := VSCode.Parse(TierSystem, "a.json", []byte(text))
		assert.ErrorContains(t, err, want, text)
	}
	_, _, err = VSCode.Parse(0, "a.json", nil)
	assert.ErrorContains(t, err, "no tier to load hooks for")
	_, _, err = Dialect(9).Parse(TierSystem, "a.json", nil)
	assert.ErrorContains(t, err, "no dialect to load hooks in")
}

// FuzzVSCodeLoad looks for files that make the loader panic, that are neither
// loaded nor refused, or whose hooks New refuses.
func FuzzVSCodeLoad(f *testing.F) {
	for _, s := range []string{
		`{"hooks": {"PreToolUse": [{"type": "command", "command": "x", "env": {"A": "b"}, "timeout": 1.5}, {"matcher": "A", "hooks": [{"bash": "x"}]}]}} // x`,
		`{"version": 1, "hooks": {"agentStop": [{"type": "command", "command": "x", "cwd": "~/y", "timeoutSec": 3,},]}}`,
		`{"hooks": {"Stop": [ /* `, `{"hooks": {"Nope": []}}`,
	} {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, yaml bool) {
		name := "a.json"
		if yaml {
			name = "a.yaml"
		}
		all, warnings, err := VSCode.Parse(TierUserGlobal, name, data)
		if err != nil {
			require.Nil(t, all)
			return
		}
		if len(all) == 0 {
			require.NotEmpty(t, warnings, "nothing was loaded, and nothing is said about it")
		}
		_, err = New(all, &Options{Sandbox: &Local{Env: []string{"HOME=/home/u"}}})
		require.NoError(t, err)
	})
}

// Of a key that is given twice the last one counts, and what does not count
// cannot be wrong.
func TestVSCodeLastOfTwoCounts(t *testing.T) {
	for _, tc := range []struct {
		on     EventName
		answer string
		want   Outcome
	}{
		{OnPreToolUse, `{"continue":"x","continue":false}`, OutcomeStop},
		{OnPreToolUse, `{"continue":false,"continue":"x"}`, OutcomePass},
		{OnUserPromptSubmit, `{"decision":7,"decision":"block","reason":"r"}`, OutcomeReject},
		{OnPreToolUse, `{"hookSpecificOutput":5,"hookSpecificOutput":{"permissionDecision":"deny"}}`, OutcomeDeny},
		{OnPreToolUse, `{"hookSpecificOutput":{"hookEventName":"Stop","hookEventName":"PreToolUse","permissionDecision":"deny"}}`, OutcomeDeny},
		{OnPreToolUse, `{"hookSpecificOutput":{"permissionDecisionReason":1,"permissionDecisionReason":"why","permissionDecision":"deny"}}`, OutcomeDeny},
	} {
		h := Hook{Name: "h", On: tc.on, Tier: TierSystem, Dialect: VSCode, Run: Command{Line: "echo '" + tc.answer + "'"}}
		d := evaluate(t, newRuntime(t, nil, h), tc.on.row().blank())
		require.Equal(t, tc.want, d.Outcome, "%s: %s", tc.answer, d.Explain())
		require.NotEmpty(t, d.Diagnostics)
	}
}

// TXT-5: a text that is cut says once how much of it is shown, whichever
// dialects have spoken.
func TestTextsAreCutOnce(t *testing.T) {
	long := strings.Repeat("x", 5000)
	theirs := Hook{Name: "v", On: OnPreToolUse, Tier: TierSystem, Dialect: VSCode, Run: Func(func(context.Context, Call) (Result, error) {
		return Result{Context: long, SystemMessage: long}, nil
	})}
	rejects := says(TierSystem, "r", Reject(long).WithContext(long))
	for _, all := range [][]Hook{{theirs}, {rejects}, {theirs, rejects}} {
		d := evaluate(t, newRuntime(t, &Options{Limits: Limits{Text: 1000}}, all...), &PreToolUse{ToolName: "T"})
		size := 5000
		if len(all) == 2 {
			size = 10001 // of both, on a line each
		}
		require.True(t, strings.HasSuffix(d.Context, fmt.Sprintf("x… [cut: 1000 of %d bytes shown]", size)), d.Context[900:])
		for _, text := range append([]string{d.Context, d.Reason}, d.SystemMessages...) {
			require.LessOrEqual(t, strings.Count(text, "[cut:"), 1)
		}
		for _, r := range d.Rejections {
			require.True(t, strings.HasSuffix(r.Reason, "[cut: 1000 of 5000 bytes shown]"))
		}
	}
}
