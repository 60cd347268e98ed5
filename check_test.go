//go:build unix

package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheckSandbox(t *testing.T) {
	t.Parallel()
	for name, sandbox := range map[string]Sandbox{
		"local":  &Local{TempDir: t.TempDir()},
		"memory": &memorySandbox{root: t.TempDir()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.NoError(t, CheckSandbox(t.Context(), sandbox))
		})
	}
}

// broken is a Local that neglects duties.
type broken struct {
	Local
	put    func(b *broken, ctx context.Context, name string, r io.Reader) (string, error)
	exec   func(b *broken, ctx context.Context, p Process) (Exit, error)
	remove func(b *broken, path string) error
	find   func(name string) ([]string, error)
	lock   sync.Mutex
	last   Process
}

func (b *broken) Put(ctx context.Context, name string, r io.Reader) (string, error) {
	if b.put != nil {
		return b.put(b, ctx, name, r)
	}
	return b.Local.Put(ctx, name, r)
}

func (b *broken) Exec(ctx context.Context, p Process) (Exit, error) {
	if b.exec != nil {
		return b.exec(b, ctx, p)
	}
	return b.Local.Exec(ctx, p)
}

func (b *broken) Remove(ctx context.Context, path string) error {
	if b.remove != nil {
		return b.remove(b, path)
	}
	return b.Local.Remove(ctx, path)
}

func (b *broken) Interpreter(name string) ([]string, error) {
	if b.find != nil {
		return b.find(name)
	}
	return b.Local.Interpreter(name)
}

// plainly runs a process as os/exec does, without a group, and with change.
func plainly(ctx context.Context, p Process, change func(*exec.Cmd)) (Exit, error) {
	cmd := exec.CommandContext(ctx, p.Argv[0], p.Argv[1:]...)
	cmd.Dir, cmd.Env = p.Dir, append(os.Environ(), p.Env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Stdin, p.Stdout, p.Stderr
	change(cmd)
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return Exit{}, err
	}
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		return Exit{Code: -1, Signal: status.Signal().String()}, nil
	}
	return Exit{Code: cmd.ProcessState.ExitCode()}, nil
}

// waits ends when its context does.
type waits struct{ context.Context }

func (w waits) Read([]byte) (int, error) { <-w.Done(); return 0, io.EOF }

// counts remembers whether it was read to its end.
type counts struct {
	io.Reader
	end bool
}

func (c *counts) Read(p []byte) (n int, err error) {
	n, err = c.Reader.Read(p)
	c.end = c.end || err == io.EOF
	return n, err
}

// capped is an io.Writer that loses what is written beyond 64 KiB.
type capped struct {
	io.Writer
	left int
}

