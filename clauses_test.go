package hooks_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookruntime/hooks"
)

// TestEveryClauseIsNamed holds the clauses of the contract, listed in
// testdata/clauses.txt, against those that stories name, and Go tests in
// comment lines that begin with "// clause:". Each is named for both conducts
// (a Go test counts for both), and no other clause is named anywhere.
func TestEveryClauseIsNamed(t *testing.T) {
	data, err := os.ReadFile("testdata/clauses.txt")
	require.NoError(t, err)
	clauses := strings.Fields(string(data))
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(clauses))), len(clauses), "a clause is listed twice")

	named := map[string]*[2]bool{} // by conduct
	for _, c := range clauses {
		named[c] = new([2]bool)
	}
	name := func(clause, place string, conducts ...hooks.Conduct) {
		n := named[clause]
		if n == nil {
			t.Errorf("%s: there is no clause %q", place, clause)
			return
		}
		for _, c := range conducts {
			n[c] = true
		}
	}
	for _, s := range loadStories(t) {
		for _, c := range s.Clauses {
			name(c, s.Place(), s.Conducts...)
		}
	}
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, line := range strings.Split(string(source), "\n") {
			if list, ok := strings.CutPrefix(strings.TrimSpace(line), "// clause:"); ok {
				for _, c := range strings.Fields(list) {
					name(c, file, hooks.Contract, hooks.Hardened)
				}
			}
		}
	}
	for _, c := range clauses {
		if in := named[c]; in[hooks.Contract] != in[hooks.Hardened] {
			t.Errorf("%s is named for one conduct only", c)
		} else if !in[hooks.Contract] {
			t.Errorf("%s is named by no story and no test", c)
		}
	}
}

// section returns the part of the README under a heading.
func section(t *testing.T, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(readme(t), "\n## "+heading+"\n")
	require.True(t, found, "the README has no section %q", heading)
	part, _, _ := strings.Cut(rest, "\n## ")
	return strings.Join(strings.Fields(part), " ")
}

// TestReadmeSaysWhatHooksCannot: security boundaries, what is seen of the file
// system, what a later tier can hold, when to deny, how to find out why a hook
// does not fire, and what to look up before a matcher is written.
//
// clause: DOC-3
func TestReadmeSaysWhatHooksCannot(t *testing.T) {
	not := section(t, "Guaranteed, and not")
	for _, part := range []string{
		"not an isolation boundary",
		"not what a shell, a script or a sub-agent does in it",
		"compare them only after resolving",
		"later-tier hook must not be the only control",
		"already shortened",
		"can be talked round",
		"Texts should be fixed",
	} {
		assert.Contains(t, not, part)
	}
	assert.Contains(t, section(t, "Outcomes"), "Reject to explain, deny to enforce")

	fire := section(t, "When a hook does not fire")
	from := 0
	for _, step := range []string{"| 1. ", "| 2. ", "| 3. ", "| 4. ", "| 5. ", "| 6. ", "| 7. ", "| 8. "} {
		at := strings.Index(fire[from:], step)
		require.GreaterOrEqual(t, at, 0, "step %q is missing, or not in order", step)
		from += at
	}
	for _, fate := range []hooks.Fate{
		hooks.FateOtherEvent, hooks.FateOutOfScope, hooks.FateUntrusted, hooks.FateInactive, hooks.FateSourceFiltered,
		hooks.FateNoMatch, hooks.FateLimitReached, hooks.FateNotReached, hooks.FateRan,
	} {
		assert.Contains(t, fire, "`"+string(fate)+"`", "each step leads to what the trace says")
	}
	for _, question := range []string{"tool's name, exactly", "`tool_input`", "paths relative to", "`agent_name`", "absent, empty, redacted"} {
		assert.Contains(t, fire, question)
	}
}

// TestHostsOfChildrenAreTold: what a child inherits and may do is the host's to
// keep, and is said where it looks.
//
// clause: SUB-5
func TestHostsOfChildrenAreTold(t *testing.T) {
	source, err := os.ReadFile("event.go")
	require.NoError(t, err)
	_, doc, found := strings.Cut(string(source), "// Child marks the loop of a sub-agent")
	require.True(t, found)
	doc, _, _ = strings.Cut(doc, "Child bool")
	doc = strings.Join(strings.Fields(strings.ReplaceAll(doc, "//", "")), " ")
	for _, part := range []string{"run mode", "Autonomous", "Review and ReadOnly", "browser session", "telemetry"} {
		assert.Contains(t, doc, part)
	}
}
