package hooks

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A refused configuration leaves no Runtime behind that knows only the good
// hooks of it.
func TestRefusedHooksGiveNoRuntime(t *testing.T) {
	good := Hook{Name: "good", Tier: TierSystem, On: OnStop, Run: Command{Line: "true"}}
	rt, err := New([]Hook{good, {Name: "bad"}}, nil)
	require.Error(t, err)
	assert.Nil(t, rt)

	rt, err = New([]Hook{good}, nil)
	require.NoError(t, err)
	next, err := rt.With(Hook{Name: "bad"})
	require.Error(t, err)
	assert.Nil(t, next)
	assert.Len(t, rt.Hooks(), 1)
}

// A line too long to be started is refused, not a guard that fails in every
// event (and so, without a failMode, is not there).
func TestLongestLine(t *testing.T) {
	line := func(n int) Hook { return command("guard", Command{Line: "exit 2 #" + strings.Repeat("x", n-8)}) }
	_, err := New([]Hook{line(maxLine + 1)}, nil)
	require.ErrorContains(t, err, "command has 131072 bytes")
	if runtime.GOOS != "linux" {
		t.Skip("the bound is that of Linux")
	}
	rt, err := New([]Hook{line(maxLine)}, nil)
	require.NoError(t, err)
	d, err := rt.Evaluate(t.Context(), &PreToolUse{})
	require.NoError(t, err)
	assert.Equal(t, OutcomeReject, d.Outcome, d.Explain())
}
