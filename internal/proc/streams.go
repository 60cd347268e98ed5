package proc

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// streams are the pipes between us and one process. They are ours, not those
// of exec.Cmd, because Cmd.Wait would wait for them: for as long as any child
// holds one.
type streams struct {
	ours, theirs []*os.File
	reads        []*os.File // those of ours that are drained
	input        func()     // feeds stdin; nil without one
	outputs      []func()   // each drains one output
	copies       sync.WaitGroup
}

// connect opens a pipe for every stream that c uses; the others become the
// null device. After an error the caller closes what has been opened.
func (s *streams) connect(cmd *exec.Cmd, c Cmd) error {
	if c.Stdin != nil {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		s.theirs, s.ours = append(s.theirs, r), append(s.ours, w)
		cmd.Stdin = r
		s.input = func() {
			// Errors are of no interest. A process need not read its input:
			// EPIPE is its way to say so, and a closed pipe is ours.
			_, _ = io.Copy(w, c.Stdin)
			_ = w.Close()
		}
	}
	if c.Stdout != nil {
		w, err := s.output(c.Stdout)
		if err != nil {
			return err
		}
		cmd.Stdout = w
	}
	switch {
	case c.Stderr == nil:
	case same(c.Stdout, c.Stderr):
		cmd.Stderr = cmd.Stdout // one pipe: two copies would write at once
	default:
		w, err := s.output(c.Stderr)
		if err != nil {
			return err
		}
		cmd.Stderr = w
	}
	return nil
}

// output opens the pipe whose other end is drained into dst.
func (s *streams) output(dst io.Writer) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.theirs, s.ours, s.reads = append(s.theirs, w), append(s.ours, r), append(s.reads, r)
	s.outputs = append(s.outputs, func() {
		_, err := io.Copy(dst, r)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			// Nobody waits for the end any more; what has been written counts.
			copyWaiting(dst, r)
		case err != nil:
			// dst may have had enough. The process must neither stop at a
			// full pipe nor die of a closed one.
			_, _ = io.Copy(io.Discard, r)
		}
		_ = r.Close()
	})
	return w, nil
}

// copy begins to feed and drain the process. The channel is closed when all
// outputs have come to their end.
func (s *streams) copy() (drained <-chan struct{}) {
	done := make(chan struct{})
	if len(s.outputs) == 0 {
		close(done)
	}
	var open atomic.Int32
	open.Store(int32(len(s.outputs)))
	for _, drain := range s.outputs {
		s.copies.Go(func() {
			drain()
			if open.Add(-1) == 0 {
				close(done)
			}
		})
	}
	if s.input != nil {
		s.copies.Go(s.input)
	}
	return done
}

// close ends the copies and waits for them. What waits in a pipe is still
// copied: on a machine that is far too busy, none of our goroutines may have
// run since the process wrote its answer, and an answer that is lost reads like
// one that was never given.
func (s *streams) close() {
	for _, f := range s.ours {
		if !slices.Contains(s.reads, f) || f.SetReadDeadline(time.Now()) != nil {
			_ = f.Close() // stdin, and everything where pipes have no deadlines
		}
	}
	s.copies.Wait()
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// same tells whether a and b are one writer. Writers of a type that cannot be
// compared are not.
func same(a, b io.Writer) bool {
	defer func() { _ = recover() }()
	return a == b
}
