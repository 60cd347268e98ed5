package hooks

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

// guarded calls code of the host (a Func, a model client, a trajectory
// writer) so that it can harm only its own hook: a panic and a
// runtime.Goexit become failures, and a call that ignores its context is
// abandoned when the context is done. abandoned counts those that have not
// returned yet. The error is nil or a *Failure.
func guarded[T any](ctx context.Context, abandoned *atomic.Int64, call func(context.Context) (T, error)) (T, *Failure) {
	type outcome struct {
		value   T
		err     error
		failure *Failure
	}
	const running, returned, gone = 0, 1, 2
	var state atomic.Int32
	done := make(chan outcome, 1)
	go func() {
		o := outcome{failure: &Failure{Kind: FailurePanic, Message: "runtime.Goexit was called"}}
		defer func() {
			if o.failure != nil {
				// recover cannot tell runtime.Goexit from a return; a failure
				// that is still set can.
				if p := recover(); p != nil {
					o.failure = &Failure{Kind: FailurePanic, Message: fmt.Sprint(p), Stack: debug.Stack()}
				}
			}
			if !state.CompareAndSwap(running, returned) {
				abandoned.Add(-1)
			}
			done <- o
		}()
		o.value, o.err = call(ctx)
		o.failure = nil
	}()
	var o outcome
	select {
	case o = <-done:
	case <-ctx.Done():
		select {
		case o = <-done: // it answered in time after all
		default:
			abandoned.Add(1)
			if !state.CompareAndSwap(running, gone) {
				abandoned.Add(-1)
				o = <-done
				break
			}
			var zero T
			return zero, &Failure{Kind: FailureTimeout, Message: "did not return by its deadline", Err: ctx.Err()}
		}
	}
	switch {
	case o.failure != nil:
		return o.value, o.failure
	case o.err != nil && ctx.Err() != nil:
		return o.value, &Failure{Kind: FailureTimeout, Message: "gave up at its deadline", Err: o.err}
	case o.err != nil:
		return o.value, &Failure{Kind: FailureError, Message: o.err.Error(), Err: o.err}
	}
	return o.value, nil
}
