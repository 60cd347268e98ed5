package hooks

import (
	"context"
	"slices"
	"sync"
)

// MemoryExecution is an [Execution] in memory, for tests and examples. Its
// zero value is a flow without a name, with no side and no step. The exported
// fields are set before it is used; after that it is safe for concurrent use.
type MemoryExecution struct {
	Flow string
	Side Side // whose turn it is
	// Steps counts the steps of each side.
	Steps map[Side]int
	// History is the live history.
	History []Message
	// Prompts are the names that led here.
	Prompts []string
	// Ctx is the abort signal; nil never aborts.
	Ctx context.Context

	mu        sync.Mutex
	stopped   bool
	stoppedBy Side
}

// FlowID returns Flow.
func (e *MemoryExecution) FlowID() string { return e.Flow }

// CurrentSide returns the side whose turn it is.
func (e *MemoryExecution) CurrentSide() Side {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.Side
}

// StepCount returns the steps of both sides.
func (e *MemoryExecution) StepCount() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, steps := range e.Steps {
		n += steps
	}
	return n
}

// SideStepCount returns the steps of one side.
func (e *MemoryExecution) SideStepCount(s Side) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.Steps[s]
}

// Step begins the next step: it counts one for the current side.
func (e *MemoryExecution) Step() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.Steps == nil {
		e.Steps = map[Side]int{}
	}
	e.Steps[e.Side]++
}

// Stopped reports whether Stop was called.
func (e *MemoryExecution) Stopped() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stopped
}

// StoppedBy returns the side whose turn it was when Stop was first called.
func (e *MemoryExecution) StoppedBy() Side {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stoppedBy
}

// Stop ends the execution in the name of the current side.
func (e *MemoryExecution) Stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.stopped {
		e.stopped, e.stoppedBy = true, e.Side
	}
}

// ForceTurn makes it the turn of a side, at once.
func (e *MemoryExecution) ForceTurn(s Side) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.Side = s
}

// MessageHistory returns a fresh copy of History.
func (e *MemoryExecution) MessageHistory() []Message { return cloneMessages(e.History) }

// PromptPath returns a copy of Prompts.
func (e *MemoryExecution) PromptPath() []string { return slices.Clone(e.Prompts) }

// Context returns Ctx, or a context that is never done.
func (e *MemoryExecution) Context() context.Context {
	if e.Ctx == nil {
		return context.Background()
	}
	return e.Ctx
}
