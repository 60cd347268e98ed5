package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hookruntime/hooks"
)

// options is the command line.
type options struct {
	files   [hooks.TierUserGlobal + 1]texts // hook files by tier
	dialect hooks.Dialect                   // of the files and the payload

	hardened, child, plan, json bool
	activate, deactivate        texts
	modelCmd, trajectory        string

	check, test    toggle
	schema, update bool
	tools          texts

	args []string // what is no flag
}

// texts is a flag that can be given several times.
type texts []string

func (t *texts) String() string { return strings.Join(*t, ",") }

func (t *texts) Set(s string) error {
	if s == "" {
		return errors.New("it is empty")
	}
	*t = append(*t, s)
	return nil
}

// toggle is a flag that chooses what to do. What it is about follows as an
// argument; -test=DIR is understood too.
type toggle struct {
	on    bool
	names []string
}

func (t *toggle) String() string   { return strings.Join(t.names, ",") }
func (t *toggle) IsBoolFlag() bool { return true }

func (t *toggle) Set(s string) error {
	if t.on = s != "false"; s != "true" && s != "false" {
		t.names = append(t.names, s)
	}
	return nil
}

// fits lists the flags that mean something to each mode. It is never written to.
var fits = map[string][]string{
	"run":    {"dialect", "system", "agent", "user", "hardened", "child", "plan", "json", "activate", "deactivate", "model-cmd", "trajectory"},
	"check":  {"check", "dialect", "system", "agent", "user", "tools", "json"},
	"test":   {"test", "update"},
	"schema": {"schema"},
}

// mode is what to do: run, check, test or schema.
func (o *options) mode() string {
	switch {
	case o.check.on:
		return "check"
	case o.test.on:
		return "test"
	case o.schema:
		return "schema"
	}
	return "run"
}

// parseArgs reads the command line. Flags may stand behind arguments.
func parseArgs(args []string) (*options, error) {
	o := &options{}
	fs := flag.NewFlagSet("hookrun", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	fs.Var(&o.files[hooks.TierSystem], "system", "")
	fs.Var(&o.files[hooks.TierAgent], "agent", "")
	fs.Var(&o.files[hooks.TierUserGlobal], "user", "")
	fs.TextVar(&o.dialect, "dialect", hooks.HookContract, "")
	fs.BoolVar(&o.hardened, "hardened", false, "")
	fs.BoolVar(&o.child, "child", false, "")
	fs.BoolVar(&o.plan, "plan", false, "")
	fs.BoolVar(&o.json, "json", false, "")
	fs.Var(&o.activate, "activate", "")
	fs.Var(&o.deactivate, "deactivate", "")
	fs.StringVar(&o.modelCmd, "model-cmd", "", "")
	fs.StringVar(&o.trajectory, "trajectory", "", "")
	fs.Var(&o.check, "check", "")
	fs.Var(&o.tools, "tools", "")
	fs.BoolVar(&o.schema, "schema", false, "")
	fs.Var(&o.test, "test", "")
	fs.BoolVar(&o.update, "update", false, "")
	for len(args) > 0 {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		rest := fs.Args()
		if len(rest) == 0 {
			break
		}
		if len(args) > len(rest) && args[len(args)-len(rest)-1] == "--" {
			o.args = append(o.args, rest...)
			break
		}
		o.args, args = append(o.args, rest[0]), rest[1:]
	}
	return o, o.validate(fs)
}

// validate refuses what does not go together: a flag without effect must not
// look as if it worked.
func (o *options) validate(fs *flag.FlagSet) error {
	mode := o.mode()
	var errs []error
	fs.Visit(func(f *flag.Flag) {
		if !slices.Contains(fits[mode], f.Name) {
			with := "to evaluate a payload"
			if mode != "run" {
				with = "with -" + mode
			}
			errs = append(errs, fmt.Errorf("-%s means nothing %s", f.Name, with))
		}
	})
	switch {
	case mode == "run" && len(o.args) > 1:
		errs = append(errs, fmt.Errorf("one payload is evaluated at a time, not %d: %s", len(o.args), strings.Join(o.args, " ")))
	case mode == "schema" && len(o.args) > 0:
		errs = append(errs, fmt.Errorf("-schema takes no argument, not %s", strings.Join(o.args, " ")))
	}
	if mode == "run" && !o.hasFiles() {
		errs = append(errs, errors.New("no hooks: name hook files with -system, -agent or -user"))
	}
	if mode == "check" && !o.hasFiles() && len(o.checked()) == 0 {
		errs = append(errs, errors.New("-check needs hook files or folders"))
	}
	if mode == "test" && len(o.tested()) == 0 {
		errs = append(errs, errors.New("-test needs a folder or files with stories"))
	}
	return errors.Join(errs...)
}

func (o *options) hasFiles() bool {
	return slices.ContainsFunc(o.files[:], func(t texts) bool { return len(t) > 0 })
}

// checked are the files whose tier is taken from their shape.
func (o *options) checked() []string { return append(slices.Clone(o.check.names), o.args...) }

// tested are the folders and files with stories.
func (o *options) tested() []string { return append(slices.Clone(o.test.names), o.args...) }

// toolNames are the names behind -tools, given one by one or in a list.
func (o *options) toolNames() []string {
	return strings.FieldsFunc(strings.Join(o.tools, ","), func(r rune) bool { return r == ',' || r == ' ' })
}

// payloadFile is the file of the payload; "-" is standard input.
func (o *options) payloadFile() string {
	if len(o.args) == 0 {
		return "-"
	}
	return o.args[0]
}
