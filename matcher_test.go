package hooks

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMatchers is MAT-1, MAT-2, F05, F06, F18 and F30.
func TestMatchers(t *testing.T) {
	for _, tc := range []struct {
		pattern string
		yes, no string // tool names, separated by blanks; _ is the empty name
	}{
		{"*", "Bash x _", ""},
		{"", "", "Bash _"},
		{"Bash", "Bash", "BashOutput bash NotBash _"},
		{"Bash|Edit", "Bash Edit", "BashOutput NotebookEdit bash Bash|Edit _"},
		{"^Bash|Edit$", "Bash Edit", "BashX XEdit"},
		{"^(Task|Agent)$", "Task Agent", "Task2 MyAgent"},
		{"(Task|Agent)", "Task Agent", "Task2"},
		{"(A)|(B)", "A B", "AB"},
		{"A|", "A _", "B"},
		{"mcp__.*", "mcp__a__b", "notmcp__a__b mcp_"},
		{"mcp__srv", "mcp__srv", "mcp__srv__get"},
		{"mcp__srv__.*", "mcp__srv__get mcp__srv__", "mcp__srv"},
		{"mcp__[^_]+__[^_]+", "mcp__srv__get mcp__10b9c39d-5363__send", "mcp__my_srv__get"},
		{"mcp__(a|b)_.*", "mcp__a_b__c-d", "mcp__c_x"},
		{"mcp__x.{1,3}", "mcp__xabc mcp__xa", "mcp__x mcp__xabcd"},
		{"^(?!mcp__).*$", "Bash _", "mcp__a"},
		{"^(delete_|remove_).*", "delete_x", "xdelete_x"},
		{"(?i)bash", "BASH bash", "sh"},
		{`\w+`, "Bash", "a-b"},
		{"Wörk", "Wörk", "Work"},
		{"Bash(git commit*)", "", "Bash"},
		{`a\z|b`, "a b", "ab"},
	} {
		m := compileMatcher(tc.pattern, Contract)
		assert.NoError(t, m.broken, tc.pattern)
		for want, names := range map[bool]string{true: tc.yes, false: tc.no} {
			for _, name := range strings.Fields(names) {
				if name == "_" {
					name = ""
				}
				ok, _ := m.match(name)
				assert.Equal(t, want, ok, "%q on %q", tc.pattern, name)
			}
		}
		ok, _ := m.match("Bash\n")
		assert.Equal(t, tc.pattern == "*", ok, "%q and a trailing newline", tc.pattern)
	}
}

// TestLiteralPatternsNeedNoRegexp: nearly every matcher in the field.
func TestLiteralPatternsNeedNoRegexp(t *testing.T) {
	for _, p := range []string{"Bash", "A|B|C", "^(Task|Agent)$", "mcp__a__b-c", "^X$", "(A|B)"} {
		assert.Nil(t, compileMatcher(p, Contract).re, p)
	}
	for _, p := range []string{"a.b", "A|B+", "^^A", "a^b", "((A))"} {
		assert.NotNil(t, compileMatcher(p, Contract).re, p)
	}
}

// TestBrokenMatchers is QRK-3: what does not compile, bare or over a whole
// name, is compared exactly.
func TestBrokenMatchers(t *testing.T) {
	for _, p := range []string{"[", "(a", "a)|(b", `(?x) a # comment`, "a{2,1}", `\Qfoo`} {
		m := compileMatcher(p, Contract)
		require.Error(t, m.broken, p)
		ok, note := m.match(p)
		assert.True(t, ok, p)
		assert.NotEmpty(t, note)
		ok, _ = m.match("a")
		assert.False(t, ok, p)
	}
}

// TestSlowMatch is MAT-3 and QRK-3: a match that takes too long is given up,
// and then compared exactly (Contract) or taken for a match (Hardened).
func TestSlowMatch(t *testing.T) {
	const slow = "(a+)+b"
	name := strings.Repeat("a", 60)
	for conduct, want := range map[Conduct]bool{Contract: false, Hardened: true} {
		start := time.Now()
		ok, note := compileMatcher(slow, conduct).match(name)
		assert.Equal(t, want, ok, conduct)
		assert.Contains(t, note, "too long")
		assert.Less(t, time.Since(start), 5*time.Second)
	}
}

// FuzzMatcher: no panic, and a pattern of plain names means equality whether
// or not it goes through the regular expression.
func FuzzMatcher(f *testing.F) {
	f.Add("A|B", "A")
	f.Add("^(a|b)$", "b")
	f.Add("(?<x>a)\\k<x>", "aa")
	f.Add("[a-z-[m]]", "m")
	f.Fuzz(func(t *testing.T, pattern, tool string) {
		if len(pattern) > 200 || len(tool) > 200 {
			return
		}
		m := compileMatcher(pattern, Contract)
		got, _ := m.match(tool)
		if m.names == nil || strings.Contains(tool, "\xff") {
			return
		}
		re, err := compilePattern(pattern)
		if err != nil {
			t.Fatalf("%q was taken for names but does not compile: %v", pattern, err)
		}
		want, err := re.MatchString(tool)
		if err == nil && got != want {
			t.Fatalf("%q on %q: %v by names, %v by regular expression", pattern, tool, got, want)
		}
	})
}
