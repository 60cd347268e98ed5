package hooks

import (
	"context"
	"errors"
	"time"
)

// AfterThreadCreated runs the hooks on a new thread. Its error is ctx's, or a
// [*RecursionError]: what goes wrong in a hook is reported and ends nothing.
func (c *Composition) AfterThreadCreated(ctx context.Context, st ThreadState) error {
	if len(c.points[afterThreadCreated]) == 0 {
		return nil
	}
	return observe(ctx, c.at(afterThreadCreated, st), struct{}{}, nil,
		func(ctx context.Context, fn func(context.Context, ThreadState, HookContext) error, _ struct{}, hc HookContext) error {
			return fn(ctx, st, hc)
		})
}

// AfterSubagentCreated runs the parent's hooks on a new child thread. Errors
// are as in AfterThreadCreated.
func (c *Composition) AfterSubagentCreated(ctx context.Context, parent, child ThreadState) error {
	if len(c.points[afterSubagentCreated]) == 0 {
		return nil
	}
	return observe(ctx, c.at(afterSubagentCreated, parent), struct{}{}, nil,
		func(ctx context.Context, fn func(context.Context, ThreadState, ThreadState, HookContext) error, _ struct{}, hc HookContext) error {
			return fn(ctx, parent, child, hc)
		})
}

// UserClientAttached runs every hook of this point that the global namespace
// defines. Errors are as in [Composition.AfterThreadCreated].
func (r *Registry) UserClientAttached(ctx context.Context, u UserState, client UserClient) error {
	return r.userClient(ctx, userClientAttached, u, client)
}

// UserClientDetached is as UserClientAttached.
func (r *Registry) UserClientDetached(ctx context.Context, u UserState, client UserClient) error {
	return r.userClient(ctx, userClientDetached, u, client)
}

func (r *Registry) userClient(ctx context.Context, row int, u UserState, client UserClient) error {
	if len(r.user[row]) == 0 {
		return nil
	}
	return observe(ctx, r.at(row, u), client, UserClient.clone,
		func(ctx context.Context, fn func(context.Context, UserState, UserClient) error, c UserClient, _ HookContext) error {
			return fn(ctx, u, c)
		})
}

// UserValueChanged is as UserClientAttached. Called with the context of such a
// hook, or one derived from it, it does nothing.
func (r *Registry) UserValueChanged(ctx context.Context, u UserState, key string) error {
	if len(r.user[userValueChanged]) == 0 || isWithin(ctx, userValueChanged) {
		return nil
	}
	return observe(ctx, r.at(userValueChanged, u), key, nil,
		func(ctx context.Context, fn func(context.Context, UserState, string) error, key string, _ HookContext) error {
			return fn(ctx, u, key)
		})
}

// dispatch is the hooks of one point, about to run for a thread or a user.
type dispatch struct {
	runner       *runner
	row          int
	hooks        []bound
	thread, user string
}

func (c *Composition) at(row int, st ThreadState) *dispatch {
	return &dispatch{runner: c.runner, row: row, hooks: c.points[row], thread: st.ThreadID()}
}

func (r *Registry) at(row int, u UserState) *dispatch {
	return &dispatch{runner: r.runner, row: row, hooks: r.user[row], user: u.UserID()}
}

// observe runs all hooks, each with its own copy of v; a nil clone says that v
// needs none.
func observe[F, T any](ctx context.Context, d *dispatch, v T, clone func(T) T, call func(context.Context, F, T, HookContext) error) error {
	ctx, err := d.enter(ctx)
	if err != nil {
		return err
	}
	for i := range d.hooks {
		own := v
		if clone != nil {
			own = clone(v)
		}
		_, failure, err := run(ctx, d, &d.hooks[i], func(ctx context.Context, h *bound) (struct{}, error) {
			return struct{}{}, call(ctx, h.fn.(F), own, h.context)
		})
		if err != nil {
			return err
		}
		if failure != nil {
			d.failed(ctx, &d.hooks[i], failure)
		}
	}
	return nil
}

// transform is how a value goes through the waterfall of a point.
type transform[F, T any] struct {
	clone func(T) T // nil: the value needs no copies
	call  func(context.Context, F, T, HookContext) (Change[T], error)
	// settle, if set, judges and completes what a hook returned.
	settle func(old, now T) (T, error)
	// withheld, if set, is what stands, and ends the waterfall, when a hook
	// fails.
	withheld func() T
}

// waterfall hands v from hook to hook and returns the last good value. Its
// error is the host's (ctx), a [*RecursionError], or that of a hook that the
// point lets prevent what was to happen.
func waterfall[F, T any](ctx context.Context, d *dispatch, v T, t transform[F, T]) (T, error) {
	ctx, err := d.enter(ctx)
	if err != nil {
		return v, err
	}
	for i := range d.hooks {
		// The closure may outlive its turn when the hook is abandoned: it sees
		// old and own, never the v of a later turn.
		old, own := v, v
		if t.clone != nil {
			own = t.clone(v)
		}
		now, failure, err := run(ctx, d, &d.hooks[i], func(ctx context.Context, h *bound) (T, error) {
			change, err := t.call(ctx, h.fn.(F), own, h.context)
			if next, ok := change.Value(); ok && err == nil {
				if t.settle != nil {
					return t.settle(old, next)
				}
				return next, nil
			}
			return old, err
		})
		switch {
		case err != nil:
			return v, err
		case failure == nil:
			v = now
		case d.prevents(failure):
			return v, d.error(&d.hooks[i], failure)
		default:
			d.failed(ctx, &d.hooks[i], failure)
			if t.withheld != nil {
				return t.withheld(), nil
			}
		}
	}
	return v, nil
}

// run runs one hook and reports it. The error is ctx's: the host gave up,
// which is no failure of the hook.
func run[T any](ctx context.Context, d *dispatch, h *bound, call func(context.Context, *bound) (T, error)) (T, *Failure, error) {
	if err := ctx.Err(); err != nil {
		var zero T
		return zero, nil, err
	}
	start := time.Now()
	limited, cancel := context.WithTimeout(ctx, d.runner.timeout())
	defer cancel()
	v, failure := guarded(limited, &d.runner.abandoned, call, h)
	err := ctx.Err()
	if failure == nil {
		err = nil // it answered; the next hook will see that the host gave up
	}
	if err != nil {
		failure.Kind = FailureCancelled
	}
	if observe := d.runner.opts.Observe; observe != nil {
		r := LifecycleRecord{
			Point: pointRows[d.row].Name, HookID: h.id, Source: h.context.Source,
			ThreadID: d.thread, UserID: d.user, Duration: time.Since(start),
		}
		if failure != nil {
			r.Failure, r.Prevented = failure.Kind, err == nil && d.prevents(failure)
		}
		observe(ctx, r)
	}
	return v, failure, err
}

// prevents tells whether a failure prevents what was about to happen.
func (d *dispatch) prevents(f *Failure) bool {
	switch pointRows[d.row].Veto {
	case VetoError:
		return true
	case VetoBlock:
		var block *BlockError
		return errors.As(f.Err, &block)
	}
	return false
}

func (d *dispatch) error(h *bound, f *Failure) *HookError {
	return &HookError{Point: pointRows[d.row].Name, ID: h.id, Source: h.context.Source, Failure: f}
}

func (d *dispatch) failed(ctx context.Context, h *bound, f *Failure) {
	if d.runner.opts.Failed != nil {
		d.runner.opts.Failed(ctx, d.error(h, f))
	}
}

func (d *dispatch) enter(ctx context.Context) (context.Context, error) {
	return descend(ctx, d.thread, d.row)
}
