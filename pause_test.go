package hooks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookruntime/hooks"
)

// parked is what a host stores of a thread that another process goes on with.
type parked struct {
	Conduct  hooks.Conduct
	Call     json.RawMessage // the PreToolUse event, as EncodeEvent wrote it
	Asked    bool            // the call waits for the user
	Carried  hooks.Carried
	Switches hooks.Switches
	Stop     hooks.StopState
}

// seen is what the other process tells of its part.
type seen struct {
	Pid      int
	Started  []string // event and hook
	Payloads []string // as the prompt hooks got them
	Stops    []string // the outcomes of Stop, until one passes
	Stop     hooks.StopState
}

// clause: EV-3 IN-12 MD-1 MD-2 MD-4 QRK-14 CFG-6 SP-2 SP-3
func TestPauseInOneProcessResumeInAnother(t *testing.T) {
	for _, conduct := range []hooks.Conduct{hooks.Contract, hooks.Hardened} {
		turns := []string{`"current_turn":0,"max_turns":250,`, `"current_turn":9,"max_turns":30,`}
		for _, c := range []struct {
			name, tool string
			want       hooks.Outcome
			turn       string
			metadata   string // at the end of the PostToolUse payload
		}{
			{"asked", "Delete", hooks.OutcomeAsk, turns[conduct], ""},
			{"allowed", "ReadFile", hooks.OutcomeAllow, turns[1],
				`,"contoso_class":{"id":12345678901234567890},"_aggregation.allowing_hook":"readers"`},
		} {
			t.Run(conduct.String()+"/"+c.name, func(t *testing.T) {
				there := goOn(t, park(t, conduct, c.tool, c.want))
				assert.NotEqual(t, os.Getpid(), there.Pid)
				assert.Equal(t, []string{"PostToolUse witness", "Stop judge"}, there.Started)
				require.Len(t, there.Payloads, 2)
				assert.Equal(t, `{"hook_event_name":"PostToolUse","agent_name":"assistant",`+c.turn+
					`"execution_summary":null,"tool_name":"`+c.tool+`","tool_input":{"path":"a"},`+
					`"tool_result":"{\"done\":1}","tool_succeeded":true,"call_id":"call-1"`+c.metadata+`}`, there.Payloads[0])
				assert.Contains(t, there.Payloads[1], `"stop_hook_active":true,"stop_rejection_count":1,`)
				assert.Equal(t, []string{"reject", "pass"}, there.Stops)
				assert.Equal(t, hooks.StopState{Active: true, RejectionCount: 2}, there.Stop)
			})
		}
	}
}

// park is the first process: a Stop that a prompt hook rejects, then a call,
// up to where its tool would run. It returns what is stored.
func park(t *testing.T, conduct hooks.Conduct, tool string, want hooks.Outcome) []byte {
	rt, err := hooks.New(pausePolicy(), &hooks.Options{Conduct: conduct, Model: new(witness)})
	require.NoError(t, err)
	p := parked{Conduct: conduct, Switches: hooks.Switches{Activated: []string{"witness"}, Deactivated: []string{"noisy"}}}
	common := hooks.Common{Agent: "assistant", Turn: 9, MaxTurns: 30, Switches: p.Switches}
	d, err := rt.Evaluate(t.Context(), &hooks.Stop{Common: common})
	require.NoError(t, err)
	require.Equal(t, hooks.OutcomeReject, d.Outcome)
	p.Stop = d.NextStop()

	call := &hooks.PreToolUse{Common: common, ToolName: tool, ToolInput: json.RawMessage(`{"path":"a"}`), CallID: "call-1"}
	d, err = rt.Evaluate(t.Context(), call)
	require.NoError(t, err)
	require.Equal(t, want, d.Outcome)
	p.Asked, p.Carried = d.Outcome == hooks.OutcomeAsk, d.Carry()
	if p.Asked {
		require.Equal(t, hooks.Carried{}, p.Carried, "a pause carries nothing")
	}
	p.Call, err = hooks.EncodeEvent(call)
	require.NoError(t, err)
	stored, err := json.Marshal(p)
	require.NoError(t, err)
	return stored
}

