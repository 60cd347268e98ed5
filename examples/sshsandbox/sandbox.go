// Package sshsandbox runs command hooks on another machine, through a
// connection to its SSH server: where an agent's tools run elsewhere, its hooks
// should see what the tools see.
//
// It needs nothing there but bash and what every system with bash has (env,
// head, mkdir, rm, sleep, wc), and installs nothing. It is known to work with
// OpenSSH, for accounts whose login shell takes "exec /bin/bash …" and that are
// not bound to one command.
//
// # Two channels
//
// A hook has two channels of the connection. One carries its stdin, stdout and
// stderr; a shell there prepares folder and environment and gives its place to
// the hook, so that the server itself reports the exit code or signal. The
// other one is its leash: a shell outside of the hook's process group, which
// kills the group
//
//   - when it is told to: the context is done, or the hook has ended and what is
//     left of its group must go;
//   - when the connection ends, which the server notices at once if the other
//     side was closed or its machine tells so;
//   - when no sign of life has come for [Options.Patience], as when a network
//     falls silent or the host is suspended;
//   - a second or two after the hook's deadline, by its own clock.
//
// The hook does not start before the leash holds it.
//
// # When the connection drops
//
// On the other machine the leash kills the hook and its group, as told above,
// whatever the hook ignores. On this side [Sandbox.Exec] returns as soon as the
// connection is known to be lost, with the signal "connection lost"; where a
// network merely falls silent, that is soon after the deadline, with the signal
// "killed, not confirmed". For the runtime both are failures of the hook, which
// its failMode judges; no output is taken for an answer. A file that was being
// put is removed there; one that had been put stays, since nobody is left who
// could remove it. The Sandbox does not connect anew: a host that does makes a
// new one.
//
// A child that moved to another process group or session (setsid) escapes, as
// it does from [hooks.Local], and a hook can kill its own leash: it runs as the
// same user.
package sshsandbox

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/hookruntime/hooks"
)

// Options are what a Sandbox may be told. The zero value is fine.
type Options struct {
	// Dir is the working folder of hooks that have none of their own. Empty
	// is the home folder of the account.
	Dir string
	// Env holds "KEY=value" entries that are added to the environment of every
	// hook. What passes from the account without them is PATH without its
	// relative entries, HOME, USER, LOGNAME, SHELL, LANG, LC_*, TZ and TMPDIR.
	Env []string
	// TempDir is where Put makes its folders. Empty is TMPDIR of the account,
	// else /tmp.
	TempDir string
	// Bash is the absolute path of bash there; empty is /bin/bash.
	Bash string
	// MaxSessions is how many sessions of the connection the Sandbox may have
	// open at once; 0 is 10, the default limit of an OpenSSH server. A hook
	// takes two, and waits while there are none, on its own time. A host that
	// runs its tools over the same connection leaves some to them.
	MaxSessions int
	// Patience is how long a hook goes on when no sign of life comes from this
	// side, in whole seconds; 0 is ten seconds.
	Patience time.Duration
}

// Sandbox runs hooks on the machine at the other end of an SSH connection. It
// implements [hooks.Sandbox] and [hooks.Interpreters]. It may be used
// concurrently. It does not close the connection.
type Sandbox struct {
	client *ssh.Client
	opts   Options
	slots  chan struct{} // one is room for two sessions
}

var (
	_ hooks.Sandbox      = (*Sandbox)(nil)
	_ hooks.Interpreters = (*Sandbox)(nil)
)

// New returns a Sandbox on a connection. It sends nothing yet.
func New(client *ssh.Client, opts *Options) *Sandbox {
	s := &Sandbox{client: client}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.Bash = cmp.Or(s.opts.Bash, "/bin/bash")
	s.opts.Patience = max(cmp.Or(s.opts.Patience, 10*time.Second), time.Second)
	s.slots = make(chan struct{}, max(cmp.Or(s.opts.MaxSessions, 10)/2, 1))
	return s
}

// findTime bounds Interpreter, which has no context.
const findTime = 30 * time.Second

