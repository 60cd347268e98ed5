package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// watched makes a runtime that keeps its records, for tests in both conducts.
func watched(t *testing.T, opts Options, hooks ...Hook) (*Runtime, func() []Record) {
	t.Helper()
	var mu sync.Mutex
	var records []Record
	opts.Observe = func(_ context.Context, r Record) {
		mu.Lock()
		defer mu.Unlock()
		switch x := r.(type) { // times differ from run to run
		case ExecutionRecord:
			x.DurationMs = 0
			r = x
		case EvaluationRecord:
			x.DurationMs = 0
			r = x
		}
		records = append(records, r)
	}
	return newRuntime(t, &opts, hooks...), func() []Record {
		mu.Lock()
		defer mu.Unlock()
		out := records
		records = nil
		return out
	}
}

// only returns the records of one type.
func only[R Record](records []Record) (out []R) {
	for _, r := range records {
		if x, ok := r.(R); ok {
			out = append(out, x)
		}
	}
	return out
}

func bothConducts(t *testing.T, test func(t *testing.T, c Conduct)) {
	for _, c := range []Conduct{Contract, Hardened} {
		t.Run(c.String(), func(t *testing.T) { test(t, c) })
	}
}

// clause: TEL-1
//
// One evaluation record per chain in which a hook ran, with all its numbers.
func TestEvaluationRecords(t *testing.T) {
	bothConducts(t, func(t *testing.T, c Conduct) {
		elsewhere := says(TierSystem, "elsewhere", Pass())
		elsewhere.Matcher = "Other"
		rt, records := watched(t, Options{Conduct: c}, elsewhere,
			says(TierSystem, "s", Pass()), says(TierAgent, "a1", Allow()), says(TierAgent, "a2", Allow()), says(TierUserGlobal, "u", Pass()))
		evaluate(t, rt, &PreToolUse{ToolName: "T", Common: Common{Agent: "meta"}})
		assert.Equal(t, []EvaluationRecord{{
			HookEventType: OnPreToolUse, ToolName: "T", AgentName: "meta", FinalDecision: OutcomeAllow,
			HooksConfigured: 5, HooksRun: 4, SystemHooksRun: 1, AgentHooksRun: 2, UserGlobalHooksRun: 1, AllowingHook: "a1",
		}}, only[EvaluationRecord](records()))

		unmatched, records := watched(t, Options{Conduct: c}, elsewhere)
		evaluate(t, unmatched, &PreToolUse{ToolName: "T"})
		assert.Empty(t, records(), "no hook ran: no record")
	})
}

// clause: TEL-1 AGG-10
//
// Stop can give two records, one per chain, each with its own outcome; a chain
// in which no hook ran gives none.
func TestStopHasTwoEvaluations(t *testing.T) {
	bothConducts(t, func(t *testing.T, c Conduct) {
		judge := Hook{Name: "judge", On: OnStop, Tier: TierUserGlobal, Run: Prompt{Text: "ok?", MaxRejections: 1}}
		stop := says(TierSystem, "stop", Pass())
		stop.On, stop.Matcher = OnStop, ""
		rejecting := model(func(context.Context, ModelRequest) (ModelAnswer, error) {
			return ModelAnswer{Text: `{"ok":false,"reason":"More."}`}, nil
		})
		rt, records := watched(t, Options{Conduct: c, Model: rejecting}, stop, judge)
		d := evaluate(t, rt, &Stop{})
		assert.Equal(t, OutcomeReject, d.Outcome)
		assert.Equal(t, []EvaluationRecord{
			{HookEventType: OnStop, FinalDecision: OutcomeReject, HooksConfigured: 2, HooksRun: 1, UserGlobalHooksRun: 1, RejectionCount: 1},
			{HookEventType: OnStop, FinalDecision: OutcomePass, HooksConfigured: 2, HooksRun: 1, SystemHooksRun: 1},
		}, only[EvaluationRecord](records()))
		evaluate(t, rt, &Stop{StopState: d.NextStop()})
		assert.Len(t, only[EvaluationRecord](records()), 1, "at the limit the prompt chain does not run")
	})
}

