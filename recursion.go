package hooks

import (
	"context"
	"fmt"
)

// MaxRecursion is how deep the hooks of one point may run inside one another
// for one thread.
const MaxRecursion = 8

// RecursionError refuses what would run hooks of a point inside themselves
// more than MaxRecursion deep: a hook that injects a message about every
// message, for instance. Nothing was stored.
type RecursionError struct {
	ThreadID string
	Point    PointName
}

// Error names the thread and the point.
func (e *RecursionError) Error() string {
	return fmt.Sprintf("hooks: thread %q: hooks of %s already run %d deep inside one another", e.ThreadID, e.Point, MaxRecursion)
}

// nested is one run of a point's hooks, inside another one. It travels in the
// context, so it follows what a hook causes, across threads too.
type nested struct {
	thread string
	row    int
	depth  int // of this thread and point, from 1
	outer  *nested
}

type nestedKey struct{}

func nestedIn(ctx context.Context) *nested {
	n, _ := ctx.Value(nestedKey{}).(*nested)
	return n
}

func (n *nested) depthOf(thread string, row int) int {
	for ; n != nil; n = n.outer {
		if n.row == row && n.thread == thread {
			return n.depth
		}
	}
	return 0
}

// admits returns an error when the hooks of a point must not run any deeper.
func admits(ctx context.Context, thread string, row int) error {
	if nestedIn(ctx).depthOf(thread, row) >= MaxRecursion {
		return &RecursionError{ThreadID: thread, Point: pointRows[row].Name}
	}
	return nil
}

// descend returns the context for the hooks of a point.
func descend(ctx context.Context, thread string, row int) (context.Context, error) {
	if err := admits(ctx, thread, row); err != nil {
		return ctx, err
	}
	outer := nestedIn(ctx)
	return context.WithValue(ctx, nestedKey{}, &nested{thread, row, outer.depthOf(thread, row) + 1, outer}), nil
}

// isWithin tells whether ctx is that of a hook of a point, for whatever thread
// or user.
func isWithin(ctx context.Context, row int) bool {
	for n := nestedIn(ctx); n != nil; n = n.outer {
		if n.row == row {
			return true
		}
	}
	return false
}
