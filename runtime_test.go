package hooks

import (
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
