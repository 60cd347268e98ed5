package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/hookruntime/hooks"
)

// evaluate runs the hooks for one payload, or plans them.
func evaluate(o *options, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	all, warnings, err := load(o)
	errs := []error{err}
	ev, err := readEvent(o, stdin)
	errs = append(errs, err)
	if err == nil {
		warnings = append(warnings, workspace(hooks.CommonOf(ev))...)
	}
	var rt *hooks.Runtime
	if errs[0] == nil {
		if rt, err = newRuntime(o, all); err == nil {
			err = rt.CheckSwitches(switches(o))
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return 0, errors.Join(listed(warnings), err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if o.plan {
		p, err := rt.Plan(ev)
		if err != nil {
			return 0, err
		}
		if o.json {
			p.Diagnostics = warnings
			return exitProceeds, writeJSON(stdout, p)
		}
		printWarnings(stderr, warnings)
		_, err = io.WriteString(stdout, p.Explain())
		return exitProceeds, err
	}
	d, err := rt.Evaluate(ctx, ev)
	if err != nil {
		return 0, err
	}
	if o.json {
		d.Diagnostics = append(warnings, d.Diagnostics...)
		return exitCode(&d), writeJSON(stdout, d)
	}
	printWarnings(stderr, warnings)
	_, err = io.WriteString(stdout, d.Explain())
	return exitCode(&d), err
}

// load loads the hook files of all tiers, and reports the errors of all.
func load(o *options) (all []hooks.Hook, warnings []hooks.Diagnostic, err error) {
	var errs []error
	for tier, files := range o.files {
		if len(files) == 0 {
			continue
		}
		found, ds, err := o.dialect.Load(hooks.Tier(tier), files...)
		all, warnings, errs = append(all, found...), append(warnings, ds...), append(errs, err)
	}
	return all, warnings, errors.Join(errs...)
}

// readEvent reads the payload and adds what no payload says.
func readEvent(o *options, stdin io.Reader) (hooks.Event, error) {
	var data []byte
	var err error
	name := o.payloadFile()
	if name == "-" {
		name = "standard input"
		data, err = io.ReadAll(stdin)
	} else {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, err
	}
	ev, err := o.dialect.ParseEvent(data)
	if err != nil {
		return nil, inFile(name, err)
	}
	c := hooks.CommonOf(ev)
	c.Child, c.Switches = o.child, switches(o)
	if o.trajectory != "" {
		text, err := os.ReadFile(o.trajectory)
		if err != nil {
			return nil, err
		}
		c.ExecutionSummary = "" // the path of a file of another machine
		c.Trajectory = func(_ context.Context, w io.Writer) error {
			_, err := w.Write(text)
			return err
		}
	}
	return ev, nil
}

// workspace makes sure that hooks which run in the workspace have one: a
// captured payload may name a folder of another machine, or none.
func workspace(c *hooks.Common) []hooks.Diagnostic {
	if info, err := os.Stat(c.Workspace); err == nil && info.IsDir() {
		return nil
	}
	here, err := os.Getwd()
	named := c.Workspace
	if c.Workspace = here; named == "" || err != nil {
		return nil
	}
	return []hooks.Diagnostic{{Key: "cwd", Message: fmt.Sprintf("the payload's cwd %q is no folder here; hooks get this one instead", named)}}
}

// inFile puts the name of a file in front of every error that was joined.
func inFile(name string, err error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return fmt.Errorf("%s: %w", name, err)
	}
	var errs []error
	for _, e := range joined.Unwrap() {
		errs = append(errs, inFile(name, e))
	}
	return errors.Join(errs...)
}

func switches(o *options) hooks.Switches {
	return hooks.Switches{Activated: o.activate, Deactivated: o.deactivate}
}

func newRuntime(o *options, all []hooks.Hook) (*hooks.Runtime, error) {
	opts := &hooks.Options{}
	if o.hardened {
		opts.Conduct = hooks.Hardened
	}
	switch {
	case o.modelCmd != "":
		m, err := newCommandModel(o.modelCmd)
		if err != nil {
			return nil, err
		}
		opts.Model = m
	case o.plan:
		opts.Model = noModel{}
	}
	rt, err := hooks.New(all, opts)
	if err != nil && opts.Model == nil && hasPrompt(all) {
		err = errors.Join(err, errors.New("hookrun: prompt hooks need a model: give a command that answers with -model-cmd"))
	}
	return rt, err
}

func hasPrompt(all []hooks.Hook) bool {
	for _, h := range all {
		if _, ok := h.Run.(hooks.Prompt); ok {
			return true
		}
	}
	return false
}

func exitCode(d *hooks.Decision) int {
	switch {
	case !d.Blocks():
		return exitProceeds
	case d.Outcome == hooks.OutcomeAsk:
		return exitAsk
	}
	return exitBlocked
}

// writeJSON writes one value on one line. It does not escape HTML: what a hook
// said is to be read as it was said.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func printWarnings(w io.Writer, ds []hooks.Diagnostic) {
	for _, d := range ds {
		fmt.Fprintln(w, d)
	}
}

// listed makes an error of warnings, to be printed with other errors; nil of
// none.
func listed(ds []hooks.Diagnostic) error {
	if len(ds) == 0 {
		return nil
	}
	return &hooks.ConfigError{Diagnostics: ds}
}