const goOnEnv = "HOOKS_TEST_GO_ON"

// goOn hands what is stored to another process: this test binary again.
func goOn(t *testing.T, stored []byte) (there seen) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestGoOn$")
	cmd.Env = append(os.Environ(), goOnEnv+"=1")
	cmd.Stdin = bytes.NewReader(stored)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err, string(out))
	require.NoError(t, json.NewDecoder(bytes.NewReader(out)).Decode(&there)) // PASS follows
	return there
}

// TestGoOn is the second process: the tool has run, its result goes through
// the hooks, and the run ends.
func TestGoOn(t *testing.T) {
	if os.Getenv(goOnEnv) == "" {
		t.Skip("it is the other process of TestPauseInOneProcessResumeInAnother")
	}
	var p parked
	require.NoError(t, json.NewDecoder(os.Stdin).Decode(&p))
	ev, err := hooks.ParseEvent(p.Call)
	require.NoError(t, err)
	hooks.CommonOf(ev).Switches = p.Switches // not in the payload
	call := ev.(*hooks.PreToolUse)

	there, model := seen{Pid: os.Getpid(), Stop: p.Stop}, new(witness)
	rt, err := hooks.New(pausePolicy(), &hooks.Options{
		Conduct: p.Conduct, Model: model,
		Observe: func(_ context.Context, r hooks.Record) {
			if s, ok := r.(hooks.StartedRecord); ok {
				there.Started = append(there.Started, string(s.HookEventType)+" "+s.HookName)
			}
		},
	})
	require.NoError(t, err)
	result := hooks.ToolResult{Result: json.RawMessage(`"{\"done\":1}"`), Succeeded: true}
	post := call.Returned(result, p.Carried)
	if p.Asked {
		post = call.Resumed(result)
	}
	_, err = rt.Evaluate(t.Context(), post)
	require.NoError(t, err)
	for blocked := true; blocked; {
		d, err := rt.Evaluate(t.Context(), &hooks.Stop{Common: call.Common, StopState: there.Stop})
		require.NoError(t, err)
		blocked, there.Stop = d.Blocks(), d.NextStop()
		there.Stops = append(there.Stops, d.Outcome.String())
	}
	there.Payloads = model.payloads
	require.NoError(t, json.NewEncoder(os.Stdout).Encode(there))
}

// pausePolicy is the same in both processes.
func pausePolicy() []hooks.Hook {
	classified := hooks.Pass()
	classified.Metadata = hooks.Metadata{{Key: "contoso_class", Value: json.RawMessage(`{"id":12345678901234567890}`)}}
	approve := on(hooks.OnPreToolUse, "approve", hooks.Ask("Delete it?"))
	approve.Matcher = "Delete"
	readers := on(hooks.OnPreToolUse, "readers", hooks.Allow())
	readers.Matcher = "ReadFile"
	noisy := on(hooks.OnPostToolUse, "noisy", hooks.Deny("It is switched off."))
	noisy.Tier = hooks.TierUserGlobal
	return []hooks.Hook{
		on(hooks.OnPreToolUse, "classify", classified), approve, readers, noisy,
		{
			Name: "witness", Tier: hooks.TierSystem, On: hooks.OnPostToolUse, Matcher: "*", OnDemand: true,
			Run: hooks.Prompt{Text: "Look."},
		}, {
			Name: "judge", Tier: hooks.TierSystem, On: hooks.OnStop,
			Run: hooks.Prompt{Text: "Reject.", MaxRejections: 2},
		},
	}
}

// witness is a model that keeps what it is asked.
type witness struct{ payloads []string }

func (w *witness) Answer(_ context.Context, q hooks.ModelRequest) (hooks.ModelAnswer, error) {
	w.payloads = append(w.payloads, q.Payload)
	if q.Policy == "Reject." {
		return hooks.ModelAnswer{Text: `{"ok": false}`}, nil
	}
	return hooks.ModelAnswer{Text: `{"ok": true}`}, nil
}
