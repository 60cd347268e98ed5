package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// A duty is one promise of an interface and the check that holds it. The
// check returns what is wrong, as a half sentence; nil when it is kept.
type duty struct {
	promise string
	check   func(ctx context.Context) error
}

// checker runs duties one after the other and keeps what they find.
type checker struct {
	times     checkTimes
	errs      []error
	abandoned atomic.Int64 // calls that were given up; guarded counts them
}

// checkTimes are the bounds of a check. They are wide, since what is checked
// may be far away and busy: a check that cries wolf is not run twice.
type checkTimes struct {
	// call is what one call may take whose context is not cancelled.
	call time.Duration
	// soon is what "soon after the context is done" means at most.
	soon time.Duration
	// answer is what a process that should be gone gets to show that it is not.
	answer time.Duration
}

func ordinaryTimes() checkTimes {
	return checkTimes{call: 30 * time.Second, soon: 3 * time.Second, answer: time.Second}
}

func (c *checker) find(promise string, err error) {
	if err != nil {
		c.errs = append(c.errs, fmt.Errorf("hooks: %s: %w", promise, err))
	}
}

// run holds all duties, as long as ctx lasts.
func (c *checker) run(ctx context.Context, duties []duty) {
	for _, d := range duties {
		if ctx.Err() != nil {
			break
		}
		timed, cancel := context.WithTimeout(ctx, c.times.call)
		c.find(d.promise, d.check(timed))
		cancel()
	}
}

// result is what the check returns. What was found under a context that ended
// may be its doing.
func (c *checker) result(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("hooks: the check did not come to its end: %w", err)
	}
	return errors.Join(c.errs...)
}

// errLate is what a call is that was given up.
var errLate = errors.New("the call did not return soon after its context was done")

// call runs f, a call that was given ctx, so that no fault in it can hold or
// break the check.
func call[T any](ctx context.Context, c *checker, f func() (T, error)) (T, error) {
	limit, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(c.times.soon, stop) })()
	type returned struct {
		value T
		err   error
	}
	r, failure := guarded(limit, &c.abandoned, func(_ context.Context, f func() (T, error)) (returned, error) {
		value, err := f()
		return returned{value, err}, nil
	}, f)
	switch {
	case failure == nil:
		return r.value, r.err
	case failure.Kind == FailureTimeout:
		return r.value, errLate
	}
	return r.value, failure
}

// watchedWriter is the stdout or stderr of a process under check.
type watchedWriter struct {
	begun chan struct{} // closed by the first write

	writing atomic.Bool
	mu      sync.Mutex
	text    bytes.Buffer
	over    bool // Exec has returned
	fault   error
}

func newWatchedWriter() *watchedWriter { return &watchedWriter{begun: make(chan struct{})} }

func (w *watchedWriter) Write(p []byte) (int, error) {
	overlaps := !w.writing.CompareAndSwap(false, true)
	defer w.writing.Store(false)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.over:
		w.fault = errors.New("a writer was written to")
	case overlaps:
		w.fault = errors.New("two writes to one writer overlapped")
	case len(p) > 0 && w.text.Len() == 0:
		close(w.begun)
	}
	return w.text.Write(p)
}

// end tells the writer that Exec has returned, and returns what came until
// then.
func (w *watchedWriter) end() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	return w.text.String()
}

func (w *watchedWriter) err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fault
}

// watchedReader is the stdin of a process under check.
type watchedReader struct {
	io.Reader
	mu    sync.Mutex
	over  bool
	fault error
}

func (r *watchedReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		r.fault = errors.New("the reader of Stdin was read")
		return 0, io.EOF
	}
	return r.Reader.Read(p)
}

func (r *watchedReader) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}

func (r *watchedReader) err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fault
}

// endless yields zero bytes for ever.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// quoted shows a text in a finding, shortened.
func quoted(text string) string {
	const most = 60
	if len(text) > most {
		return fmt.Sprintf("%q… (%d bytes)", text[:most], len(text))
	}
	return fmt.Sprintf("%q", text)
}
