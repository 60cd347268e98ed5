package hooks

import (
	"context"
	"io"
)

// Sandbox is where command hooks run. The local machine ([Local]) is the
// default; a host whose tools run elsewhere supplies its own, so that hooks
// see what the tools see. All methods may be called concurrently. Its tests
// should call [CheckSandbox].
type Sandbox interface {
	// Put stores what r yields under a path in the sandbox whose last element
	// is name, readable for the sandbox's user alone, in a folder that nobody
	// else can write to, and returns the path as a hook there must spell it.
	// On an error, which wraps one of r, nothing stays behind. An existing file
	// is never overwritten: two calls with one name give two paths.
	Put(ctx context.Context, name string, r io.Reader) (path string, err error)

	// Exec runs one process to its end. It returns an error only when nothing
	// ran; how a process ended is data ([Exit]). It returns soon after ctx is
	// done and then leaves nothing of the process or its children running, nor
	// does it after a normal end. A process that does not read its stdin, or
	// closes it, is not an error. After Exec has returned, the writers are not
	// written to and Stdin is not read any more.
	Exec(ctx context.Context, p Process) (Exit, error)

	// Remove deletes a path that Put returned, and whatever folder Put made
	// for it. The runtime calls it with a context that is not cancelled. A
	// path that is already gone is no error.
	Remove(ctx context.Context, path string) error
}

// Process is what a Sandbox is asked to run. Argv, Dir and Env are passed as
// they are; nothing is expanded by a shell.
type Process struct {
	// Argv is the program and its arguments. Argv[0] is an absolute path, or
	// what the sandbox's [Interpreters] returned.
	Argv []string
	// Dir is the working folder; empty is the sandbox's own.
	Dir string
	// Env holds "KEY=value" entries added to the sandbox's environment; a
	// later entry wins over an earlier one, and over the sandbox's. HOOKS_DEPTH
	// is always among them and must reach the process: it is what ends a hook
	// that starts its own host (see [MaxDepth]).
	Env []string
	// Stdin yields the input; nil is an empty input.
	Stdin io.Reader
	// Stdout and Stderr get the output as it comes; nil discards it. Writes to
	// one of them do not overlap.
	Stdout, Stderr io.Writer
}

// Exit is how a process ended.
type Exit struct {
	// Code is the exit code, -1 when the process was ended by a signal.
	Code int
	// Signal names what ended the process ("killed", "segmentation fault"),
	// empty after an ordinary exit.
	Signal string
}

// Interpreters is implemented by a [Sandbox] that can tell at configuration
// time where an interpreter is. [New] asks for "bash" and "python3", as far as
// its hooks need them, on Windows for hooks of [VSCode] also for "powershell",
// and refuses the hooks when the answer is an error. For a sandbox without it,
// hooks run as /bin/bash, "/usr/bin/env python3" and the PowerShell that comes
// with Windows.
type Interpreters interface {
	// Interpreter returns the argv prefix for "bash", "python3" or
	// "powershell".
	Interpreter(name string) ([]string, error)
}

// Homes is implemented by a [Sandbox] that can tell where its user's home
// folder is. [New] asks for hooks of [VSCode] whose [Command.Dir] begins with
// "~", and refuses them when the answer is an error, or the sandbox has none.
type Homes interface {
	// Home returns an absolute path, as hooks in the sandbox spell it.
	Home() (string, error)
}
