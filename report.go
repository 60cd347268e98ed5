package hooks

import "time"

// LifecycleRecord tells of one run of one lifecycle hook. Like every [Record]
// it holds no payload: what a failing hook returned goes to
// LifecycleOptions.Failed or to the caller.
type LifecycleRecord struct {
	Point  PointName
	HookID string
	// Source is who declared the hook; nil for hooks of user scope.
	Source Source
	// ThreadID is empty for hooks of user scope, UserID for those of threads.
	ThreadID, UserID string
	Duration         time.Duration
	// Failure is how it failed; empty when it did not.
	Failure FailureKind
	// Prevented tells that the failure, or a [*BlockError], prevented what was
	// about to happen.
	Prevented bool
}

// OrphanRecord tells that tool results were dropped from a request because
// their calls had been filtered away (LifecycleOptions.DropOrphans).
type OrphanRecord struct {
	// Point is filter_messages or prefilter_llm_history: after which of the
	// two they were dropped.
	Point    PointName
	ThreadID string
	Dropped  int
}

// SinkRecord tells that LifecycleOptions.Sink failed.
type SinkRecord struct {
	Point    PointName // tool_call_started or tool_call_done
	ThreadID string
	CallID   string
	Duration time.Duration
	Failure  FailureKind
}

func (LifecycleRecord) record() {}
func (OrphanRecord) record()    {}
func (SinkRecord) record()      {}
