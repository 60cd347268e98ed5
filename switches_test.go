package hooks_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookruntime/hooks"
)

func pass(context.Context, hooks.Call) (hooks.Result, error) { return hooks.Pass(), nil }

func TestCheckSwitches(t *testing.T) {
	hook := func(name string, tier hooks.Tier, onDemand bool) hooks.Hook {
		return hooks.Hook{Name: name, On: hooks.OnStop, Tier: tier, OnDemand: onDemand, Run: hooks.Func(pass)}
	}
	rt, err := hooks.New([]hooks.Hook{
		hook("guard", hooks.TierSystem, false),
		hook("careful", hooks.TierSystem, true),
		hook("style", hooks.TierUserGlobal, false),
		hook("twice", hooks.TierSystem, false),
		hook("twice", hooks.TierUserGlobal, true),
	}, nil)
	require.NoError(t, err)
	require.NoError(t, rt.CheckSwitches(hooks.Switches{}))
	require.NoError(t, rt.CheckSwitches(hooks.Switches{
		Activated: []string{"careful", "twice"}, Deactivated: []string{"style", "twice"},
	}), "CFG-6")

	err = rt.CheckSwitches(hooks.Switches{
		Activated: []string{"stile", "style"}, Deactivated: []string{"guard", "gard"},
	})
	var ce *hooks.ConfigError
	require.True(t, errors.As(err, &ce))
	var found []string
	for _, d := range ce.Diagnostics {
		found = append(found, d.String())
	}
	require.Equal(t, []string{
		`error: hook "stile": no hook has this name`,
		`error: hook "style": is always active; only on-demand hooks can be activated`,
		`error: hook "guard": is a system hook, which cannot be switched off`,
		`error: hook "gard": no hook has this name`,
	}, found)
}

func ExampleRuntime_CheckSwitches() {
	rt, err := hooks.New([]hooks.Hook{{
		Name: "careful", On: hooks.OnStop, Tier: hooks.TierUserGlobal, OnDemand: true, Run: hooks.Func(pass),
	}}, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(rt.CheckSwitches(hooks.Switches{Activated: []string{"carefull"}}))
	// Output: hooks: error: hook "carefull": no hook has this name
}

func ExampleCommonOf() {
	ev, err := hooks.ParseEvent([]byte(`{"hook_event_name": "Stop", "agent_name": "meta_agent"}`))
	if err != nil {
		panic(err)
	}
	c := hooks.CommonOf(ev)
	c.Child = true // a captured payload does not say it
	fmt.Println(c.Agent, c.Child)
	// Output: meta_agent true
}
