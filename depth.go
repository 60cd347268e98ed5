package hooks

import (
	"fmt"
	"os"
	"slices"
	"strconv"
)

// A hook that starts the agent again, or any program that uses this package,
// would trigger itself without end. So the depth travels in the environment: a
// command hook finds its own in HOOKS_DEPTH, 1 in a hook of a host that no
// hook started, and New refuses command hooks in a process that is too deep.
//
// It travels in Process.Env, not in that of a sandbox, and so works in every
// sandbox. It stops accidents; a hook that resets the variable escapes it.

// MaxDepth is how many hosts may run inside one another's command hooks. In a
// process whose HOOKS_DEPTH has come to it, [New] refuses command hooks with a
// [*DepthError].
const MaxDepth = 4

// depthKey is the variable that tells a process how many command hooks it runs
// inside of.
const depthKey = "HOOKS_DEPTH"

// DepthError reports that a process runs inside so many command hooks that it
// may not have command hooks of its own: a hook starts its own host again.
type DepthError struct{ Depth int }

// Error says which variable has come to which bound, and what that means.
func (e *DepthError) Error() string {
	return fmt.Sprintf("hooks: %s is %d, and at most %d hosts may run inside one another's command hooks: does a hook start its own host?", depthKey, e.Depth, MaxDepth)
}

// depth is how many command hooks this process runs inside of. A value that is
// no number counts as none, which does no harm: what this process starts is
// counted from there.
func depth() int {
	n, _ := strconv.Atoi(os.Getenv(depthKey)) // of a number too large, the largest
	return max(n, 0)
}

// depthEntry is the entry for the environment of this process's command hooks.
func depthEntry() string { return depthKey + "=" + strconv.Itoa(depth()+1) }

// checkDepth refuses command hooks in a process that is too deep.
func checkDepth(hooks []Hook) error {
	here := depth()
	isCommand := func(h Hook) bool { _, ok := h.Run.(Command); return ok }
	if here >= MaxDepth && slices.ContainsFunc(hooks, isCommand) {
		return &DepthError{Depth: here}
	}
	return nil
}
