//go:build unix

package hooks

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// traced is the command hook of a letter: it leaves the letter in $TRACE.
func traced(letter, line, trace string) Hook {
	return command(letter, Command{Line: `printf ` + letter + ` >>"$TRACE"; ` + line, Env: []string{"TRACE=" + trace}})
}

// TestVerdictsHideNoDeny is F07: A allows, B rejects, C asks, D denies, in all
// orders of two and three; who ran is what the trace file says (AGG-2 to AGG-5,
// QRK-4).
func TestVerdictsHideNoDeny(t *testing.T) {
	lines := map[rune]string{
		'A': `echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'`,
		'B': `echo no >&2; exit 2`,
		'C': `echo '{"hookSpecificOutput":{"permissionDecision":"ask"}}'`,
		'D': `echo '{"hookSpecificOutput":{"permissionDecision":"deny"}}'`,
	}
	var chains []string
	for _, a := range "ABCD" {
		for _, b := range "ABCD" {
			if a == b {
				continue
			}
			chains = append(chains, string([]rune{a, b}))
			for _, c := range "ABCD" {
				if c != a && c != b {
					chains = append(chains, string([]rune{a, b, c}))
				}
			}
		}
	}
	require.Len(t, chains, 12+24)
	dir := t.TempDir()
	for _, chain := range chains {
		for conduct, enders := range map[Conduct]string{Contract: "CD", Hardened: "D"} {
			trace := filepath.Join(dir, chain+conduct.String())
			var hooks []Hook
			for _, letter := range chain {
				hooks = append(hooks, traced(string(letter), lines[letter], trace))
			}
			d := evaluate(t, newRuntime(t, &Options{Conduct: conduct}, hooks...), &PreToolUse{ToolName: "T"})

			ran := chain
			if end := strings.IndexAny(chain, enders); end >= 0 {
				ran = chain[:end+1]
			}
			want := OutcomePass
			order := []struct {
				letter string
				is     Outcome
			}{{"A", OutcomeAllow}, {"B", OutcomeReject}, {"C", OutcomeAsk}, {"D", OutcomeDeny}}
			if conduct == Hardened {
				order[1], order[2] = order[2], order[1]
			}
			for _, o := range order { // the last one wins
				if strings.Contains(ran, o.letter) {
					want = o.is
				}
			}
			assert.Equal(t, want, d.Outcome, "%s in %v", chain, conduct)
			data, err := os.ReadFile(trace)
			require.NoError(t, err)
			assert.Equal(t, ran, string(data), "%s in %v: who ran", chain, conduct)
		}
	}
}

// TestConfigurationOrder is F48: hooks run one after the other, in the order of
// the configuration, across groups and files, however long each takes.
func TestConfigurationOrder(t *testing.T) {
	dir := t.TempDir()
	trace := filepath.Join(dir, "trace")
	var files []string
	for f := range 2 {
		var b strings.Builder
		b.WriteString("hooks:\n  PreToolUse:\n")
		for i := range 5 {
			matcher := []string{`"*"`, "T", "T|U", `"(?i)t"`, "^T$"}[i]
			fmt.Fprintf(&b, "  - {type: command, matcher: '%s', command: 'sleep 0.00%d; echo %d >>\"%s\"'}\n",
				strings.Trim(matcher, `"`), rand.IntN(10), f*5+i, trace)
		}
		file := filepath.Join(dir, fmt.Sprintf("%d.yaml", f))
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
		files = append(files, file)
	}
	hooks, warnings, err := Load(TierUserGlobal, files...)
	require.NoError(t, err)
	require.Empty(t, warnings)
	rt := newRuntime(t, nil, hooks...)
	rounds := 10
	if testing.Short() {
		rounds = 2
	}
	for range rounds {
		evaluate(t, rt, &PreToolUse{ToolName: "T"})
	}
	data, err := os.ReadFile(trace)
	require.NoError(t, err)
	assert.Equal(t, strings.Repeat("0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n", rounds), string(data))
}

// TestNothingIsMerged is F49: two hooks that differ only in failMode both run.
func TestNothingIsMerged(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "trace")
	a, b := traced("A", "exit 1", trace), traced("B", "exit 1", trace)
	a.Run = b.Run
	a.FailMode, b.FailMode = FailAllow, FailBlock
	d := evaluate(t, newRuntime(t, nil, a, b), &PreToolUse{ToolName: "T"})
	assert.Equal(t, "A:ran:error B:ran:reject", fates(d.Steps()))
	data, err := os.ReadFile(trace)
	require.NoError(t, err)
	assert.Equal(t, "BB", string(data))
}

// TestLineWithOddPaths is F36 through the whole runtime: odd names in the
// working folder and in a quoted path, and a program that begins with a dash.
func TestLineWithOddPaths(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `a b ü 'q' $x -h`)
	require.NoError(t, os.Mkdir(dir, 0o700))
	plant(t, dir, "-s $(x).sh", "#!/bin/bash\necho \"$# $PWD\" >&2\nexit 2\n", 0o700)
	path := `'` + strings.ReplaceAll(dir, `'`, `'\''`) + `/-s $(x).sh'`
	for _, c := range []Command{
		{Line: path, Dir: dir},
		{Line: `./'-s $(x).sh'`, Dir: dir},
		{Line: `-s\ \$\(x\).sh`, Dir: dir, Env: []string{"PATH=" + dir + ":/usr/bin:/bin"}},
		{Script: "#!/bin/bash\n" + path, Dir: dir},
	} {
		d := evaluate(t, newRuntime(t, nil, command("h", c)), &PreToolUse{ToolName: "T"})
		assert.Equal(t, OutcomeReject, d.Outcome, d.Explain())
		assert.True(t, strings.HasPrefix(d.Reason, "0 /") && strings.HasSuffix(d.Reason, filepath.Base(dir)), d.Reason)
	}
}

// TestUnmatchedHooksAreSeen is F25: a name in another case matches nothing, and
// both the step and the linter say so.
func TestUnmatchedHooksAreSeen(t *testing.T) {
	h := says(TierSystem, "guard", Deny("no"))
	h.Matcher = "Bash"
	rt := newRuntime(t, nil, h)
	for _, tool := range []string{"bash", "Bash ", "BASH", "", "Bäsh", strings.Repeat("x", 10_000), "\u0000"} {
		d := evaluate(t, rt, &PreToolUse{ToolName: tool})
		assert.Equal(t, OutcomePass, d.Outcome, tool)
		s := slices.Collect(d.Steps())[0]
		assert.Equal(t, FateNoMatch, s.Fate, tool)
		assert.Contains(t, s.Why, `matcher "Bash" does not match`)
	}
	found := Lint([]Hook{h}, "bash", "ReadFile")
	require.Len(t, found, 1)
	assert.Equal(t, "guard", found[0].Hook)
	assert.Empty(t, Lint([]Hook{h}, "Bash"))
}
