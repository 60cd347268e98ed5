package hooks

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func raw(s string) json.RawMessage { return json.RawMessage(s) }

// TestReturnedKeysAreDistinct: of a key that the host, a hook and the pipeline
// use, one entry is written, else a reader that keeps the last would take the
// hook's.
//
// clause: MD-1 MD-3
func TestReturnedKeysAreDistinct(t *testing.T) {
	pre := &PreToolUse{ToolName: "T", Common: Common{Metadata: Metadata{{Key: "host", Value: raw("1")}, {Key: "all", Value: raw("1")}}}}
	carried := Carried{Metadata: []MetadataEntry{{Key: "host", Value: raw("2"), Hook: "h"}, {Key: "all", Value: raw("2"), Hook: "h"}, {Key: "hook", Value: raw("2"), Hook: "h"}}}
	post := pre.Returned(ToolResult{Metadata: Metadata{{Key: "all", Value: raw("3")}, {Key: "new", Value: raw("3")}}}, carried)
	for _, c := range []Conduct{Contract, Hardened} {
		assert.Contains(t, encodeString(t, post, c), `"call_id":"","host":1,"all":3,"hook":2,"new":3}`)
	}
	assert.Equal(t, "2", string(carried.Metadata[0].Value), "what was carried is not changed")
}

// TestPauseInAnotherProcess: everything that travels survives JSON, and a
// pause carries nothing.
//
// clause: MD-1 MD-2 EV-3 IN-12 SP-2
func TestPauseInAnotherProcess(t *testing.T) {
	for _, c := range []Conduct{Contract, Hardened} {
		note := says(TierSystem, "note", Pass())
		require.NoError(t, note.setMetadata("k", "v"))
		rt := newRuntime(t, &Options{Conduct: c}, note)
		pre := &PreToolUse{ToolName: "T", CallID: "c1", Common: Common{Agent: "a", Turn: 4, MaxTurns: 9}}
		d := evaluate(t, rt, pre)
		stop := StopState{Active: true, RejectionCount: 2}

		data, err := json.Marshal(struct {
			C Carried
			S StopState
			W Switches
		}{d.Carry(), stop, Switches{Activated: []string{"x"}, Deactivated: []string{"y"}}})
		require.NoError(t, err)
		var back struct {
			C Carried
			S StopState
			W Switches
		}
		require.NoError(t, json.Unmarshal(data, &back))
		assert.Equal(t, stop, back.S)
		assert.Equal(t, []string{"y"}, back.W.Deactivated)
		assert.Contains(t, encodeString(t, pre.Returned(ToolResult{Result: raw(`"r"`), Succeeded: true}, back.C), c), `"call_id":"c1","k":"v"}`)

		asks := newRuntime(t, &Options{Conduct: c}, note, says(TierUserGlobal, "ask", Ask("?")))
		d = evaluate(t, asks, pre)
		assert.Empty(t, d.Carry().Metadata)
		resumed := encodeString(t, pre.Resumed(ToolResult{Result: raw(`"{\"a\":1}"`), Succeeded: true}), c)
		assert.Contains(t, resumed, `"tool_result":"{\"a\":1}","tool_succeeded":true,"call_id":"c1"}`)
		turns := `"current_turn":4,"max_turns":9,`
		if c == Contract {
			turns = `"current_turn":0,"max_turns":250,`
		}
		assert.Contains(t, resumed, turns)
	}
}

// setMetadata makes a hook that answers with r leave an entry.
func (h *Hook) setMetadata(key string, value any) error {
	r, err := h.Run.(Func)(context.Background(), Call{})
	if err != nil {
		return err
	}
	if err := r.Metadata.Add(key, value); err != nil {
		return err
	}
	h.Run = Func(func(context.Context, Call) (Result, error) { return r, nil })
	return nil
}

// TestNextStop: what another event or an undecided one leaves is the state
// unchanged.
//
// clause: SP-2
func TestNextStop(t *testing.T) {
	for _, c := range []Conduct{Contract, Hardened} {
		h := says(TierSystem, "h", Reject("r"))
		h.On = OnStop
		d := evaluate(t, newRuntime(t, &Options{Conduct: c}, h), &Stop{StopState: StopState{RejectionCount: 1}})
		assert.Equal(t, OutcomeReject, d.Outcome)
		assert.Equal(t, StopState{RejectionCount: 1}, d.NextStop(), "an in-process hook is in the chain of the commands")
		assert.Zero(t, (&Decision{}).NextStop())
	}
}