func (c *capped) Write(p []byte) (int, error) {
	k := min(c.left, len(p))
	c.left -= k
	if _, err := c.Writer.Write(p[:k]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// A duty that a sandbox neglects is found, by name.
func TestCheckSandboxFinds(t *testing.T) {
	t.Parallel()
	type run = func(b *broken, ctx context.Context, p Process) (Exit, error)
	exitWith := func(change func(Exit) Exit) run {
		return func(b *broken, ctx context.Context, p Process) (Exit, error) {
			exit, err := b.Local.Exec(ctx, p)
			return change(exit), err
		}
	}
	changed := func(change func(p *Process)) run {
		return func(b *broken, ctx context.Context, p Process) (Exit, error) {
			if p.Stdout != nil {
				change(&p)
			}
			return b.Local.Exec(ctx, p)
		}
	}
	const (
		keeps, hides, adds = "Put stores", "Put makes", "Put never overwrites"
		fails, cancelled   = "Put returns an error of its reader", "Put ends when its context is done"
		removes, twice     = "Remove deletes", "Remove of a path"
		argv, dir, env     = "Exec passes Argv", "Exec runs the process in Dir", "Exec adds Env"
		stdin, unread      = "Exec feeds all", "Exec does not mind"
		outputs, discards  = "Exec passes all of stdout", "Exec discards"
		codes, signals     = "Exec returns the exit code", "Exec tells an end by a signal"
		starts, stopped    = "Exec returns an error when nothing ran", "Exec returns soon after the deadline"
		flooded, holders   = "whatever the process writes", "though children hold"
		lateUse            = "after Exec has returned"
		concurrent         = "all methods may be called concurrently"
	)
	cases := []struct {
		fault   string
		duty    string // that is checked
		finding string // the promise that is found broken
		sandbox *broken
	}{
		{"renames", keeps, keeps, &broken{put: func(b *broken, ctx context.Context, name string, r io.Reader) (string, error) {
			return b.Local.Put(ctx, "tmp."+name, r)
		}}},
		{"cuts files", keeps, keeps, &broken{put: func(b *broken, ctx context.Context, name string, r io.Reader) (string, error) {
			return b.Local.Put(ctx, name, io.LimitReader(r, 64<<10))
		}}},
		{"shows files", hides, hides, &broken{put: func(b *broken, ctx context.Context, name string, r io.Reader) (string, error) {
			path, err := b.Local.Put(ctx, name, r)
			return path, errors.Join(err, os.Chmod(path, 0o644))
		}}},
		{"opens folders", hides, hides, &broken{put: func(b *broken, ctx context.Context, name string, r io.Reader) (string, error) {
			path, err := b.Local.Put(ctx, name, r)
			return path, errors.Join(err, os.Chmod(filepath.Dir(path), 0o777))
		}}},
		{"overwrites", adds, adds, &broken{put: func(b *broken, _ context.Context, name string, r io.Reader) (string, error) {
			data, err := io.ReadAll(r)
			path := filepath.Join(b.TempDir, name)
			return path, errors.Join(err, os.WriteFile(path, data, 0o600))
		}}},
		{"swallows the reader's error", fails, fails, &broken{put: func(b *broken, ctx context.Context, name string, r io.Reader) (string, error) {
			data, _ := io.ReadAll(r)
			return b.Local.Put(ctx, name, bytes.NewReader(data))
		}}},
		{"has an error of its own", fails, fails, &broken{put: func(b *broken, ctx context.Context, name string, r io.Reader) (string, error) {
			path, err := b.Local.Put(ctx, name, r)
			if err != nil {
				err = errors.New("could not put a file")
			}
			return path, err
		}}},
		{"leaves half a file", fails, fails, &broken{put: func(b *broken, ctx context.Context, name string, r io.Reader) (string, error) {
			data, err := io.ReadAll(r)
			path, err2 := b.Local.Put(ctx, name, bytes.NewReader(data))
			return path, errors.Join(err, err2)
		}}},
		{"puts without looking at ctx", cancelled, cancelled, &broken{put: func(b *broken, ctx context.Context, name string, r io.Reader) (string, error) {
			return b.Local.Put(context.WithoutCancel(ctx), name, r)
		}}},
		{"looks at ctx too late", cancelled, cancelled, &broken{put: func(b *broken, ctx context.Context, name string, r io.Reader) (string, error) {
			path, err := b.Local.Put(context.WithoutCancel(ctx), name, io.LimitReader(r, 100))
			return path, errors.Join(err, ctx.Err())
		}}},
		{"removes nothing", removes, removes, &broken{remove: func(*broken, string) error { return nil }}},
		{"leaves folders", removes, removes, &broken{remove: func(_ *broken, path string) error { return os.RemoveAll(path) }}},
		{"removes all", removes, removes, &broken{remove: func(b *broken, path string) error { return os.RemoveAll(b.TempDir) }}},
		{"wants files to be there", twice, twice, &broken{remove: func(_ *broken, path string) error { return os.Remove(path) }}},

		{"loses empty arguments", argv, argv, &broken{exec: changed(func(p *Process) {
			p.Argv = slices.DeleteFunc(slices.Clone(p.Argv), func(a string) bool { return a == "" })
		})}},
		{"expands arguments", argv, argv, &broken{exec: changed(func(p *Process) {
			p.Argv = slices.Clone(p.Argv)
			for i, a := range p.Argv[5:] {
				p.Argv[5+i] = os.ExpandEnv(a)
			}
		})}},
		{"ignores Dir", dir, dir, &broken{exec: changed(func(p *Process) { p.Dir = "" })}},
		{"ignores Env", env, env, &broken{exec: changed(func(p *Process) { p.Env = nil })}},
		{"turns Env round", env, env, &broken{exec: changed(func(p *Process) {
			p.Env = slices.Clone(p.Env)
			slices.Reverse(p.Env)
		})}},
		{"has no other environment", env, env, &broken{exec: changed(func(p *Process) { p.Env = append([]string{"PATH=/nonexistent"}, p.Env...) })}},
		{"feeds nothing", stdin, stdin, &broken{exec: changed(func(p *Process) { p.Stdin = nil })}},
		{"cuts stdin", stdin, stdin, &broken{exec: changed(func(p *Process) {
			if p.Stdin != nil {
				p.Stdin = io.LimitReader(p.Stdin, 64<<10)
			}
		})}},
		{"leaves stdin open", stdin, stdin, &broken{exec: func(b *broken, ctx context.Context, p Process) (Exit, error) {
			if p.Stdin != nil {
				p.Stdin = io.MultiReader(p.Stdin, waits{ctx})
			}
			return b.Local.Exec(ctx, p)
		}}},
		{"minds unread stdin", unread, unread, &broken{exec: func(b *broken, ctx context.Context, p Process) (Exit, error) {
			in := &counts{Reader: p.Stdin}
			if p.Stdin == nil {
				return b.Local.Exec(ctx, p)
			}
			p.Stdin = in
			exit, err := b.Local.Exec(ctx, p)
			if err == nil && !in.end {
				err = syscall.EPIPE
			}
			return exit, err
		}}},
		{"mixes the outputs", outputs, outputs, &broken{exec: changed(func(p *Process) { p.Stderr = p.Stdout })}},
		{"loses stderr", outputs, outputs, &broken{exec: changed(func(p *Process) { p.Stderr = nil })}},
		{"cuts stdout", outputs, outputs, &broken{exec: changed(func(p *Process) { p.Stdout = &capped{p.Stdout, 64 << 10} })}},
		{"wants writers", discards, discards, &broken{exec: func(b *broken, ctx context.Context, p Process) (Exit, error) {
			if _, err := p.Stdout.Write(nil); err != nil {
				return Exit{}, err
			}
			return b.Local.Exec(ctx, p)
		}}},
		{"knows 0 and 1", codes, codes, &broken{exec: exitWith(func(e Exit) Exit { return Exit{Code: min(e.Code, 1), Signal: e.Signal} })}},
		{"takes 137 for a signal", codes, codes, &broken{exec: exitWith(func(e Exit) Exit {
			if e.Code > 128 && e.Code < 160 {
				return Exit{Code: -1, Signal: syscall.Signal(e.Code - 128).String()}
			}
			return e
		})}},
		{"takes a signal for 137", signals, signals, &broken{exec: exitWith(func(e Exit) Exit {
			if e.Code < 0 {
				return Exit{Code: 137}
			}
			return e
		})}},
		{"exits where nothing began", starts, starts, &broken{exec: func(b *broken, ctx context.Context, p Process) (Exit, error) {
			exit, err := b.Local.Exec(ctx, p)
			if err != nil {
				return Exit{Code: 127}, nil
			}
			return exit, nil
		}}},
		{"ignores ctx", leaderEnds, leaderEnds, &broken{exec: func(b *broken, ctx context.Context, p Process) (Exit, error) {
			return b.Local.Exec(context.WithoutCancel(ctx), p)
		}}},
		{"abandons the process", leaderEnds, leaderEnds, &broken{exec: func(b *broken, ctx context.Context, p Process) (Exit, error) {
			done := make(chan Exit, 1)
			go func() {
				exit, _ := b.Local.Exec(context.WithoutCancel(ctx), p)
				done <- exit
			}()
			select {
			case exit := <-done:
				return exit, nil
			case <-ctx.Done():
				return Exit{Code: -1, Signal: "killed"}, nil
			}
		}}},
		{"takes an end for an error", leaderEnds, leaderEnds, &broken{exec: func(b *broken, ctx context.Context, p Process) (Exit, error) {
			exit, err := b.Local.Exec(ctx, p)
			return exit, errors.Join(err, ctx.Err())
		}}},
		{"keeps the output to the end", leaderEnds, leaderEnds, &broken{exec: func(b *broken, ctx context.Context, p Process) (Exit, error) {
			var kept bytes.Buffer
			stdout := p.Stdout
			p.Stdout = &kept
			exit, err := b.Local.Exec(ctx, p)
			_, _ = stdout.Write(kept.Bytes())
			return exit, err
		}}},
		{"ends the process alone", leaderEnds, childrenEnd, &broken{exec: func(_ *broken, ctx context.Context, p Process) (Exit, error) {
			return plainly(ctx, p, func(cmd *exec.Cmd) { cmd.WaitDelay = 50 * time.Millisecond })
		}}},
		{"asks politely", stopped, stopped, &broken{exec: func(_ *broken, ctx context.Context, p Process) (Exit, error) {
			return plainly(ctx, p, func(cmd *exec.Cmd) {
				cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
			})
		}}},
		// Their turn comes with the next process, so that no clock is in it.
		{"writes what is left", codes, lateUse, &broken{exec: func(b *broken, ctx context.Context, p Process) (Exit, error) {
			if b.last.Stdout != nil {
				_, _ = b.last.Stdout.Write([]byte("more"))
			}
			b.last = p
			return b.Local.Exec(ctx, p)
		}}},
		{"reads what is left", unread, lateUse, &broken{exec: func(b *broken, ctx context.Context, p Process) (Exit, error) {
			if b.last.Stdin != nil {
				_, _ = b.last.Stdin.Read(make([]byte, 1))
			}
			b.last = p
			return b.Local.Exec(ctx, p)
		}}},
		{"leaves orphans", orphansEnd, orphansEnd, &broken{exec: func(_ *broken, ctx context.Context, p Process) (Exit, error) {
			return plainly(ctx, p, func(cmd *exec.Cmd) { cmd.WaitDelay = 50 * time.Millisecond })
		}}},
		{"leaves those that hold the outputs", holders, holdersEnd, &broken{exec: func(_ *broken, ctx context.Context, p Process) (Exit, error) {
			return plainly(ctx, p, func(cmd *exec.Cmd) { cmd.WaitDelay = 50 * time.Millisecond })
		}}},
		{"waits for those that hold the outputs", holders, holders, &broken{exec: func(_ *broken, ctx context.Context, p Process) (Exit, error) {
			return plainly(context.WithoutCancel(ctx), p, func(*exec.Cmd) {})
		}}},
		{"begins although ctx is done", nothingBegan, nothingBegan, &broken{exec: func(b *broken, ctx context.Context, p Process) (Exit, error) {
			exit, err := b.Local.Exec(context.WithoutCancel(ctx), p)
			return exit, errors.Join(err, ctx.Err())
		}}},
		{"works for one at a time", concurrent, concurrent, &broken{put: func(b *broken, ctx context.Context, name string, r io.Reader) (string, error) {
			if !b.lock.TryLock() {
				return "", errors.New("busy")
			}
			defer b.lock.Unlock()
			_, err := b.Local.Exec(ctx, Process{Argv: []string{"/bin/bash", "-c", "sleep 0.1"}})
			path, err2 := b.Local.Put(ctx, name, r)
			return path, errors.Join(err, err2)
		}}},
		{"invents an interpreter", "Interpreter", "Interpreter", &broken{find: func(name string) ([]string, error) {
			return map[string][]string{"bash": {"/bin/bash"}, "python3": {"/nonexistent/python3"}}[name], nil
		}}},
		{"panics", dir, dir, &broken{exec: func(b *broken, ctx context.Context, p Process) (Exit, error) {
			if p.Dir != "" {
				panic("no folders here")
			}
			return b.Local.Exec(ctx, p)
		}}},
		{"has no bash", keeps, "Exec runs a process", &broken{find: func(string) ([]string, error) { return nil, errors.New("none") }}},
	}
	// Most of them wait most of the time, for something that does not come.
	errs := make([]error, len(cases))
	free := make(chan struct{}, 8)
	var wg sync.WaitGroup
	for i, tc := range cases {
		tc.sandbox.TempDir = t.TempDir()
		c := newSandboxCheck(tc.sandbox, checkTimes{call: 2 * time.Second, soon: time.Second, answer: time.Second})
		duties := slices.DeleteFunc(c.duties(), func(d duty) bool { return !strings.Contains(d.promise, tc.duty) })
		require.Len(t, duties, 1)
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			errs[i] = c.hold(t.Context(), duties)
		})
	}
	wg.Wait()
	for i, tc := range cases {
		assert.ErrorContains(t, errs[i], tc.finding, "a sandbox that %s", tc.fault)
	}
}

