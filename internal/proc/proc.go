// Package proc runs one process to its end and leaves nothing of it behind: it
// feeds stdin without caring whether anybody reads it, drains both outputs
// while the process runs, ends the process and its children at the deadline,
// and ends what children are left after a normal end.
//
// What it ends is the process group, on Windows the job. A child that left the
// group escapes: on Unix one that was started by setsid or by a shell under
// "set -m", on Windows one that was born before the job was. An escaped child
// lives on, but cannot hold up [Run]: nobody waits for its end of a pipe.
package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

const (
	// drainTime is how long the outputs may stay open after the process has
	// ended by itself. Its children flush in that time: what passes through a
	// process substitution arrives after the shell is gone.
	drainTime = 500 * time.Millisecond
	// settleTime is how long the pipes may take to run dry after the group
	// has been killed. Ordinarily that is at once; only an escaped child uses
	// it up.
	settleTime = 100 * time.Millisecond
	// dieTime is how long the process may take to die of SIGKILL. It counts on
	// a busy machine, where a large process takes a while to be torn down, and
	// ends the wait for one that no signal can end.
	dieTime = 500 * time.Millisecond
)

// starting is the queue in front of the system's own: a program forks one child
// after the other, behind one lock, and who waits there hears of no deadline. A
// thousand hooks at once would outlast theirs by seconds. It is as wide as the
// program, as that lock is, and holds nobody while a process runs; who waits
// here holds no pipe yet.
var starting = make(chan struct{}, 8)