// clause: TEL-2 TEL-3 TEL-5
//
// One execution record per decision that is not a pass, none for a pass, and a
// started record for every hook. RejectionCount counts rejects, a failure under
// failMode block among them, not denies.
func TestExecutionRecords(t *testing.T) {
	bothConducts(t, func(t *testing.T, c Conduct) {
		fails := func(name string, mode FailMode, fn Func) Hook {
			h := says(TierAgent, name, Pass())
			h.Run, h.FailMode = fn, mode
			return h
		}
		rt, records := watched(t, Options{Conduct: c, Sandbox: &Local{Dir: t.TempDir()}},
			says(TierSystem, "pass", Pass()),
			says(TierSystem, "reject", Reject("No.")),
			Hook{Name: "exit", On: OnPreToolUse, Tier: TierSystem, Matcher: "*", Run: Command{Line: "echo ' From stderr. ' >&2; exit 2"}},
			fails("panics", FailAllow, func(context.Context, Call) (Result, error) { panic("secret") }),
			fails("errs", FailBlock, func(context.Context, Call) (Result, error) { return Pass(), errors.New("secret") }),
			Hook{Name: "code", On: OnPreToolUse, Tier: TierUserGlobal, Matcher: "*", FailMode: FailAllow, Run: Command{Line: "echo secret >&2; exit 7"}},
			says(TierUserGlobal, "allow", Allow()),
			says(TierUserGlobal, "deny", Result{Permission: PermissionDeny, Question: "A permission's reason."}),
			says(TierUserGlobal, "behind", Reject("x")))
		d := evaluate(t, rt, &PreToolUse{ToolName: "T", CallID: "c1", Common: Common{Agent: "meta"}})
		assert.Equal(t, OutcomeDeny, d.Outcome)
		got := records()
		row := func(name, typ string, tier Tier, decision Outcome, reason, exception string) ExecutionRecord {
			return ExecutionRecord{HookName: name, HookType: typ, HookEventType: OnPreToolUse, Tier: tier, ToolName: "T", AgentName: "meta",
				Decision: decision, Reason: reason, ExceptionType: exception}
		}
		assert.Equal(t, []ExecutionRecord{
			row("reject", "func", TierSystem, OutcomeReject, "No.", ""),
			row("exit", "command", TierSystem, OutcomeReject, "From stderr.", ""),
			row("panics", "func", TierAgent, OutcomeErrored, "", "panic"),
			row("errs", "func", TierAgent, OutcomeReject, `Hook "errs" failed (error).`, "error"),
			row("code", "command", TierUserGlobal, OutcomeErrored, "", ""),
			row("allow", "func", TierUserGlobal, OutcomeAllow, "", ""),
			row("deny", "func", TierUserGlobal, OutcomeDeny, "Blocked by hook", ""),
		}, only[ExecutionRecord](got))

		var started []string
		for _, r := range only[StartedRecord](got) {
			started = append(started, fmt.Sprintf("%s %s %s", r.HookName, r.HookType, r.Tier))
		}
		assert.Equal(t, "pass func system,reject func system,exit command system,panics func agent,errs func agent,code command user-global,allow func user-global,deny func user-global",
			strings.Join(started, ","))
		last := only[EvaluationRecord](got)
		require.Len(t, last, 1)
		assert.Equal(t, OutcomeDeny, last[0].FinalDecision)
		assert.Equal(t, 3, last[0].RejectionCount)
		assert.IsType(t, StartedRecord{}, got[0])
		assert.IsType(t, EvaluationRecord{}, got[len(got)-1])

		text := fmt.Sprintf("%+v", got)
		for _, hidden := range []string{"c1", "secret", "A permission's reason."} {
			assert.NotContains(t, text, hidden)
		}
		assert.Contains(t, text, "Tier:user-global")
	})
}

// clause: TEL-2
//
// The fields are those of the contract, and the hook's dialect; there is none
// for a call id.
func TestRecordFields(t *testing.T) {
	fields := func(r Record) string {
		var names []string
		for f := range reflect.TypeOf(r).NumField() {
			names = append(names, reflect.TypeOf(r).Field(f).Name)
		}
		slices.Sort(names)
		return strings.Join(names, " ")
	}
	assert.Equal(t, "AgentName Decision Dialect DurationMs ExceptionType HookEventType HookName HookType Reason Tier ToolName", fields(ExecutionRecord{}))
	assert.Equal(t, "AgentHooksRun AgentName AllowingHook DurationMs FinalDecision HookEventType HooksConfigured HooksRun RejectionCount SystemHooksRun ToolName UserGlobalHooksRun", fields(EvaluationRecord{}))
}

