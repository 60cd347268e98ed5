package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/hookruntime/hooks"
)

// check looks at hook files without running any hook.
func check(o *options, stdout, stderr io.Writer) (int, error) {
	var all []hooks.Hook
	var findings []hooks.Diagnostic
	add := func(tier hooks.Tier, files []string) {
		if len(files) == 0 {
			return
		}
		opts := &hooks.CheckOptions{Dialect: o.dialect, Tier: tier, ToolNames: o.toolNames()}
		found, ds := hooks.Check(files, opts)
		all, findings = append(all, found...), append(findings, ds...)
		findings = append(findings, syntax(context.Background(), found, files, opts)...)
	}
	for tier, files := range o.files {
		add(hooks.Tier(tier), files)
	}
	add(0, o.checked())
	slices.SortStableFunc(findings, func(a, b hooks.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	code := exitProceeds
	for _, d := range findings {
		if d.Severity == hooks.SeverityError {
			code = exitError
		}
	}
	if o.json {
		return code, writeJSON(stdout, reportOf(all, findings))
	}
	printWarnings(stderr, findings)
	return code, printHooks(stdout, all)
}

// report is a check as tools read it.
type report struct {
	Hooks       []hookJSON       `json:"hooks"`
	Diagnostics []diagnosticJSON `json:"diagnostics"`
}

type hookJSON struct {
	Name       string          `json:"name"`
	Tier       hooks.Tier      `json:"tier"`
	Agent      string          `json:"agent"`
	Event      hooks.EventName `json:"event"`
	Matcher    string          `json:"matcher"`
	Type       string          `json:"type"`
	Dialect    *hooks.Dialect  `json:"dialect,omitempty"` // nil: the hook data contract
	Timeout    int64           `json:"timeout"`           // seconds
	FailMode   string          `json:"fail_mode"`
	Activation string          `json:"activation"`
}

type diagnosticJSON struct {
	Severity   hooks.Severity `json:"severity"`
	File       string         `json:"file"`
	Line       int            `json:"line"`
	Column     int            `json:"column"`
	Key        string         `json:"key"`
	Message    string         `json:"message"`
	Suggestion string         `json:"suggestion"`
}

func reportOf(all []hooks.Hook, findings []hooks.Diagnostic) report {
	r := report{Hooks: []hookJSON{}, Diagnostics: []diagnosticJSON{}}
	for i := range all {
		r.Hooks = append(r.Hooks, row(&all[i]))
	}
	for _, d := range findings {
		r.Diagnostics = append(r.Diagnostics, diagnosticJSON{
			d.Severity, d.File, d.Line, d.Column, d.Key, d.Message, d.Suggestion,
		})
	}
	return r
}

// row is what a check shows of a hook.
func row(h *hooks.Hook) hookJSON {
	j := hookJSON{
		Name: h.Name, Tier: h.Tier, Agent: h.Agent, Event: h.On, Matcher: h.Matcher,
		Type: "command", Timeout: int64((cmp.Or(h.Timeout, hooks.DefaultTimeout) + time.Second - 1) / time.Second),
		FailMode: h.FailMode.String(), Activation: "always",
	}
	if _, ok := h.Run.(hooks.Prompt); ok {
		j.Type = "prompt"
	}
	if h.Dialect != hooks.HookContract {
		j.Dialect = &h.Dialect
	}
	if h.OnDemand {
		j.Activation = "onDemand"
	}
	return j
}

// printHooks prints a table of hooks.
func printHooks(w io.Writer, all []hooks.Hook) error {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for i := range all {
		if i == 0 {
			fmt.Fprintln(tw, "NAME\tTIER\tEVENT\tMATCHER\tTYPE\tTIMEOUT\tFAILMODE\tACTIVATION")
		}
		r := row(&all[i])
		name := r.Name
		if r.Dialect != nil {
			r.Type += ", " + r.Dialect.String()
		}
		if h := all[i].Ref(); h.Agent != "" {
			name = h.String()
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%ds\t%s\t%s\n", name, r.Tier, r.Event,
			cmp.Or(r.Matcher, "-"), r.Type, r.Timeout, cmp.Or(r.FailMode, "not set"), r.Activation)
	}
	return tw.Flush()
}