// Cmd is what [Run] starts.
type Cmd struct {
	// Argv is the program and its arguments. Argv[0] is a path; PATH is not
	// searched.
	Argv []string
	// Dir is the working folder; empty is this process's own.
	Dir string
	// Env is the whole environment as "KEY=value" entries, a later one winning
	// over an earlier one. Nil is an empty environment.
	Env []string
	// Stdin yields the input, by [io.WriterTo] where it implements that; nil
	// is an empty input. With a method Len, of bytes to come, a large input
	// gets a larger pipe where the system has such. An error of its own ends the
	// input there. Run waits for a Read in flight, so a reader must not block for
	// long.
	Stdin io.Reader
	// Stdout and Stderr get the output as it comes; nil discards it. They may
	// be the same writer, which then gets both in the order of the process.
	// After an error of a writer the rest is discarded; the process does not
	// notice. Run waits for a Write in flight.
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

// Signals of an [Exit] that no signal has given its name.
const (
	// signalUndead: killed, but not gone when Run had to return.
	signalUndead = "killed, but still ending"
	// signalLost: somebody else in this program collected the exit status, as
	// a host does that waits for any child.
	signalLost = "exit status lost"
)

// Run starts c and returns when it has ended and nothing of its group runs any
// more (see the package comment for what can escape). An error means that
// nothing ran; it is ctx's own when ctx was done before the start, for which Run
// waits while many others start. A process that does not read its stdin, or
// closes it, is not an error.
//
// When ctx is done, the group is killed at once, without a word of warning: a
// hook must not be able to prolong its deadline. Run then returns at once, with
// what the process wrote until then: within some 100 ms if an escaped child
// holds the pipes, within 500 ms if the process does not die. A process that
// ended by itself before it was killed keeps its exit; the caller tells the
// cases apart by ctx.Err and the Exit.
//
// After Run has returned, the writers are not written to and Stdin is not
// read. No goroutine, descriptor or zombie stays, with one exception: a process
// that even SIGKILL cannot end (it became another user's by a setuid program,
// or hangs in the kernel) is left to a goroutine that collects it at its end.
//
// Run may be called concurrently.
func Run(ctx context.Context, c *Cmd) (Exit, error) {
	return run(ctx, c, manner{kill: (*group).kill, drain: drainTime})
}

// manner is what tests vary of Run: they play the process that cannot be
// killed, and take the clock out of a drain.
type manner struct {
	kill  func(*group)
	drain time.Duration
}

func run(ctx context.Context, c *Cmd, m manner) (Exit, error) {
	p, err := startInTurn(ctx, c)
	if err != nil {
		return Exit{}, err
	}
	return p.follow(ctx, m), nil
}

// startInTurn starts c unless ctx is done before its turn comes.
func startInTurn(ctx context.Context, c *Cmd) (*process, error) {
	select {
	case starting <- struct{}{}:
		defer func() { <-starting }()
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return start(c)
}

// follow feeds and drains a process until it has ended.
func (p *process) follow(ctx context.Context, m manner) Exit {
	// The receiver of exited collects the process. When Run gives up, that is
	// the goroutine itself.
	exited, abandoned := make(chan struct{}), make(chan struct{})
	go func() {
		p.group.await()
		select {
		case exited <- struct{}{}:
		case <-abandoned:
			p.reap(m.kill)
		}
	}()
	drained := p.streams.copy()

	gone := false
	select {
	case <-exited:
		gone = true
		// Not before the drain: killing the group now would take the output
		// from children that are about to flush.
		select {
		case <-drained:
		case <-time.After(m.drain):
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
	m.kill(p.group)
	gone = p.settle(gone, exited, drained)
	p.streams.close()
	if !gone {
		close(abandoned)
		return Exit{Code: -1, Signal: signalUndead}
	}
	return p.reap(m.kill)
}

// settle waits, within bounds, for the end of a process that was killed and for
// its outputs to run dry. It reports whether the process is gone.
func (p *process) settle(gone bool, exited, drained <-chan struct{}) bool {
	if gone {
		select {
		case <-drained: // the ordinary case, which needs no clock
			return true
		default:
		}
	}
	settled, overdue := time.After(settleTime), time.After(dieTime)
	for !gone || drained != nil {
		select {
		case <-exited:
			gone = true
		case <-drained:
			drained = nil
		case <-settled:
			drained = nil
		case <-overdue:
			return gone
		}
	}
	return true
}

// process is a started process: who it is, and what we hold of it.
type process struct {
	cmd     *exec.Cmd
	group   *group
	streams *streams
}

// start starts c. After an error nothing is left of the attempt.
func start(c *Cmd) (p *process, err error) {
	if len(c.Argv) == 0 {
		return nil, errors.New("no program to start")
	}
	g, err := newGroup()
	if err != nil {
		return nil, fmt.Errorf("cannot watch a process: %w", err)
	}
	s := new(streams)
	defer func() {
		// The child has its own copies of its ends. Ours would keep the pipes
		// open for ever.
		closeAll(s.theirs)
		if err != nil {
			s.discard()
			g.close()
		}
	}()

	// Not exec.Command, which searches PATH. exec.Cmd takes a nil Env as "like
	// ours".
	cmd := &exec.Cmd{Path: c.Argv[0], Args: c.Argv, Dir: c.Dir, Env: c.Env, SysProcAttr: g.attributes()}
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	if err := s.connect(cmd, c); err != nil {
		return nil, fmt.Errorf("cannot open a pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, startError(c, err)
	}
	if err := g.adopt(cmd.Process); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, fmt.Errorf("cannot watch the process: %w", err)
	}
	return &process{cmd, g, s}, nil
}

// reap collects the process, which has ended. Until then its id, and with it
// the id of its group, cannot belong to a stranger: the last moment to kill
// what a child has left behind.
func (p *process) reap(kill func(*group)) Exit {
	kill(p.group)
	_ = p.cmd.Wait() // the state tells all; its error says "exit status 2"
	p.group.close()
	if p.cmd.ProcessState == nil {
		return Exit{Code: -1, Signal: signalLost}
	}
	return exitOf(p.cmd.ProcessState)
}

// startError says which of the two paths is at fault. The system's "no such
// file or directory" names the program also when the folder is missing.
func startError(c *Cmd, err error) error {
	if c.Dir != "" {
		fi, statErr := os.Stat(c.Dir)
		if statErr == nil && !fi.IsDir() {
			statErr = &os.PathError{Op: "chdir", Path: c.Dir, Err: syscall.ENOTDIR}
		}
		if statErr != nil {
			return fmt.Errorf("cannot start %s in its working folder: %w", c.Argv[0], statErr)
		}
	}
	return fmt.Errorf("cannot start %s: %w", c.Argv[0], err)
}
