package hooks

import (
	"fmt"
	"strings"
)

// Cause says why a declared hook cannot be part of a composition. It is an
// error, so that errors.Is(err, CauseMissing) finds it in a
// [*CompositionError].
type Cause string

// The causes.
const (
	CauseMissing Cause = "there is no such hook"
	CauseLoad    Cause = "the hook could not be loaded"
	CauseID      Cause = "the hook has another id"
	CauseFunc    Cause = "the hook has no function"
	CauseScope   Cause = "hooks of user scope cannot be composed"
	CauseTwice   Cause = "the id is declared twice"
	CauseReason  Cause = "the reason is blank"
	CauseStage   Cause = "the stage is unknown"
)

// Error returns the cause as a text.
func (c Cause) Error() string { return string(c) }

// HookFault is one declared hook that is not usable.
type HookFault struct {
	Cause Cause
	Hook  string // the id as it was declared
	// Source is who declared it.
	Source Source
	// Err is what is known beside the cause, the error of a loader for
	// instance; nil where there is nothing.
	Err error
}

// Error returns who declared which hook, and the cause.
func (f *HookFault) Error() string {
	text := fmt.Sprintf("hook %q of %s: %s", f.Hook, f.Source, f.Cause)
	if f.Err != nil {
		text += ": " + f.Err.Error()
	}
	return text
}

// Unwrap returns the cause, and Err where there is one.
func (f *HookFault) Unwrap() []error {
	if f.Err == nil {
		return []error{f.Cause}
	}
	return []error{f.Cause, f.Err}
}

// CompositionError reports everything that kept a composition from being made.
type CompositionError struct{ Faults []HookFault }

// Error lists every fault, one on a line.
func (e *CompositionError) Error() string {
	lines := make([]string, len(e.Faults))
	for i := range e.Faults {
		lines[i] = e.Faults[i].Error()
	}
	return "hooks: " + strings.Join(lines, "\n")
}

// Unwrap returns the faults.
func (e *CompositionError) Unwrap() []error {
	errs := make([]error, len(e.Faults))
	for i := range e.Faults {
		errs[i] = &e.Faults[i]
	}
	return errs
}
