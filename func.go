package hooks

import (
	"context"
	"sync/atomic"
)

// funcRunner runs a Func.
type funcRunner struct {
	fn        Func
	abandoned *atomic.Int64
	reader    answerReader
}

func (r *funcRunner) run(ctx context.Context, in *invocation, a *answer) {
	event := in.event.clone()
	event.common().Trajectory = in.trajectory
	call := Call{Event: event, Hook: in.hook.Ref(), CannotAsk: in.cannotAsk}
	result, failure := guarded(ctx, r.abandoned, r.fn, call)
	if failure != nil {
		a.failure = failure
		return
	}
	if result.Permission < PermissionNone || result.Permission > PermissionDeny {
		*a = failed(FailureOutput, nil, "the permission %d of the result is unknown", result.Permission)
		return
	}
	a.result = result
	a.result.Metadata = nil
	for _, e := range result.Metadata {
		if n := r.reader.clean(&e); n != nil {
			a.notes = append(a.notes, *n)
			continue
		}
		a.result.Metadata = append(a.result.Metadata, e)
	}
}
