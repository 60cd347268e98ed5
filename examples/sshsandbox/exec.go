package sshsandbox

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hookruntime/hooks"
)

const (
	// drainTime is how long the outputs may stay open after the hook has ended
	// by itself: its children flush in that time.
	drainTime = 500 * time.Millisecond
	// settleTime is how long the other machine may take to say that all is
	// over, once it was told to end it.
	settleTime = time.Second
	// longestLife is that of a hook without a deadline.
	longestLife = 24 * time.Hour
)

// Exec implements [hooks.Sandbox]. It returns within a second after ctx is
// done, and within a second and a half after the process has ended, however
// its children hold the outputs. See the package comment for what happens when
// the connection drops.
//
// The error, which means that nothing ran, is also that of a folder or program
// that does not exist there. A program that exists and cannot be started all
// the same, like a script without its interpreter or arguments that are too
// long, ends with code 126 or 127.
func (s *Sandbox) Exec(ctx context.Context, p hooks.Process) (hooks.Exit, error) {
	command, err := s.command(p)
	if err != nil {
		return hooks.Exit{}, fmt.Errorf("sshsandbox: %w", err)
	}
	release, err := s.acquire(ctx)
	if err != nil {
		return hooks.Exit{}, fmt.Errorf("sshsandbox: %w", err)
	}
	defer release()
	h, err := await(ctx, func() (*hook, error) { return s.prepare(ctx, p) }, (*hook).drop)
	if err != nil {
		return hooks.Exit{}, fmt.Errorf("sshsandbox: %w", err)
	}
	return h.run(ctx, command, p), nil
}

// command is the line by which the prepared shell becomes the hook.
func (s *Sandbox) command(p hooks.Process) (string, error) {
	env := slices.Concat(s.opts.Env, p.Env)
	for _, word := range slices.Concat(p.Argv, env, []string{p.Dir}) {
		if strings.Contains(word, "\x00") {
			return "", errors.New("a NUL byte cannot be passed to a process")
		}
	}
	for _, entry := range env {
		if strings.Index(entry, "=") < 1 {
			return "", errors.New("an entry of Env is not KEY=value")
		}
	}
	// env would take a program with "=" in its path for a variable.
	if len(p.Argv) == 0 || !path.IsAbs(p.Argv[0]) || strings.Contains(p.Argv[0], "=") {
		return "", errors.New("the program of Argv is not an absolute path without =")
	}
	// What comes next on stdin is data. Should exec fail, bash must not read on.
	return `exec /usr/bin/env -i -- "${env[@]}" ` + quoteAll(slices.Concat(env, p.Argv)) + " || exit 126\n", nil
}

// hook is a shell on its leash, ready to become a hook.
type hook struct {
	*bash
	leash *bash
	beat  time.Duration
}

func (s *Sandbox) prepare(ctx context.Context, p hooks.Process) (*hook, error) {
	life := longestLife
	if deadline, ok := ctx.Deadline(); ok {
		life = min(life, time.Until(deadline))
	}
	// bash counts whole seconds, of which the first may be short.
	lifetime := strconv.Itoa(int(life/time.Second) + 2)

	dir := cmp.Or(p.Dir, s.opts.Dir)
	if dir != "" && !path.IsAbs(dir) {
		dir = "./" + dir // "-" is not a folder to cd
	}
	b, err := s.bash(hookScript, dir, p.Argv[0], lifetime)
	if err != nil {
		return nil, err
	}
	h := &hook{bash: b, beat: s.opts.Patience / 4}
	group, err := h.word()
	if err != nil {
		h.finish()
		return nil, err
	}
	patience := strconv.Itoa(int(s.opts.Patience / time.Second))
	if h.leash, err = s.bash(leashScript, group, patience, lifetime); err != nil {
		h.finish()
		return nil, err
	}
	if _, err := h.leash.word(); err != nil {
		h.drop()
		return nil, err
	}
	return h, nil
}

// drop ends a hook that did not begin.
func (h *hook) drop() {
	h.leash.finish()
	h.finish()
}

// unconfirmedSignal ends a process of which the other machine did not say in
// time that it is gone.
const unconfirmedSignal = "killed, not confirmed"

// run lets the hook begin, and returns when it is over.
func (h *hook) run(ctx context.Context, command string, p hooks.Process) hooks.Exit {
	var in, out sync.Mutex
	stdin, stdout, stderr := &gate{mu: &in, r: p.Stdin}, &gate{mu: &out, w: p.Stdout}, &gate{mu: &out, w: p.Stderr}
	go func() {
		if _, err := io.WriteString(h, command); err == nil {
			_, _ = io.Copy(h, stdin) // a hook need not read
		}
		_ = h.CloseWrite()
	}()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		var outputs sync.WaitGroup
		outputs.Go(func() { _, _ = io.Copy(stdout, h.out) })
		outputs.Go(func() { h.copyStderr(stderr) })
		outputs.Wait()
	}()
	letDie := h.keepAlive()

	select {
	case <-h.ended:
		// Killing the group now would take the output from children that are
		// about to flush.
		select {
		case <-drained:
		case <-time.After(drainTime):
		case <-ctx.Done():
		}
	case <-h.leash.ended:
	case <-ctx.Done():
	}

	// The end of its input is what makes the leash kill. After that nothing
	// holds the outputs, and the server closes both channels.
	letDie()
	_ = h.leash.CloseWrite()
	wait(settleTime, h.leash.ended, h.ended, drained, h.leash.closed, h.closed)
	stdin.close()
	stdout.close()
	stderr.close()
	_ = h.leash.Close()
	_ = h.Close()
	select {
	case <-h.ended:
		return h.exit
	default:
		return hooks.Exit{Code: -1, Signal: unconfirmedSignal}
	}
}

// keepAlive gives signs of life to the leash until stop is called.
func (h *hook) keepAlive() (stop func()) {
	over, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(h.beat)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				// An error is the connection's, which others notice.
				_, _ = io.WriteString(h.leash, "alive\n")
			case <-over:
				return
			}
		}
	}()
	return func() { close(over); <-stopped }
}

// copyStderr passes on what comes after the mark; what a login shell wrote
// before is not the hook's.
func (h *hook) copyStderr(w io.Writer) {
	r := bufio.NewReader(h.Stderr())
	for line := ""; line != h.mark+"\n"; {
		var err error
		if line, err = r.ReadString('\n'); err != nil {
			return
		}
	}
	_, _ = r.WriteTo(w)
}

// wait waits for all of the channels to be closed, but no longer than d.
func wait(d time.Duration, channels ...<-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for _, c := range channels {
		select {
		case <-c:
		case <-timer.C:
			return
		}
	}
}

// gate is a stream of the caller's that nobody uses after it was closed. The
// goroutines that do may wait for the other machine for longer than Exec does.
type gate struct {
	mu     *sync.Mutex // of both outputs, which may be one writer
	closed bool
	r      io.Reader
	w      io.Writer
}

func (g *gate) Read(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || g.r == nil {
		return 0, io.EOF
	}
	return g.r.Read(p)
}

// Write does not fail: a hook should not notice what its caller does with the
// output.
func (g *gate) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed && g.w != nil {
		if _, err := g.w.Write(p); err != nil {
			g.w = nil
		}
	}
	return len(p), nil
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}
