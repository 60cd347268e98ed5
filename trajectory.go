package hooks

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// placement decides what each hook of an event with a trajectory finds in
// execution_summary, and removes what it placed (SUM-1 to SUM-4). Func hooks
// get the trajectory itself.
type placement struct {
	conduct   Conduct
	abandoned *atomic.Int64

	// The host's writer runs at most once, when somebody asks, under the
	// event's context: a hook that cannot wait any longer gives up alone.
	ctx    context.Context
	cancel context.CancelFunc
	write  func(context.Context, io.Writer) error

	// field is the value that, in Contract conduct, every executor replaces by
	// the path of a file that holds it (SUM-4). nil: nothing was placed yet.
	field *string

	mu    sync.Mutex // guards files: hooks that run together end at any time
	files []placedFile

	asking sync.Mutex    // a Func may still ask while it is being abandoned
	read   chan struct{} // closed when the writer has ended; nil: nobody asked
	closed bool
	data   []byte
	err    *Failure
}

// newPlacement is for an event whose host has a trajectory.
func newPlacement(ctx context.Context, c *Common, conduct Conduct, abandoned *atomic.Int64) *placement {
	p := &placement{conduct: conduct, abandoned: abandoned, write: c.Trajectory}
	p.ctx, p.cancel = context.WithCancel(ctx)
	return p
}

type placedFile struct {
	sandbox Sandbox
	path    string
}

// removeTimeout bounds the removal of one file, which must happen even though
// the evaluation's context is done.
const removeTimeout = 5 * time.Second

// writeTimeout bounds the host's writer, so that one that hangs does not take
// the time of every hook. It is what a hook has when nothing else is said.
const writeTimeout = DefaultTimeout

// place returns the path a hook sees, nil for none. The file stays until
// remove or close. A hook that does not share sees the trajectory itself in
// both conducts, and leaves the field as it is.
func (p *placement) place(ctx context.Context, sandbox Sandbox, shares bool) (*string, *Failure) {
	var content []byte
	if p.conduct == Contract && p.field != nil && shares {
		content = []byte(*p.field)
	} else {
		var failure *Failure
		if content, failure = p.trajectory(ctx); failure != nil {
			return nil, failure
		}
	}
	if len(content) == 0 {
		return nil, nil
	}
	path, failure := put(ctx, sandbox, content)
	if failure != nil {
		return nil, failure
	}
	p.mu.Lock()
	p.files = append(p.files, placedFile{sandbox, path})
	p.mu.Unlock()
	if shares {
		p.field = &path
	}
	return &path, nil
}

// put places a file. The sandbox may be the host's, and panic.
func put(ctx context.Context, sandbox Sandbox, content []byte) (path string, failure *Failure) {
	defer func() {
		if p := recover(); p != nil {
			failure = panicked(p)
		}
	}()
	path, err := sandbox.Put(ctx, transcriptName(), bytes.NewReader(content))
	if err != nil {
		return "", preparation(ctx, err, "the trajectory could not be placed: "+err.Error())
	}
	return path, nil
}

// transcriptName returns hook_transcript_<uuid>_<random>.txt (SUM-3).
func transcriptName() string {
	var b [22]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80 // a version 4 UUID
	h := hex.EncodeToString(b[:])
	return fmt.Sprintf("hook_transcript_%s-%s-%s-%s-%s_%s.txt", h[:8], h[8:12], h[12:16], h[16:20], h[20:32], h[32:])
}

// trajectory asks the host's writer, once per event; whoever comes later gets
// the same answer. A hook is kept waiting until ctx is done.
func (p *placement) trajectory(ctx context.Context) ([]byte, *Failure) {
	p.asking.Lock()
	if p.closed {
		p.asking.Unlock()
		return nil, &Failure{Kind: FailureError, Message: "the event is over"}
	}
	if p.read == nil {
		p.read = make(chan struct{})
		go p.ask()
	}
	p.asking.Unlock()
	select {
	case <-p.read:
	case <-ctx.Done():
		return nil, preparation(ctx, ctx.Err(), "the trajectory was not there in time")
	}
	p.asking.Lock()
	defer p.asking.Unlock()
	if p.closed {
		return nil, &Failure{Kind: FailureError, Message: "the event is over"}
	}
	if p.err != nil {
		// A failure of this hook: another one's is not its own.
		return nil, preparation(ctx, p.err.Err, "the trajectory's writer failed: "+p.err.Message)
	}
	return p.data, nil
}

// ask calls the writer.
func (p *placement) ask() {
	defer close(p.read)
	ctx, cancel := context.WithTimeout(p.ctx, writeTimeout)
	defer cancel()
	p.data, p.err = guarded(ctx, p.abandoned, func(ctx context.Context, write func(context.Context, io.Writer) error) ([]byte, error) {
		var buf bytes.Buffer
		err := write(ctx, &buf)
		return bytes.TrimSpace(buf.Bytes()), err
	}, p.write)
}

// preparation is a failure before a hook began. It is a timeout where it has
// used up the hook's time.
func preparation(ctx context.Context, err error, message string) *Failure {
	f := &Failure{Kind: FailureError, Message: message, Err: err}
	if ctx.Err() != nil {
		f.Kind = FailureTimeout
	}
	return f
}

// writer is the trajectory for a Func that runs under hook. Whatever context
// the Func passes, it is not waited for longer than the hook.
func (p *placement) writer(hook context.Context) func(context.Context, io.Writer) error {
	return func(ctx context.Context, w io.Writer) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(hook, cancel)()
		data, failure := p.trajectory(ctx)
		if failure != nil {
			return failure
		}
		_, err := w.Write(data)
		return err
	}
}

// remove deletes the file at path, if it was placed; a prompt hook's file goes
// when the hook ends (SUM-2).
func (p *placement) remove(ctx context.Context, path *string) error {
	if path == nil {
		return nil
	}
	p.mu.Lock()
	i := slices.IndexFunc(p.files, func(f placedFile) bool { return f.path == *path })
	if i < 0 {
		p.mu.Unlock()
		return nil
	}
	f := p.files[i]
	p.files = slices.Delete(p.files, i, i+1)
	p.mu.Unlock()
	return f.remove(ctx)
}

// close deletes all files that are left (SUM-2, SUM-3). No hook runs any more.
func (p *placement) close(ctx context.Context) error {
	p.cancel()
	p.asking.Lock()
	p.closed = true
	p.asking.Unlock()
	if p.read != nil {
		<-p.read // soon: it is guarded
	}
	p.asking.Lock()
	p.data, p.write = nil, nil // a Func that was abandoned keeps p
	p.asking.Unlock()
	var errs []error
	for _, f := range p.files {
		errs = append(errs, f.remove(ctx))
	}
	p.files = nil
	return errors.Join(errs...)
}

func (f placedFile) remove(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	defer func() {
		if recover() != nil { // the sandbox may be the host's; the other files go all the same
			err = errors.New("a trajectory file could not be removed: the sandbox panicked")
		}
	}()
	if err := f.sandbox.Remove(ctx, f.path); err != nil {
		// The path is not quoted: diagnostics are shown to users.
		return fmt.Errorf("a trajectory file could not be removed: %s", strings.ReplaceAll(err.Error(), f.path, "…"))
	}
	return nil
}
