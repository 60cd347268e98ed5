package hooks

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"runtime"
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
	folder  func(workspace string) string
	env     []string
	lim     Limits
	exits   exitReader
}

// exitReader says what an ordinary end of a command means: a code, not a
// signal, and in time.
type exitReader interface {
	exited(code int, stdout, stderr *proc.Capture) answer
}

// newCommandRunner finds the interpreter (CMD-17). A script is passed as an
// argument, not as a file: there is nothing to place, to tamper with or to
// remove, and nothing beside it on a module path. line is how the dialect runs
// a command line.
func newCommandRunner(c Command, sandbox Sandbox, lim Limits, line func(line, goos string) (string, []string), exits exitReader) (*commandRunner, error) {
	r := &commandRunner{
		sandbox: sandbox, lim: lim, exits: exits,
		env:    append(slices.Clone(c.Env), depthEntry()),
		folder: func(string) string { return c.Dir },
	}
	name, args := line(c.Line, runtime.GOOS)
	if c.Script != "" {
		var err error
		if name, args, err = scriptArgs(c.Script); err != nil {
			return nil, err
		}
	}
	argv, err := interpreter(sandbox, name)
	if err != nil {
		return nil, err
	}
	r.argv = append(slices.Clone(argv), args...)
	return r, nil
}

// scriptArgs returns the interpreter of a script and the arguments behind it.
func scriptArgs(script string) (name string, args []string, err error) {
	name, options, err := interpreterOf(script)
	if name != "bash" {
		// -I keeps the working folder, the user's site-packages and PYTHON*
		// off the module path: a json.py in the workspace must not own hooks.
		return name, []string{"-I", "-c", script}, err
	}
	// Even a shebang that asks for a login shell reads no profile: it would
	// print into the protocol.
	args = []string{"--noprofile", "--norc"}
	for _, o := range options {
		if o != "-" && o != "--" { // both would end the options before -c
			args = append(args, o)
		}
	}
	return name, append(args, "-c", "--", script), nil
}

func (r *commandRunner) run(ctx context.Context, in *invocation, a *answer) {
	stdout := &proc.Capture{Head: r.lim.Stdout}
	stderr := &proc.Capture{Head: r.lim.Stderr / 2, Tail: r.lim.Stderr - r.lim.Stderr/2}
	exit, err := r.sandbox.Exec(ctx, Process{
		Argv: r.argv, Dir: r.folder(in.event.common().Workspace), Env: r.env,
		Stdin: in.payload.reader(in.summary), Stdout: stdout, Stderr: stderr,
	})
	r.read(ctx, exit, err, stdout, stderr, a)
}

// read is apart from run so that the frames of reading are not on the stack
// while the process runs.
func (r *commandRunner) read(ctx context.Context, exit Exit, err error, stdout, stderr *proc.Capture, a *answer) {
	*a = r.ladder(ctx, exit, err, stdout, stderr)
	if err == nil {
		a.signal = exit.Signal
		if exit.Signal == "" {
			a.exitCode = &exit.Code
		}
	}
	a.stdout, a.stderr = stdout.Excerpt(r.lim.Stderr), stderr.String()
}

func (r *commandRunner) ladder(ctx context.Context, exit Exit, err error, stdout, stderr *proc.Capture) answer {
	switch {
	case ctx.Err() != nil && (err != nil || exit.Signal != ""):
		return failed(FailureTimeout, ctx.Err(), "did not end by its deadline")
	case err != nil:
		return failed(FailureStart, err, "could not be started: %v", err)
	case exit.Signal != "":
		return failed(FailureSignal, nil, "was ended by signal %q", exit.Signal)
	}
	a := r.exits.exited(exit.Code, stdout, stderr)
	if overdue(ctx) && a.failure == nil && !a.result.blocks() && !a.result.stops() {
		// Its children may have been about to say more.
		return failed(FailureTimeout, cmp.Or(ctx.Err(), context.DeadlineExceeded), "had not ended, with its outputs, by its deadline")
	}
	return a
}

// contractReader reads how commands of the hook data contract end.
type contractReader struct{ answerReader }

func newContractReader(_ *eventRow, c Conduct, lim Limits) exitReader {
	return &contractReader{answerReader{conduct: c, lim: lim}}
}

func (cr *contractReader) exited(code int, stdout, stderr *proc.Capture) answer {
	switch {
	case code == 2:
		return cr.blocked(stdout, stderr)
	case code != 0:
		a := failed(FailureExit, nil, "exited with code %d", code)
		return cr.keepBlock(a, stdout)
	case stdout.Overflowed():
		return failed(FailureOutput, nil, "stdout has more than %d bytes", cr.lim.Stdout)
	}
	rd := cr.command(stdout.Bytes())
	if rd.invalid != "" {
		a := failed(FailureOutput, nil, "%s", rd.invalid)
		a.notes = rd.notes
		return cr.keepBlock(a, stdout)
	}
	return answer{result: rd.result, notes: rd.notes}
}

// blocked is exit 2: it blocks whatever stdout says; stderr is the reason
// (CMD-3). Hardened takes a JSON reason where stderr is blank (QRK-8).
func (cr *contractReader) blocked(stdout, stderr *proc.Capture) answer {
	reason := strings.TrimSpace(stderr.String())
	if reason == "" && cr.conduct == Hardened && !stdout.Overflowed() {
		if members, err := wire.Members(bytes.TrimSpace(wire.TrimBOM(stdout.Bytes()))); err == nil {
			reason = cr.object(members).result.Reason
		} else if found, ok := cr.salvage(stdout.Bytes()); ok {
			reason = found.Reason
		}
	}
	return answer{result: Reject(reason)}
}

// keepBlock keeps a rejection or deny that a failed hook printed all the same
// (QRK-8).
func (cr *contractReader) keepBlock(a answer, stdout *proc.Capture) answer {
	if cr.conduct != Hardened || stdout.Overflowed() {
		return a
	}
	if found, ok := cr.salvage(stdout.Bytes()); ok {
		a.result, a.holds = found, true
		a.failure.Message = fmt.Sprintf("%s, but what it printed blocks", a.failure.Message)
	}
	return a
}
