package proc

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

// streams are the pipes between us and one process. They are ours, not those
// of exec.Cmd, because Cmd.Wait would wait for them: for as long as any child
// holds one.
type streams struct {
	theirs  []*os.File // the ends of the process
	input   *os.File   // our end of stdin; nil without one
	source  io.Reader  // what goes there
	outputs []output
	copies  sync.WaitGroup
	open    atomic.Int32  // outputs that have not come to their end
	drained chan struct{} // closed when none is open
}

// output is our end of one output, and what is read from it goes to.
type output struct {
	pipe *os.File
	dst  io.Writer
}

// connect opens a pipe for every stream that c uses; the others become the
// null device. After an error the caller closes what has been opened.
func (s *streams) connect(cmd *exec.Cmd, c *Cmd) error {
	if c.Stdin != nil {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		s.theirs, s.input, s.source = append(s.theirs, r), w, c.Stdin
		if sized, ok := c.Stdin.(interface{ Len() int }); ok && sized.Len() > widePipe {
			widen(w)
		}
		cmd.Stdin = r
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

// widePipe is how many bytes the pipe of a large input holds, where the system
// lets us choose: with the usual 64 KB writer and reader spend a third of their
// time waking each other up. It is not the most that Linux allows, because
// there is also a bound for all pipes of a user.
const widePipe = 256 << 10

// output opens the pipe whose other end is drained into dst.
func (s *streams) output(dst io.Writer) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.theirs, s.outputs = append(s.theirs, w), append(s.outputs, output{r, dst})
	return w, nil
}

// copy begins to feed and drain the process. The channel is closed when all
// outputs have come to their end.
func (s *streams) copy() (drained <-chan struct{}) {
	s.open.Store(int32(len(s.outputs)))
	s.drained = make(chan struct{})
	if len(s.outputs) == 0 {
		close(s.drained)
	}
	for _, out := range s.outputs {
		s.copies.Add(1)
		go s.drain(out)
	}
	if s.input != nil {
		s.copies.Go(s.feed)
	}
	return s.drained
}

// feed writes the input. Errors are of no interest: a process need not read
// it. EPIPE is its way to say so, and a closed pipe is ours.
func (s *streams) feed() {
	_, _ = io.Copy(s.input, s.source)
	_ = s.input.Close()
}

// drain reads an output to its end.
func (s *streams) drain(o output) {
	defer s.copies.Done()
	s.finish(o, o.copy())
}

// finish closes an output that was copied until err.
func (s *streams) finish(o output, err error) {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		// Nobody waits for the end any more; what has been written counts.
		copyWaiting(o.dst, o.pipe)
	case err != nil:
		// dst may have had enough. The process must neither stop at a full
		// pipe nor die of a closed one.
		_, _ = io.Copy(io.Discard, o.pipe)
	}
	_ = o.pipe.Close()
	if s.open.Add(-1) == 0 {
		close(s.drained)
	}
}

// copy is io.Copy, which would come to the same by way of os.File, twice as
// deep in the stack; and there are two such stacks for every process.
func (o output) copy() error {
	if dst, ok := o.dst.(io.ReaderFrom); ok {
		_, err := dst.ReadFrom(o.pipe)
		return err
	}
	_, err := io.Copy(o.dst, o.pipe)
	return err
}

// close ends the copies and waits for them. What waits in a pipe is still
// copied: on a machine that is far too busy, none of our goroutines may have
// run since the process wrote its answer, and an answer that is lost reads like
// one that was never given.
func (s *streams) close() {
	if s.input != nil {
		_ = s.input.Close()
	}
	for _, out := range s.outputs {
		if out.pipe.SetReadDeadline(time.Now()) != nil {
			_ = out.pipe.Close() // where pipes have no deadlines
		}
	}
	s.copies.Wait()
}

// discard closes our ends of the pipes of a process that did not start.
func (s *streams) discard() {
	if s.input != nil {
		_ = s.input.Close()
	}
	for _, out := range s.outputs {
		_ = out.pipe.Close()
	}
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
