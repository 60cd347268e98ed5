package hooks

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dlclark/regexp2"
)

// matchTimeout bounds one match of a pattern (MAT-3).
const matchTimeout = 100 * time.Millisecond

// matcher decides whether a hook's pattern selects a tool name (MAT-2).
type matcher struct {
	pattern string
	all     bool
	// names are the whole alternatives of a pattern that is nothing but
	// names: nearly every matcher in the field. They need no regular
	// expression, and so no clock goroutine (regexp2 starts one per timed
	// match that lives on for a while).
	names []string
	re    *regexp2.Regexp
	// broken holds why the pattern is compared as an exact string (QRK-3).
	broken error
	// onTimeout is the verdict of a match that takes too long: in Hardened
	// conduct it counts as a match, in Contract the pattern is compared.
	matchOnTimeout bool
}

// compileMatcher compiles a pattern. A pattern that does not compile is not an
// error here: the matcher then compares it exactly and says so in broken.
func compileMatcher(pattern string, c Conduct) *matcher {
	m := &matcher{pattern: pattern, matchOnTimeout: c == Hardened}
	switch {
	case pattern == "*":
		m.all = true
		return m
	case pattern == "":
		return m
	}
	if m.names = literalNames(pattern); m.names != nil {
		return m
	}
	m.re, m.broken = compilePattern(pattern)
	return m
}

// compilePattern compiles a pattern over the whole tool name. It must compile
// bare too: "a)|(b" compiles only when it is wrapped, into something else.
// \A and \z, since ^ and $ mean lines in some modes and $ allows a newline.
func compilePattern(pattern string) (re *regexp2.Regexp, err error) {
	defer func() {
		// The parser is third-party code that has been seen to panic on odd
		// patterns; for us such a pattern simply does not compile.
		if p := recover(); p != nil {
			re, err = nil, errors.New("the pattern makes the regular expression parser fail")
		}
	}()
	if _, err := regexp2.Compile(pattern, regexp2.None); err != nil {
		return nil, err
	}
	if re, err = regexp2.Compile(`\A(?:`+pattern+`)\z`, regexp2.None); err != nil {
		return nil, fmt.Errorf("it compiles alone but not over a whole name: %w", err)
	}
	re.MatchTimeout = matchTimeout
	return re, nil
}

// literalNames returns the alternatives of a pattern that is only names joined
// by "|", as in A, A|B, ^A$, (A|B) or ^(A|B)$; nil for any other pattern.
func literalNames(pattern string) []string {
	p := pattern
	if inner, ok := strings.CutPrefix(p, "^("); ok && strings.HasSuffix(inner, ")$") {
		p = strings.TrimSuffix(inner, ")$")
	} else if inner, ok := strings.CutPrefix(p, "("); ok && strings.HasSuffix(inner, ")") {
		p = strings.TrimSuffix(inner, ")")
	}
	names := strings.Split(p, "|")
	for i, n := range names {
		n = strings.TrimSuffix(strings.TrimPrefix(n, "^"), "$")
		if strings.ContainsFunc(n, notLiteral) {
			return nil
		}
		names[i] = n
	}
	return names
}

func notLiteral(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("_-/:@,", r)
}

// match reports whether the pattern selects the tool name, and why it took an
// unusual way, if it did.
func (m *matcher) match(tool string) (ok bool, note string) {
	switch {
	case m.all:
		return true, ""
	case m.pattern == "":
		return false, ""
	case m.names != nil:
		for _, n := range m.names {
			if n == tool {
				return true, ""
			}
		}
		return false, ""
	case m.broken != nil:
		return m.pattern == tool, "does not compile: compared exactly"
	}
	ok, err := m.re.MatchString(tool)
	if err == nil {
		return ok, ""
	}
	if m.matchOnTimeout {
		return true, "took too long: counts as a match"
	}
	return m.pattern == tool, "took too long: compared exactly"
}
