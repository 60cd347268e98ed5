package hooks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity ranks a Diagnostic.
type Severity int

// The severities. The zero Severity is SeverityWarning: it never stops anything.
const (
	SeverityWarning Severity = iota
	SeverityError
)

// String returns "warning" or "error".
func (s Severity) String() string {
	if s == SeverityError {
		return "error"
	}
	return "warning"
}

// MarshalText implements [encoding.TextMarshaler].
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Diagnostic is one finding about a configuration file, a hook or a hook's
// answer, for people. It holds no payload.
type Diagnostic struct {
	Severity Severity
	// File, Line and Column (both from 1, in the file as given; a column
	// counts characters) say where; empty and zero where there is no place.
	File   string
	Line   int
	Column int
	// Key is the path of the key in the file or answer: "spec.hook.failMode".
	Key string
	// Hook is the hook's name where one is known.
	Hook string
	// Message says what was found and what is allowed.
	Message string
	// Suggestion is the near name for a misspelled one, else empty.
	Suggestion string
}

// String renders the finding as a compiler would: file:line:col: severity: text.
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.File != "" {
		b.WriteString(d.File)
		if d.Line > 0 {
			fmt.Fprintf(&b, ":%d:%d", d.Line, max(d.Column, 1))
		}
		b.WriteString(": ")
	}
	b.WriteString(d.Severity.String() + ": ")
	if d.File == "" && d.Hook != "" {
		fmt.Fprintf(&b, "hook %q: ", d.Hook)
	}
	b.WriteString(d.Message)
	return b.String()
}

// ConfigError reports everything that kept hooks from being loaded or a
// Runtime from being made: all errors at once, sorted by place.
type ConfigError struct {
	Diagnostics []Diagnostic
}

// Error lists every finding, one on a line.
func (e *ConfigError) Error() string {
	lines := make([]string, len(e.Diagnostics))
	for i, d := range e.Diagnostics {
		lines[i] = d.String()
	}
	return "hooks: " + strings.Join(lines, "\n")
}

// sortDiagnostics orders findings by file, line and column, keeping the order
// of equal ones.
func sortDiagnostics(ds []Diagnostic) {
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
