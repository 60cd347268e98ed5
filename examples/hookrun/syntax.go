package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/hookruntime/hooks"
)

// This file finds hooks that their interpreter cannot read. At a syntax error
// bash ends with code 2, the code that blocks: once such a hook is deployed,
// nobody can tell its typo from its policy.

// syntaxTime bounds the check of one hook. It takes milliseconds where the
// machine is not busy.
const syntaxTime = 10 * time.Second

// The arguments that make an interpreter read a text from stdin and run none of
// it. Those of a shebang are not among them: -i and +n would run the hook.
var (
	readBash    = []string{"--noprofile", "--norc", "-n"}
	readExtglob = []string{"--noprofile", "--norc", "-O", "extglob", "-n"}
	// compile sees more than the parser, as a return outside of a function. The
	// line is reported in bash's words; a warning would quote the script.
	readPython = []string{"-I", "-W", "ignore", "-c", `import sys
try: compile(sys.stdin.buffer.read().decode(), "hook", "exec", dont_inherit=True)
except SyntaxError as e: sys.exit(f"python3: line {e.lineno}: syntax error")`}
)

// spoken finds the lines that a message names. The message itself quotes the
// script, which may hold secrets, and is not shown.
var spoken = regexp.MustCompile(`(?m)^.*?: line (\d+): (warning: (?:here-document at line (\d+))?)?`)

// syntax reports the hooks that their interpreters cannot read. found is what
// the files hold. No hook is run.
func syntax(ctx context.Context, found []hooks.Hook, files []string, opts *hooks.CheckOptions) (ds []hooks.Diagnostic) {
	var from []string
	for i := range found {
		c, ok := found[i].Run.(hooks.Command)
		if !ok || found[i].Dialect == hooks.VSCode && runtime.GOOS == "windows" { // PowerShell
			continue
		}
		d := syntaxOf(ctx, c)
		if d.Message == "" {
			continue
		}
		if from == nil {
			from = origins(found, files, opts)
		}
		d.File = from[i]
		// Without a line in the file the name is needed to find the hook.
		d.Message = fmt.Sprintf("hook %q: %s", found[i].Ref(), d.Message)
		ds = append(ds, d)
	}
	return ds
}

// syntaxOf returns what is wrong with one command; no message means nothing.
func syntaxOf(ctx context.Context, c hooks.Command) hooks.Diagnostic {
	name, args, key, text := "bash", readBash, "command", c.Line
	if c.Script != "" {
		key, text = "script", c.Script
		if !strings.HasPrefix(text, "#!/bin/bash") { // the loader lets only one other pass
			name, args = "python3", readPython
		}
	}
	exit, said, err := read(ctx, name, args, text)
	if name == "bash" && err == nil && exit.Code != 0 && strings.Contains(text, "extglob") {
		// bash can read what comes behind "shopt -s extglob" only once that has
		// run, so it gets the benefit of the doubt.
		exit, said, err = read(ctx, name, readExtglob, text)
	}
	d, at, opened := hooks.Diagnostic{Key: key}, 0, 0
	for _, m := range spoken.FindAllStringSubmatch(said, -1) {
		if m[2] == "" {
			at, _ = strconv.Atoi(m[1])
			// bash counts the end of the text as a line of its own.
			at = min(at, 1+strings.Count(strings.TrimSuffix(text, "\n"), "\n"))
			break // the next line quotes the script
		}
		if opened == 0 && m[3] != "" {
			opened, _ = strconv.Atoi(m[3])
		}
	}
	switch {
	case err != nil:
		d.Message = fmt.Sprintf("the %s is not checked for syntax errors: %v", key, err)
	case exit.Code == 0 && opened > 0:
		// No error: bash runs it all the same.
		d.Message = fmt.Sprintf("the here-document in line %d of the %s is not ended by its word: bash takes the lines behind it for its text", opened, key)
	case exit.Code == 0:
	case at > 0:
		d.Severity = hooks.SeverityError
		d.Message = fmt.Sprintf("the %s has a syntax error at its line %d: %s ends with code %d, which ", key, at, name, exit.Code)
		if exit.Code == 2 {
			d.Message += "blocks"
		} else {
			d.Message += "is a failure"
		}
	default: // a wrapper that finds no interpreter, for example
		d.Message = fmt.Sprintf("the %s is not checked for syntax errors: %s ended with code %d and named no line", key, name, exit.Code)
	}
	return d
}

// read hands a text to an interpreter, in the environment that hooks get. It
// returns what stderr says; an error means that the text was not read.
func read(ctx context.Context, name string, args []string, text string) (hooks.Exit, string, error) {
	ctx, cancel := context.WithTimeout(ctx, syntaxTime)
	defer cancel()
	var local hooks.Local
	argv, err := local.Interpreter(name)
	if err != nil {
		return hooks.Exit{}, "", fmt.Errorf("there is no %s on this machine", name)
	}
	stderr := &head{limit: maxMessages}
	exit, err := local.Exec(ctx, hooks.Process{
		Argv:  append(argv, args...),
		Env:   []string{"LC_ALL=C"}, // bash translates its messages
		Stdin: strings.NewReader(text), Stderr: stderr,
	})
	switch {
	case ctx.Err() != nil && (err != nil || exit.Signal != ""):
		err = errors.New(name + " did not end in time")
	case err == nil && exit.Signal != "":
		err = fmt.Errorf("%s was ended by signal %q", name, exit.Signal)
	}
	return exit, stderr.String(), err
}
