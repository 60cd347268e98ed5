package hooks

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hookruntime/hooks/internal/proc"
	"github.com/hookruntime/hooks/internal/wire"
)

// commandRunner runs a Command in a sandbox and climbs the exit ladder
// (CMD-1 to CMD-6).
type commandRunner struct {
	sandbox Sandbox
	argv    []string
	dir     string
	env     []string
	lim     Limits
	reader  answerReader
}

// newCommandRunner finds the interpreter (CMD-17). A script is passed as an
// argument, not as a file: there is nothing to place, to tamper with or to
// remove, and nothing beside it on a module path.
func newCommandRunner(c Command, sandbox Sandbox, lim Limits, conduct Conduct) (*commandRunner, error) {
	r := &commandRunner{
		sandbox: sandbox, dir: c.Dir, lim: lim,
		env:    append(slices.Clone(c.Env), depthEntry()),
		reader: answerReader{conduct: conduct, lim: lim},
	}
	name, args, text := "bash", []string(nil), c.Line
	if c.Script != "" {
		var err error
		if name, args, err = interpreterOf(c.Script); err != nil {
			return nil, err
		}
		text = c.Script
	}
	argv, err := interpreter(sandbox, name)
	if err != nil {
		return nil, err
	}
	r.argv = append(r.argv, argv...)
	switch name {
	case "bash":
		// Even a shebang that asks for a login shell reads no profile: it
		// would print into the protocol.
		r.argv = append(r.argv, "--noprofile", "--norc")
		for _, a := range args {
			if a != "-" && a != "--" { // both would end the options before -c
				r.argv = append(r.argv, a)
			}
		}
		// Behind --, a line that begins with a dash is not read as options,
		// which would make bash exit with 2: a block.
		r.argv = append(r.argv, "-c", "--", text)
	default:
		// -I keeps the working folder, the user's site-packages and PYTHON*
		// off the module path: a json.py in the workspace must not own hooks.
		r.argv = append(r.argv, "-I", "-c", text)
	}
	return r, nil
}

func interpreter(sandbox Sandbox, name string) ([]string, error) {
	if finder, ok := sandbox.(Interpreters); ok {
		return finder.Interpreter(name)
	}
	if name == "bash" {
		return []string{"/bin/bash"}, nil
	}
	return []string{"/usr/bin/env", name}, nil
}

func (r *commandRunner) run(ctx context.Context, in *invocation) answer {
	stdout := &proc.Capture{Head: r.lim.Stdout}
	stderr := &proc.Capture{Head: r.lim.Stderr / 2, Tail: r.lim.Stderr - r.lim.Stderr/2}
	exit, err := r.sandbox.Exec(ctx, Process{
		Argv: r.argv, Dir: r.dir, Env: r.env,
		Stdin: in.payload.reader(in.summary), Stdout: stdout, Stderr: stderr,
	})
	a := r.ladder(ctx, exit, err, stdout, stderr)
	if err == nil {
		a.signal = exit.Signal
		if exit.Signal == "" {
			a.exitCode = &exit.Code
		}
	}
	a.stdout, a.stderr = stdout.String(), stderr.String()
	return a
}

func (r *commandRunner) ladder(ctx context.Context, exit Exit, err error, stdout, stderr *proc.Capture) answer {
	switch {
	case ctx.Err() != nil && (err != nil || exit.Signal != ""):
		return failed(FailureTimeout, ctx.Err(), "did not end by its deadline")
	case err != nil:
		return failed(FailureStart, err, "could not be started: %v", err)
	case exit.Signal != "":
		return failed(FailureSignal, nil, "was ended by signal %q", exit.Signal)
	case exit.Code == 2:
		return r.blocked(stdout, stderr)
	case exit.Code != 0:
		a := failed(FailureExit, nil, "exited with code %d", exit.Code)
		return r.salvage(a, stdout)
	case stdout.Overflowed():
		return failed(FailureOutput, nil, "stdout has more than %d bytes", r.lim.Stdout)
	}
	rd := r.reader.command(stdout.Bytes())
	if rd.invalid != "" {
		a := failed(FailureOutput, nil, "%s", rd.invalid)
		a.notes = rd.notes
		return r.salvage(a, stdout)
	}
	return answer{result: rd.result, notes: rd.notes}
}

// blocked is exit 2: it blocks whatever stdout says; stderr is the reason
// (CMD-3). Hardened takes a JSON reason where stderr is blank (QRK-8).
func (r *commandRunner) blocked(stdout, stderr *proc.Capture) answer {
	reason := strings.TrimSpace(stderr.String())
	if reason == "" && r.reader.conduct == Hardened && !stdout.Overflowed() {
		if members, err := wire.Members(bytes.TrimSpace(wire.TrimBOM(stdout.Bytes()))); err == nil {
			reason = r.reader.object(members).result.Reason
		} else if found, ok := r.reader.salvage(stdout.Bytes()); ok {
			reason = found.Reason
		}
	}
	return answer{result: Reject(reason)}
}

// salvage keeps a rejection or deny that a failed hook printed all the same
// (QRK-8).
func (r *commandRunner) salvage(a answer, stdout *proc.Capture) answer {
	if r.reader.conduct != Hardened || stdout.Overflowed() {
		return a
	}
	if found, ok := r.reader.salvage(stdout.Bytes()); ok {
		a.result, a.holds = found, true
		a.failure.Message = fmt.Sprintf("%s, but printed a block", a.failure.Message)
	}
	return a
}
