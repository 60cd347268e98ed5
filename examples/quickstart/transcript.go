package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/hookruntime/hooks"
)

// transcript prints a run for people. What the runtime says of an event stands
// behind a bar; all the rest is the host's.
type transcript struct {
	out io.Writer
	err error // the first one; the lines after it are dropped
}

func (t *transcript) line(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.out, format+"\n", args...)
	}
}

func (t *transcript) head(format string, args ...any) { t.line("\n== "+format+" ==", args...) }

func (t *transcript) explain(d *hooks.Decision) {
	for line := range strings.Lines(d.Explain()) {
		t.line("    | %s", strings.TrimRight(line, " \n"))
	}
}

// indented shows a text of several lines.
func (t *transcript) indented(label, text string) {
	t.line("%s %s", label, strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    "))
}