// clause: TEL-4
//
// Reasons are cut at 256 characters, and 257 tell that one was cut.
func TestCutReasons(t *testing.T) {
	bothConducts(t, func(t *testing.T, c Conduct) {
		for n, want := range map[int]int{256: 256, 257: 257, 5000: 257} {
			rt, records := watched(t, Options{Conduct: c, CutReasons: true}, says(TierSystem, "h", Reject(strings.Repeat("é", n))))
			d := evaluate(t, rt, &PreToolUse{ToolName: "T"})
			reason := only[ExecutionRecord](records())[0].Reason
			assert.Equal(t, want, utf8.RuneCountInString(reason))
			assert.Equal(t, n > 256, strings.HasSuffix(reason, "…"))
			assert.Equal(t, n, utf8.RuneCountInString(d.Reason), "the decision is not cut")
		}
		rt, records := watched(t, Options{Conduct: c}, says(TierSystem, "h", Reject(strings.Repeat("x", 300))))
		evaluate(t, rt, &PreToolUse{ToolName: "T"})
		assert.Len(t, only[ExecutionRecord](records())[0].Reason, 300)
	})
}

// clause: TEL-5
//
// Records come with the context of the evaluation, and hold nothing of what the
// hooks were shown.
func TestRecordsHoldNoPayload(t *testing.T) {
	bothConducts(t, func(t *testing.T, c Conduct) {
		type threadID struct{}
		var text strings.Builder
		answers := model(func(context.Context, ModelRequest) (ModelAnswer, error) {
			return ModelAnswer{Text: `{"ok":false,"reason":"No."}`}, nil
		})
		rt := newRuntime(t, &Options{Conduct: c, Model: answers, Observe: func(ctx context.Context, r Record) {
			assert.Equal(t, "thread-7", ctx.Value(threadID{}))
			fmt.Fprintf(&text, "%+v\n", r)
		}}, Hook{Name: "judge", On: OnPostToolUse, Tier: TierSystem, Matcher: "*", Run: Prompt{Text: "secret prompt: ok?"}})
		ctx := context.WithValue(context.Background(), threadID{}, "thread-7")
		_, err := rt.Evaluate(ctx, &PostToolUse{ToolName: "T", CallID: "secret call", ToolInput: raw(`{"a":"secret input"}`), ToolResult: raw(`"secret result"`),
			Common: Common{Trajectory: func(_ context.Context, w io.Writer) error { _, err := io.WriteString(w, `"secret turn"`); return err }}})
		require.NoError(t, err)
		assert.Contains(t, text.String(), "FinalDecision:reject")
		assert.NotContains(t, text.String(), "secret")
		assert.NotContains(t, text.String(), "hook_transcript_")
	})
}

// clause: PRM-8
//
// The hook's own tools fire no hooks: they are called while the model answers,
// and no hook sees their names.
func TestToolsOfPromptHooksFireNoHooks(t *testing.T) {
	bothConducts(t, func(t *testing.T, c Conduct) {
		var seen []string
		spy := says(TierSystem, "spy", Pass())
		spy.Run = Func(func(_ context.Context, call Call) (Result, error) {
			seen = append(seen, call.Event.(*PreToolUse).ToolName)
			return Pass(), nil
		})
		read := ""
		reads := model(func(ctx context.Context, q ModelRequest) (ModelAnswer, error) {
			for _, tool := range q.Tools {
				arguments := `{"pattern":"turn"}`
				if tool.Name == "ReadFile" {
					path, _ := json.Marshal(summaryIn(q.Payload))
					arguments = `{"path":` + string(path) + `}`
				}
				text, err := tool.Call(ctx, raw(arguments))
				if err != nil {
					return ModelAnswer{}, err
				}
				read += text
			}
			return ModelAnswer{Text: `{"ok":true}`}, nil
		})
		rt, records := watched(t, Options{Conduct: c, Model: reads}, spy,
			Hook{Name: "judge", On: OnPreToolUse, Tier: TierUserGlobal, Matcher: "*", Run: Prompt{Text: "ok?"}})
		d := evaluate(t, rt, &PreToolUse{ToolName: "T", Common: Common{
			Trajectory: func(_ context.Context, w io.Writer) error { _, err := io.WriteString(w, `["turn one"]`); return err }}})
		assert.Equal(t, OutcomePass, d.Outcome, d.Explain())
		assert.Equal(t, []string{"T"}, seen)
		assert.Equal(t, 2, strings.Count(read, "turn one"))
		assert.Len(t, only[StartedRecord](records()), 2)
	})
}