// Interpreter implements [hooks.Interpreters], by looking on the other machine.
func (s *Sandbox) Interpreter(name string) ([]string, error) {
	if name != "bash" && name != "python3" {
		return nil, fmt.Errorf("sshsandbox: no interpreter is called %q; there are bash and python3", name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), findTime)
	defer cancel()
	file, err := s.ask(ctx, findScript, name)
	if err != nil {
		return nil, fmt.Errorf("sshsandbox: finding %s: %w", name, err)
	}
	return []string{file}, nil
}

// putPrefix begins the name of every folder that Put makes.
const putPrefix = "hooks-put-"

var putFolder = regexp.MustCompile(`^` + putPrefix + `[0-9A-Z]{26}$`)

// Put implements [hooks.Sandbox]: the file has mode 0600 and lies alone in a
// folder of mode 0700. What r yields is read to its end first, so an error of r
// sends nothing. If the connection drops in the moment between the file's
// acceptance there and the news of it here, Put returns an error and the file
// stays.
func (s *Sandbox) Put(ctx context.Context, name string, r io.Reader) (string, error) {
	file, err := s.put(ctx, name, r)
	if err != nil {
		return "", fmt.Errorf("sshsandbox: putting %s: %w", name, err)
	}
	return file, nil
}

func (s *Sandbox) put(ctx context.Context, name string, r io.Reader) (string, error) {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return "", errors.New("that is not the name of a file")
	}
	content, err := io.ReadAll(untilDone{ctx, r})
	if err != nil {
		return "", err
	}
	release, err := s.acquire(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	return await(ctx, func() (string, error) {
		b, err := s.bash(putScript, putPrefix+rand.Text(), s.opts.TempDir, name, strconv.Itoa(len(content)))
		if err != nil {
			return "", err
		}
		defer b.finish()
		defer b.until(ctx)()
		if _, err := io.Copy(b, bytes.NewReader(content)); err != nil {
			return "", b.lost(err)
		}
		folder, err := b.word()
		if err != nil {
			return "", err
		}
		if err := ctx.Err(); err != nil {
			return "", err // not having been told to keep it, the script removes it
		}
		if _, err := io.WriteString(b, "keep\n"); err != nil {
			return "", b.lost(err)
		}
		if _, err := b.word(); err != nil {
			return "", err
		}
		return path.Join(folder, name), nil
	}, func(file string) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), findTime)
		defer cancel()
		_ = s.Remove(ctx, file)
	})
}

// Remove implements [hooks.Sandbox]. It refuses a path that does not look like
// one of Put's.
func (s *Sandbox) Remove(ctx context.Context, file string) error {
	folder := path.Dir(file)
	if !path.IsAbs(file) || file != path.Clean(file) || !putFolder.MatchString(path.Base(folder)) {
		return fmt.Errorf("sshsandbox: %q was not put here; it is not removed", file)
	}
	if _, err := s.ask(ctx, removeScript, folder); err != nil {
		return fmt.Errorf("sshsandbox: removing %s: %w", path.Base(file), err)
	}
	return nil
}

// ask runs a script that says one thing.
func (s *Sandbox) ask(ctx context.Context, script string, args ...string) (string, error) {
	release, err := s.acquire(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	return await(ctx, func() (string, error) {
		b, err := s.bash(script, args...)
		if err != nil {
			return "", err
		}
		defer b.finish()
		defer b.until(ctx)()
		return b.word()
	}, func(string) {})
}

// acquire waits for room for two sessions.
func (s *Sandbox) acquire(ctx context.Context) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case s.slots <- struct{}{}:
		return func() { <-s.slots }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("no session of the connection is free: %w", ctx.Err())
	}
}

// await runs f, which talks to the other machine and so may block for as long
// as the connection lasts, until ctx is done. What f makes after that is
// undone.
func await[T any](ctx context.Context, f func() (T, error), undo func(T)) (T, error) {
	type returned struct {
		value T
		err   error
	}
	done := make(chan returned, 1)
	go func() {
		value, err := f()
		done <- returned{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		go func() {
			if r := <-done; r.err == nil {
				undo(r.value)
			}
		}()
		var zero T
		return zero, ctx.Err()
	}
}

// untilDone is r until ctx is done.
type untilDone struct {
	ctx context.Context
	r   io.Reader
}

func (u untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}
