package hooks

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// graceTime is how long a call may take to return after its context is done.
// One that heeds its context is gone before its hook's step is; one that does
// not is abandoned.
const graceTime = 100 * time.Millisecond

// guarded calls code of the host (a Func, a model client, a trajectory
// writer) so that it can harm only its own hook: a panic and a
// runtime.Goexit become failures, what comes after the deadline does not
// count, and a call that ignores its context is abandoned. abandoned counts
// those that have not returned yet.
func guarded[A, T any](ctx context.Context, abandoned *atomic.Int64, call func(context.Context, A) (T, error), arg A) (value T, failure *Failure) {
	g := &guardedCall[A, T]{ctx: ctx, call: call, arg: arg, abandoned: abandoned, done: make(chan struct{})}
	go g.run()
	select {
	case <-g.done:
	case <-ctx.Done():
		if !g.returns() {
			return value, &Failure{Kind: FailureTimeout, Message: "did not return by its deadline", Err: ctx.Err()}
		}
	}
	switch {
	case g.failure != nil:
		return value, g.failure
	case g.err == nil && !g.late:
		return g.value, nil
	case g.err == nil:
		return value, &Failure{Kind: FailureTimeout, Message: "answered after its deadline", Err: cmp.Or(ctx.Err(), context.DeadlineExceeded)}
	case g.late || ctx.Err() != nil:
		return value, &Failure{Kind: FailureTimeout, Message: "gave up at its deadline", Err: g.err}
	}
	return value, &Failure{Kind: FailureError, Message: g.err.Error(), Err: g.err}
}

// guardedCall is one call in its own goroutine.
type guardedCall[A, T any] struct {
	ctx       context.Context
	call      func(context.Context, A) (T, error)
	arg       A
	abandoned *atomic.Int64
	settled   atomic.Bool   // the call returned, or was abandoned: who was first
	done      chan struct{} // closed when the rest may be read

	value   T
	err     error
	late    bool // it returned after its deadline
	failure *Failure
}

func (g *guardedCall[A, T]) run() {
	// recover cannot tell runtime.Goexit from a return; this can.
	returned := false
	defer func() {
		if p := recover(); p != nil {
			g.failure = panicked(p)
		} else if !returned {
			g.failure = goexited()
		}
		if !g.settled.CompareAndSwap(false, true) {
			g.abandoned.Add(-1)
		}
		close(g.done)
	}()
	g.value, g.err = g.call(g.ctx, g.arg)
	// Here and not where it is waited for, where done and a deadline that came
	// since could not be told apart.
	g.late, returned = overdue(g.ctx), true
}

// overdue reports whether ctx is done, or would be if its clock had had its
// turn: on a busy machine that takes some milliseconds.
func overdue(ctx context.Context) bool {
	end, bounded := ctx.Deadline()
	return ctx.Err() != nil || bounded && !time.Now().Before(end)
}

// returns gives the call its grace, and abandons it then.
func (g *guardedCall[A, T]) returns() bool {
	grace := time.NewTimer(graceTime)
	defer grace.Stop()
	select {
	case <-g.done:
		return true
	case <-grace.C:
	}
	g.abandoned.Add(1)
	if g.settled.CompareAndSwap(false, true) {
		return false
	}
	g.abandoned.Add(-1)
	<-g.done
	return true
}

// panicked is the failure of a call that panicked. It is told in the deferred
// function that recovered, so that the stack is that of the panic.
func panicked(p any) *Failure {
	return &Failure{Kind: FailurePanic, Message: fmt.Sprint(p), Stack: debug.Stack()}
}

func goexited() *Failure {
	return &Failure{Kind: FailurePanic, Message: "runtime.Goexit was called"}
}