// summaryIn returns the execution_summary of a payload.
func summaryIn(payload string) string {
	var p struct {
		Summary string `json:"execution_summary"`
	}
	_ = json.Unmarshal([]byte(payload), &p)
	return p.Summary
}

// clause: SUB-4
//
// An in-process hook is told whether its loop can ask, and asked or not the
// payload is the same.
func TestFuncsAreToldWhetherTheLoopCanAsk(t *testing.T) {
	bothConducts(t, func(t *testing.T, c Conduct) {
		for _, common := range []Common{{}, {Child: true}, {CannotAsk: true}} {
			told := false
			h := says(TierSystem, "h", Pass())
			h.Run = Func(func(_ context.Context, call Call) (Result, error) {
				told = call.CannotAsk
				return Pass(), nil
			})
			ev := &PreToolUse{ToolName: "T", Common: common}
			evaluate(t, newRuntime(t, &Options{Conduct: c}, h), ev)
			assert.Equal(t, common.Child || common.CannotAsk, told)
			assert.Equal(t, encodeString(t, &PreToolUse{ToolName: "T"}, c), encodeString(t, ev, c))
		}
	})
}

// clause: IN-11
//
// The payload has the contract's fields and no others: no thread, no name of
// the hook, no skills, no model, no sign of a resumed call, no list of files.
func TestPayloadHasNoOtherFields(t *testing.T) {
	bothConducts(t, func(t *testing.T, c Conduct) {
		common := Common{Agent: "a", Child: true, CannotAsk: true, Switches: Switches{Activated: []string{"secret"}, Deactivated: []string{"secret"}}}
		for want, ev := range map[string]Event{
			"start_message thread_source": &Start{Common: common},
			"tool_name tool_input tool_description agent_mode is_write_action requires_approval requires_browser_connection call_id": &PreToolUse{Common: common},
			"tool_name tool_input tool_result tool_succeeded call_id":                                                                &PostToolUse{Common: common, Resumed: true},
			"stop_hook_active stop_rejection_count final_output":                                                                     &Stop{Common: common},
		} {
			in := encodeString(t, ev, c)
			var m Metadata
			require.NoError(t, json.Unmarshal([]byte(in), &m))
			var keys []string
			for _, e := range m {
				keys = append(keys, e.Key)
			}
			assert.Equal(t, "hook_event_name agent_name current_turn max_turns execution_summary "+want, strings.Join(keys, " "))
			assert.NotContains(t, in, "secret")
		}
	})
}

// clause: CFG-7
//
// A hook under a known name replaces the old one whole; nothing is merged.
func TestApplyingReplacesTheWholeSpec(t *testing.T) {
	bothConducts(t, func(t *testing.T, c Conduct) {
		load := func(hook string) Hook {
			hooks, _, err := Parse(TierUserGlobal, "h.yaml", []byte("api_version: azuresre.ai/v2\nkind: Hook\nmetadata: {name: h}\nspec: {eventType: PreToolUse, activationMode: always, hook: "+hook+"}\n"))
			require.NoError(t, err)
			return hooks[0]
		}
		old := newRuntime(t, &Options{Conduct: c}, load(`{type: command, matcher: T, failMode: block, timeout: 9, command: exit 1}`))
		next, err := old.With(load(`{type: command, command: exit 1, failMode: allow}`))
		if c == Hardened {
			assert.ErrorContains(t, err, "matcher is missing", "the old matcher does not live on")
			return
		}
		require.NoError(t, err)
		d := evaluate(t, next, &PreToolUse{ToolName: "T"})
		assert.Equal(t, "h:no-match", fates(d.Steps()))
		assert.Zero(t, next.Hooks()[0].Timeout)
		d = evaluate(t, old, &PreToolUse{ToolName: "T"})
		assert.Equal(t, OutcomeReject, d.Outcome)
	})
}