// A sandbox as one writes it first breaks several promises; all are found in
// one go.
func TestCheckSandboxFindsAll(t *testing.T) {
	t.Parallel()
	err := checkSandbox(t.Context(), &broken{
		Local: Local{TempDir: t.TempDir()},
		exec: func(_ *broken, ctx context.Context, p Process) (Exit, error) {
			return plainly(ctx, p, func(cmd *exec.Cmd) { cmd.WaitDelay = 50 * time.Millisecond })
		},
		remove: func(_ *broken, path string) error { return os.Remove(path) },
	}, checkTimes{call: 5 * time.Second, soon: time.Second, answer: time.Second})
	for _, promise := range []string{childrenEnd, orphansEnd, holdersEnd, "Remove of a path that is gone", "Remove deletes the path"} {
		assert.ErrorContains(t, err, promise)
	}
}

func TestCheckIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range []error{CheckSandbox(ctx, &Local{}), CheckModel(ctx, model(nil))} {
		assert.ErrorIs(t, err, context.Canceled)
	}
}

func TestCheckModel(t *testing.T) {
	t.Parallel()
	good := func(ctx context.Context, q ModelRequest) (ModelAnswer, error) {
		for _, tool := range q.Tools {
			_, _ = tool.Call(ctx, []byte(`{"page":1}`))
		}
		select {
		case <-time.After(5 * time.Millisecond):
			return ModelAnswer{Text: `{"ok":true}`}, ctx.Err()
		case <-ctx.Done():
			return ModelAnswer{}, ctx.Err()
		}
	}
	assert.NoError(t, CheckModel(t.Context(), model(good)))

	var lock sync.Mutex
	var past atomic.Pointer[[]ModelTool]
	for fault, tc := range map[string]struct {
		finding string
		model   model
	}{
		"hangs": {"Answer answers a question", func(ctx context.Context, _ ModelRequest) (ModelAnswer, error) {
			<-ctx.Done()
			return ModelAnswer{}, ctx.Err()
		}},
		"says nothing": {"Answer answers a question", func(ctx context.Context, _ ModelRequest) (ModelAnswer, error) {
			return ModelAnswer{}, ctx.Err()
		}},
		"panics": {"Answer answers a question", func(context.Context, ModelRequest) (ModelAnswer, error) { panic("oh") }},
		"works for one at a time": {"concurrently", func(ctx context.Context, q ModelRequest) (ModelAnswer, error) {
			if !lock.TryLock() {
				return ModelAnswer{}, errors.New("busy")
			}
			defer lock.Unlock()
			return good(ctx, q)
		}},
		"answers too late": {"done before", func(ctx context.Context, q ModelRequest) (ModelAnswer, error) {
			return good(context.WithoutCancel(ctx), q)
		}},
		"ignores ctx": {"soon after", func(ctx context.Context, q ModelRequest) (ModelAnswer, error) {
			if ctx.Err() != nil {
				return ModelAnswer{}, ctx.Err()
			}
			<-time.After(400 * time.Millisecond)
			return good(ctx, q)
		}},
		"fails by its tools": {"errors of tools", func(ctx context.Context, q ModelRequest) (ModelAnswer, error) {
			for _, tool := range q.Tools {
				if _, err := tool.Call(ctx, nil); err != nil {
					return ModelAnswer{}, fmt.Errorf("tool %s: %w", tool.Name, err)
				}
			}
			return good(ctx, q)
		}},
		"calls tools afterwards": {"until it returns", func(ctx context.Context, q ModelRequest) (ModelAnswer, error) {
			if tools := past.Swap(&q.Tools); tools != nil {
				for _, tool := range *tools {
					_, _ = tool.Call(ctx, nil)
				}
			}
			return good(ctx, q)
		}},
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			err := checkModel(t.Context(), tc.model, checkTimes{call: 500 * time.Millisecond, soon: 300 * time.Millisecond})
			assert.ErrorContains(t, err, tc.finding)
		})
	}
}
