package hooks

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Lint returns what is doubtful about hooks that may well be valid (CFG-5):
// hooks that can never fire, patterns that do not say what they seem to, limits
// that surprise. The loaders return the same findings with their places.
//
// Given the names of the host's tools it also reports matchers that select
// none of them. Findings are warnings, but for one: a system or user-global
// PostToolUse hook whose matcher does not compile is an error to the loaders
// (CFG-4). What makes a hook invalid is New's to report.
func Lint(hooks []Hook, toolNames ...string) []Diagnostic {
	var ds []Diagnostic
	for i := range hooks {
		h := &hooks[i]
		for _, f := range h.lint(toolNames) {
			ds = append(ds, Diagnostic{Severity: f.severity, Key: f.key, Hook: h.Name, Message: f.message, Suggestion: f.suggestion})
		}
	}
	return ds
}

// finding is one doubt about a hook. Its key is spelled as in the YAML shape.
type finding struct {
	severity                 Severity
	key, message, suggestion string
}

// longTimeout is the timeout from which on an agent seems to hang.
const longTimeout = 300 * time.Second

// mentionsOK finds the key that a prompt hook must answer with.
var mentionsOK = regexp.MustCompile(`(?i)\bok\b`)

func (h *Hook) lint(toolNames []string) []finding {
	fs := h.lintMatcher(toolNames)
	warn := func(key, message string) { fs = append(fs, finding{key: key, message: message}) }
	if h.Timeout > longTimeout {
		warn("timeout", "timeout is over 300 seconds: the agent waits that long for a hook that hangs")
	}
	switch b := h.Run.(type) {
	case Command:
		if h.On == OnStop && h.FailMode == FailBlock {
			warn("failMode", "failMode block on a command Stop hook: a crash of the hook keeps the agent running, and nothing bounds how often")
		}
	case Prompt:
		switch terms := h.terms(); {
		case terms != nil && terms.reject == deaf: // and a prompt can do nothing else
			warn("type", "a prompt hook on "+string(h.On)+" has no effect: nothing it answers is heard")
		case strings.TrimSpace(b.Text) != "" && !mentionsOK.MatchString(b.Text):
			warn("prompt", `prompt never mentions ok: it must ask for {"ok": true} or {"ok": false, "reason": "…"}, any other answer passes`)
		}
	}
	return fs
}

func (h *Hook) lintMatcher(toolNames []string) (fs []finding) {
	row, terms := h.On.row(), h.terms()
	if terms == nil {
		return nil
	}
	warn := func(message, suggestion string) {
		fs = append(fs, finding{key: "matcher", message: message, suggestion: suggestion})
	}
	quoted := "matcher " + quotePattern(h.Matcher)
	if !row.tool {
		if h.Matcher != "" {
			warn(quoted+" has no effect: "+string(h.On)+" hooks do not match tools", "")
		}
		return fs
	}
	if !h.Dialect.facts().matchers {
		if h.Matcher != "" && h.Matcher != "*" {
			warn(quoted+" has no effect: "+h.Dialect.String()+" hooks run for every tool", "")
		}
		return fs
	}
	if h.Matcher == "" {
		if !terms.matcherRequired { // otherwise it is an error of its own
			warn(`matcher is missing: the hook matches no tool and never fires ("*" matches every tool)`, "")
		}
		return fs
	}
	m := compileMatcher(h.Matcher, Contract)
	if m.broken != nil {
		f := finding{key: "matcher", message: quoted + " does not compile as a .NET regular expression (" + regexpReason(m.broken) + "): it is compared exactly"}
		if terms.matcherRequired && h.Tier != TierAgent {
			f.severity = SeverityError
			f.message = quoted + " does not compile as a .NET regular expression (" + regexpReason(m.broken) + `); it must, or be "*"`
		}
		return append(fs, f)
	}
	if why := deadPattern(h.Matcher, m); why != "" {
		warn(quoted+" "+why, "")
		return fs
	}
	if len(toolNames) == 0 {
		return fs
	}
	for _, t := range toolNames {
		ok, note := m.match(t)
		if note != "" {
			warn(quoted+" on "+quotePattern(t)+" "+note, "")
			return fs
		}
		if ok {
			return fs
		}
	}
	guess := ""
	for _, n := range m.names {
		if guess = near(n, toolNames); guess != "" {
			break
		}
	}
	warn(quoted+" matches none of the tool names given"+didYouMean(guess), guess)
	return fs
}

func quotePattern(p string) string { return `"` + excerpt(p) + `"` }

// argumentPattern finds a tool name with something in parentheses behind it,
// and nothing behind that.
var argumentPattern = regexp.MustCompile(`^\^?\w+\(([^()]*)\)\$?$`)

// deadPattern says why a pattern that compiles can equal no tool name; empty
// when nothing speaks against it.
func deadPattern(pattern string, m *matcher) string {
	if a := argumentPattern.FindStringSubmatch(pattern); a != nil {
		arg := a[1]
		plain := strings.Trim(arg, nameLetters) == ""
		if plain || strings.ContainsAny(arg, " ") || strings.Contains(arg, ":*") ||
			strings.Contains(arg, "/") && !strings.Contains(arg, "|") {
			return "can equal no tool name: a matcher sees the tool's name, not its arguments, and parentheses only group"
		}
	}
	if strings.TrimSpace(pattern) != pattern {
		return "can equal no tool name: it begins or ends with white space"
	}
	for _, part := range strings.Split(pattern, "|") {
		if strings.TrimSpace(part) != part && !strings.ContainsAny(part, `\()[]`) {
			return "has white space beside a |, which is a part of the name then"
		}
	}
	if slices.ContainsFunc(m.names, func(n string) bool { return strings.Contains(n, ",") }) {
		return "can equal no tool name: it holds a comma; names are joined with |"
	}
	return ""
}

// regexpReason shortens the compiler's error, which quotes the whole pattern.
func regexpReason(err error) string {
	text := err.Error()
	if i := strings.Index(text, " in `"); i >= 0 {
		text = text[:i]
	}
	if inner := errors.Unwrap(err); inner != nil {
		text = "only alone, not over a whole name"
	}
	return strings.TrimPrefix(excerpt(text), "error parsing regexp: ")
}
