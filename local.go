package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hookruntime/hooks/internal/proc"
)

// Local runs command hooks on this machine, as the user of the host process.
// It implements [Sandbox], [Interpreters] and [Homes]. The zero value is ready;
// a Local has no state, and its methods may be called concurrently as long as
// nobody changes its fields.
//
// Hooks do not see the environment of the host, which tends to hold secrets,
// but what programs ordinarily need of it: PATH without its relative entries,
// HOME, USER, LOGNAME, SHELL, LANG, LC_*, TZ, TMPDIR and TERM, and on Windows
// the folders of the system and of the user. PYTHONNOUSERSITE=1 is added.
//
// After a hook has ended, or was ended at its deadline, what is left of its
// process group is killed, on Windows its job. A child that a hook put into
// another group (setsid, or "set -m" in a shell) lives on.
type Local struct {
	// Dir is the working folder of hooks that have none of their own. Empty
	// means the host process's; a relative one starts from there.
	Dir string
	// Env holds "KEY=value" entries added to the environment of every hook. A
	// later entry wins over an earlier one, all of them over what passes from
	// the host, and [Command.Env] over these.
	Env []string
	// InheritEnv passes the host's whole environment, except for what would
	// run code before the hook or change how its interpreter reads it:
	// BASH_ENV, ENV, BASHOPTS, SHELLOPTS, BASH_FUNC_*, LD_*, PYTHON*, on macOS
	// DYLD_*, and the relative entries of PATH. Secrets of the host pass.
	InheritEnv bool
	// TempDir is where Put makes its private folders. Empty means
	// [os.TempDir]. It may be mounted noexec: nothing in it is executed.
	TempDir string
}

var (
	_ Sandbox      = (*Local)(nil)
	_ Interpreters = (*Local)(nil)
	_ Homes        = (*Local)(nil)
)

// Exec implements [Sandbox]. It returns within a quarter of a second after ctx
// is done, and within some 600 ms after the process itself has ended, however
// its children keep the outputs open; what they write in that time counts. A
// process that not even SIGKILL ends in time, because it became another user's
// or hangs in the kernel, is left behind and collected at its end.
//
// The error, which means that nothing ran, is the context's own if ctx was
// done before the start.
func (l *Local) Exec(ctx context.Context, p Process) (Exit, error) {
	if len(p.Argv) == 0 || !filepath.IsAbs(p.Argv[0]) {
		return Exit{}, fmt.Errorf("hooks: Argv %q does not begin with an absolute path", p.Argv)
	}
	exit, err := proc.Run(ctx, &proc.Cmd{
		Argv:   p.Argv,
		Dir:    cmp.Or(p.Dir, l.Dir),
		Env:    append(l.environment(os.Environ(), runtime.GOOS), p.Env...),
		Stdin:  p.Stdin,
		Stdout: p.Stdout,
		Stderr: p.Stderr,
	})
	if err != nil {
		return Exit{}, fmt.Errorf("hooks: %w", err)
	}
	return Exit(exit), nil
}

// Interpreter implements [Interpreters] (CMD-17). "bash" is /bin/bash where
// there is one; otherwise it and "python3" are searched on the PATH that hooks
// get, its relative entries left out: a program that lies in a workspace must
// not become the interpreter of every hook. On Windows, "python3" may also be
// python.exe, and the launchers that Windows itself puts on PATH are skipped:
// its bash is the one of another system (WSL), its python opens a shop. Only
// there, "powershell" is powershell.exe or pwsh.exe.
func (l *Local) Interpreter(name string) ([]string, error) {
	env := l.environment(os.Environ(), runtime.GOOS)
	dirs := absoluteEntries(lookup(env, "PATH", runtime.GOOS), runtime.GOOS)
	programs := []string{name}
	var tried string
	switch {
	case name != "bash" && name != "python3" && (name != "powershell" || runtime.GOOS != "windows"):
		return nil, fmt.Errorf("hooks: no interpreter is called %q; there are bash and python3", name)
	case runtime.GOOS == "windows":
		dirs = slices.DeleteFunc(dirs, func(dir string) bool {
			return holdsLaunchers(dir, lookup(env, "SystemRoot", runtime.GOOS))
		})
		programs = []string{name + ".exe"}
		switch name {
		case "python3":
			programs = append(programs, "python.exe")
		case "powershell":
			programs = append(programs, "pwsh.exe")
		}
	case name == "bash":
		if path, err := exec.LookPath("/bin/bash"); err == nil {
			return []string{path}, nil
		}
		tried = "for /bin/bash and "
	}
	for _, program := range programs {
		for _, dir := range dirs {
			// With a separator in it LookPath searches nothing; it tells
			// whether the file may be executed.
			if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
				return []string{path}, nil
			}
		}
	}
	return nil, fmt.Errorf("hooks: %s was not found: looked %son the absolute entries of PATH (%s)",
		name, tried, strings.Join(dirs, string(filepath.ListSeparator)))
}

