package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookruntime/hooks"
)

// always is a hook that says the same to every event.
func always(on hooks.EventName, says hooks.Result) hooks.Hook {
	return hooks.Hook{
		Name: "always-" + string(on), Tier: hooks.TierSystem, On: on, Matcher: "*",
		Run: hooks.Func(func(context.Context, hooks.Call) (hooks.Result, error) { return says, nil }),
	}
}

// testLoop returns a loop whose only tool counts its runs.
func testLoop(t *testing.T, runs *int, approve bool, hs ...hooks.Hook) *loop {
	t.Helper()
	rt, err := hooks.New(hs, nil)
	require.NoError(t, err)
	return &loop{
		agent: "assistant", mode: "Review", runtime: rt,
		transcript: &transcript{out: new(bytes.Buffer)},
		user:       func(string) bool { return approve },
		tools: map[string]*tool{"Count": {needsApproval: true, run: func(context.Context, json.RawMessage) (any, error) {
			*runs++
			return *runs, nil
		}}},
	}
}

func (l *loop) last() string { return l.history[len(l.history)-1].Text }

func TestCallThatCannotBeRead(t *testing.T) {
	runs := 0
	l := testLoop(t, &runs, true, always(hooks.OnPreToolUse, hooks.Allow()))
	require.NoError(t, l.call(t.Context(), use("Count", `{"cut":`)))
	assert.Zero(t, runs)
	assert.Contains(t, l.last(), "The call was not run")
}

func TestUnknownTool(t *testing.T) {
	l := testLoop(t, new(int), true)
	require.NoError(t, l.call(t.Context(), use("Guess", `{}`)))
	assert.Equal(t, "There is no such tool.", l.last())
}

// What the hooks could not decide must not go on.
func TestErrorDoesNotProceed(t *testing.T) {
	runs := 0
	l := testLoop(t, &runs, true, always(hooks.OnPreToolUse, hooks.Allow()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, l.call(ctx, use("Count", `{}`)), context.Canceled)
	assert.Zero(t, runs)
}

func TestAskAfterTheTool(t *testing.T) {
	for approve, want := range map[bool]string{true: "1", false: "The user withheld the result."} {
		runs := 0
		l := testLoop(t, &runs, approve,
			always(hooks.OnPreToolUse, hooks.Allow()), always(hooks.OnPostToolUse, hooks.Ask("Show it?")))
		require.NoError(t, l.call(t.Context(), use("Count", `{}`)))
		assert.Equal(t, 1, runs)
		assert.Equal(t, want, l.last())
	}
}

// A child cannot ask: the host's own rules follow the mode it inherits.
func TestRulesInAChild(t *testing.T) {
	for mode, want := range map[string]int{"Autonomous": 1, "Review": 0, "ReadOnly": 0} {
		runs := 0
		l := testLoop(t, &runs, false)
		l.child, l.user, l.mode = true, nil, mode
		require.NoError(t, l.call(t.Context(), use("Count", `{}`)))
		assert.Equal(t, want, runs, mode)
	}
}

func TestTurnsEnd(t *testing.T) {
	l := testLoop(t, new(int), true, always(hooks.OnStop, hooks.Reject("Once more.")))
	turns := make([]reply, maxTurns)
	l.model = &script{turns: turns}
	_, err := l.run(t.Context(), "Stop.")
	require.ErrorContains(t, err, "not done after 20 turns")
}

func TestToolThatFails(t *testing.T) {
	l := testLoop(t, new(int), true)
	l.tools["Break"] = &tool{run: func(context.Context, json.RawMessage) (any, error) { return nil, errors.New("no disk") }}
	require.NoError(t, l.call(t.Context(), use("Break", `{}`)))
	assert.Equal(t, `"The tool failed: no disk"`, l.last())
}