// Home implements [Homes]: HOME as hooks get it, on Windows USERPROFILE.
func (l *Local) Home() (string, error) {
	key := "HOME"
	if runtime.GOOS == "windows" {
		key = "USERPROFILE"
	}
	home := lookup(l.environment(os.Environ(), runtime.GOOS), key, runtime.GOOS)
	if !isAbsolute(home, runtime.GOOS) {
		return "", fmt.Errorf("hooks: there is no home folder: %s is %q", key, home)
	}
	return home, nil
}

// putPrefix begins the name of every folder that Put makes; digits follow.
const putPrefix = "hooks-put-"

// Put implements [Sandbox] (SUM-3): the file has mode 0600 and lies alone in a
// folder of mode 0700. Between two reads it looks at ctx; it cannot interrupt
// a Read that blocks.
func (l *Local) Put(ctx context.Context, name string, r io.Reader) (path string, err error) {
	if !isFileName(name) {
		return "", fmt.Errorf("hooks: %q is not the name of a file", name)
	}
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("hooks: putting %s: %w", name, err)
	}
	parent, err := filepath.Abs(cmp.Or(l.TempDir, os.TempDir()))
	if err != nil {
		return "", fmt.Errorf("hooks: putting %s: %w", name, err)
	}
	dir, err := os.MkdirTemp(parent, putPrefix)
	if err != nil {
		return "", fmt.Errorf("hooks: putting %s: %w", name, err)
	}
	done := false
	defer func() {
		if !done { // also when r panics
			_ = os.RemoveAll(dir)
		}
	}()
	path = filepath.Join(dir, name)
	if err := writeNew(path, untilDone{ctx, r}); err != nil {
		return "", fmt.Errorf("hooks: putting %s: %w", name, err)
	}
	done = true
	return path, nil
}

// Remove implements [Sandbox]. It refuses a path that does not look like one
// of Put's, and does not look at ctx: nothing may stay because an event was
// cancelled.
func (l *Local) Remove(_ context.Context, path string) error {
	dir, name := filepath.Split(path)
	dir = filepath.Clean(dir)
	digits, ours := strings.CutPrefix(filepath.Base(dir), putPrefix)
	if !ours || digits == "" || strings.Trim(digits, "0123456789") != "" ||
		!filepath.IsAbs(path) || path != filepath.Clean(path) {
		return fmt.Errorf("hooks: %q was not put here; it is not removed", path)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("hooks: removing %s: %w", name, err)
	}
	return nil
}

// isFileName tells whether name is the name of a file in a folder, not a path,
// and on Windows not a device or a stream.
func isFileName(name string) bool {
	return name != "." && filepath.IsLocal(name) && !strings.ContainsAny(name, "/\\:\x00")
}

// writeNew writes a new file with what r yields. O_EXCL refuses whatever has
// the name already, a link too.
func writeNew(path string, r io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

// untilDone is r until ctx is done; a nil r is empty.
type untilDone struct {
	ctx context.Context
	r   io.Reader
}

func (u untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	if u.r == nil {
		return 0, io.EOF
	}
	return u.r.Read(p)
}
