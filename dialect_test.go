package hooks

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDialectNames(t *testing.T) {
	for _, d := range []Dialect{HookContract, VSCode} {
		text, err := d.MarshalText()
		require.NoError(t, err)
		var back Dialect
		require.NoError(t, back.UnmarshalText(text))
		assert.Equal(t, d, back)
	}
	var d Dialect
	assert.ErrorContains(t, d.UnmarshalText([]byte("vs-code")), "the dialects are hook-contract and vscode")
	_, err := Dialect(7).MarshalText()
	assert.Error(t, err)
	assert.Equal(t, "Dialect(7)", Dialect(7).String())
	assert.Equal(t, []EventName{OnStart, OnPreToolUse, OnPostToolUse, OnStop}, HookContract.Events())
	assert.Len(t, VSCode.Events(), 8)
	assert.Nil(t, Dialect(-1).Events())
}

// TestDialectTables: a dialect without one of its tables would fail at a user's.
func TestDialectTables(t *testing.T) {
	for d := range Dialect(dialectCount) {
		m := manners[d]
		assert.NotEmpty(t, d.facts().name)
		assert.NotNil(t, formats[d].document)
		assert.True(t, m.input != nil && m.encode != nil && m.line != nil && m.exits != nil && m.fold != nil, "%v", d)
		assert.NotEmpty(t, d.Events())
		for _, n := range d.Events() {
			data, err := d.EncodeEvent(n.row().blank())
			require.NoError(t, err)
			assert.True(t, json.Valid(data), "%s", data)
			back, err := d.ParseEvent(data)
			require.NoError(t, err, "%s", data)
			assert.Equal(t, n, back.EventName())
		}
	}
}

func TestNewRefusesWhatADialectHasNot(t *testing.T) {
	for want, h := range map[string]Hook{
		`unknown event "SubagentStop"; the events are Start, PreToolUse, PostToolUse and Stop`:                {On: OnSubagentStop},
		`unknown event "SessionStart"; the events of vscode are SessionStart, UserPromptSubmit, PreToolUse, `: {On: "SessionStart", Dialect: VSCode},
		`dialect 5 is unknown`:                       {On: OnStop, Dialect: 5},
		`it is a prompt hook, and vscode has none`:   {On: OnStop, Dialect: VSCode, Run: Prompt{Text: "ok?"}},
		`only Start hooks have sources`:              {On: OnStart, Dialect: VSCode, Sources: []string{"x"}},
		`the folder "~/x" begins with ~`:             {On: OnStop, Dialect: VSCode, Run: Command{Line: "true", Dir: "~/x"}},
		`matcher is missing: a PostToolUse hook nee`: {On: OnPostToolUse},
	} {
		h.Name, h.Tier = "h", TierSystem
		if h.Run == nil {
			h.Run = Command{Line: "true"}
		}
		_, err := New([]Hook{h}, &Options{Sandbox: struct{ Sandbox }{&Local{}}, Model: noAnswer{}})
		assert.ErrorContains(t, err, want)
	}
}

type noAnswer struct{}

func (noAnswer) Answer(context.Context, ModelRequest) (ModelAnswer, error) {
	return ModelAnswer{}, nil
}

// TestEventsWithoutHooksPass, also those that only one dialect has.
func TestEventsWithoutHooksPass(t *testing.T) {
	rt := newRuntime(t, nil)
	for i := range eventRows {
		ev := eventRows[i].blank()
		d := evaluate(t, rt, ev)
		assert.Equal(t, OutcomePass, d.Outcome)
		assert.Equal(t, ev, ev.clone())
		assert.NotNil(t, CommonOf(ev))
	}
	for _, ev := range []Event{(*UserPromptSubmit)(nil), (*PreCompact)(nil), (*SubagentStart)(nil), (*SubagentStop)(nil)} {
		_, err := rt.Evaluate(t.Context(), ev)
		assert.ErrorContains(t, err, "the event is nil")
	}
}

// TestVSCodeInput is the whole input of every event, byte by byte.
func TestVSCodeInput(t *testing.T) {
	common := Common{Agent: "a", Turn: 3, SessionID: "s", Workspace: "/w", ExecutionSummary: "/t.txt",
		Metadata: Metadata{{Key: "k", Value: json.RawMessage("1")}}}
	tool := json.RawMessage(`{ "files": ["src/main.ts"] }`)
	for _, tc := range []struct {
		ev   Event
		want string
	}{
		{&Start{Common: common}, `"hook_event_name":"SessionStart","session_id":"s","cwd":"/w","transcript_path":"/t.txt","source":"new"}`},
		{&UserPromptSubmit{Prompt: "<b> &&"}, `"hook_event_name":"UserPromptSubmit","prompt":"<b> &&"}`},
		{&PreToolUse{Common: common, ToolName: "editFiles", ToolInput: tool, CallID: "tool-123"},
			`"hook_event_name":"PreToolUse","session_id":"s","cwd":"/w","transcript_path":"/t.txt","tool_name":"editFiles","tool_input":{"files":["src/main.ts"]},"tool_use_id":"tool-123"}`},
		{&PostToolUse{ToolName: "editFiles", ToolInput: tool, ToolResult: json.RawMessage(`"a\n\u00e9"`), CallID: "tool-123"},
			`"hook_event_name":"PostToolUse","tool_name":"editFiles","tool_input":{"files":["src/main.ts"]},"tool_response":"a\né","tool_use_id":"tool-123"}`},
		{&PostToolUse{ToolResult: json.RawMessage(`{ "n" : 12345678901234567890 }`)},
			`"hook_event_name":"PostToolUse","tool_name":"","tool_input":null,"tool_response":"{\"n\":12345678901234567890}","tool_use_id":""}`},
		{&PreCompact{}, `"hook_event_name":"PreCompact","trigger":"auto"}`},
		{&SubagentStart{AgentID: "i", AgentType: "Plan"}, `"hook_event_name":"SubagentStart","agent_id":"i","agent_type":"Plan"}`},
		{&SubagentStop{AgentID: "i", AgentType: "Plan", StopState: StopState{Active: true}}, `"hook_event_name":"SubagentStop","agent_id":"i","agent_type":"Plan","stop_hook_active":true}`},
		{&Stop{}, `"hook_event_name":"Stop","stop_hook_active":false}`},
	} {
		synctest.Test(t, func(t *testing.T) { // whose clock begins with the year 2000
			data, err := VSCode.EncodeEvent(tc.ev)
			require.NoError(t, err)
			assert.Equal(t, `{"timestamp":"2000-01-01T00:00:00.000Z",`+tc.want+"\n", string(data))
			back, err := VSCode.ParseEvent(data)
			require.NoError(t, err)
			again, err := VSCode.EncodeEvent(back)
			require.NoError(t, err)
			assert.Equal(t, string(data), string(again))
			assert.Empty(t, CommonOf(back).Metadata)
		})
	}
	_, err := HookContract.EncodeEvent(&PreCompact{})
	assert.ErrorContains(t, err, "the event does not exist in hook-contract")
	_, err = VSCode.ParseEvent([]byte(`{"hook_event_name":"preToolUse2"}`))
	assert.ErrorContains(t, err, "it must be exactly SessionStart, UserPromptSubmit, PreToolUse, ")
	_, err = Dialect(9).ParseEvent(nil)
	assert.Error(t, err)
}

// TestDialectsShareOneEvent: the payload of each hook is in its own dialect.
func TestDialectsShareOneEvent(t *testing.T) {
	box := &recordingSandbox{}
	var records []Record
	rt, err := New([]Hook{
		{Name: "a", Tier: TierSystem, On: OnPreToolUse, Matcher: "*", Run: Command{Line: "a"}},
		{Name: "b", Tier: TierSystem, On: OnPreToolUse, Dialect: VSCode, Matcher: "Nothing", Run: Command{Line: "b", Dir: "sub"}},
	}, &Options{Sandbox: box, Observe: func(_ context.Context, r Record) { records = append(records, r) }})
	require.NoError(t, err)
	d := evaluate(t, rt, &PreToolUse{Common: Common{Workspace: "/w"}, ToolName: "Bash", CallID: "c"})
	require.Len(t, box.stdin, 2)
	assert.Contains(t, box.stdin[0], `"call_id":"c"`)
	assert.Contains(t, box.stdin[1], `"tool_use_id":"c"`)
	assert.Equal(t, []string{"", "/w/sub"}, box.dirs)
	assert.Equal(t, VSCode, records[1].(StartedRecord).Dialect)
	data, err := json.Marshal(d)
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(data), `"dialect"`))
	assert.Contains(t, string(data), `"type":"command","dialect":"vscode"`)
	assert.Contains(t, d.Explain(), "command, vscode")
}

// recordingSandbox runs nothing: every process passes.
type recordingSandbox struct {
	Sandbox
	stdin, dirs []string
}

func (s *recordingSandbox) Exec(_ context.Context, p Process) (Exit, error) {
	data, err := io.ReadAll(p.Stdin)
	s.stdin, s.dirs = append(s.stdin, string(data)), append(s.dirs, p.Dir)
	return Exit{}, err
}

// TestVSCodeFailMode: a broken hook lets the run go on in both conducts, unless
// the host says otherwise.
func TestVSCodeFailMode(t *testing.T) {
	fails := func(mode FailMode, on EventName) Hook {
		return Hook{Name: "h", Tier: TierSystem, On: on, Dialect: VSCode, FailMode: mode, Run: Func(func(context.Context, Call) (Result, error) {
			panic("oh")
		})}
	}
	for _, c := range []Conduct{Contract, Hardened} {
		d := evaluate(t, newRuntime(t, &Options{Conduct: c}, fails(FailUnset, OnPreToolUse)), &PreToolUse{})
		assert.Equal(t, OutcomePass, d.Outcome)
		require.Len(t, d.Diagnostics, 1)
		assert.Contains(t, d.Diagnostics[0].Message, "failed (panic)")
		d = evaluate(t, newRuntime(t, &Options{Conduct: c}, fails(FailBlock, OnPreToolUse)), &PreToolUse{})
		assert.Equal(t, OutcomeDeny, d.Outcome)
		assert.Equal(t, `Hook "h" failed (panic).`, d.Reason)
		d = evaluate(t, newRuntime(t, &Options{Conduct: c}, fails(FailBlock, OnStop)), &Stop{})
		assert.Equal(t, OutcomeReject, d.Outcome)
	}
}

// TestVSCodeFunc: a Func of the dialect says in Go what a command says in JSON;
// one of the first contract is not heard saying it.
func TestVSCodeFunc(t *testing.T) {
	for _, dialect := range []Dialect{HookContract, VSCode} {
		says := func(r Result) Hook {
			return Hook{Name: "h", Tier: TierSystem, On: OnPreToolUse, Matcher: "*", Dialect: dialect,
				Run: Func(func(context.Context, Call) (Result, error) { return r, nil })}
		}
		opts := &Options{ValidateInput: func(tool string, input json.RawMessage) error {
			assert.Equal(t, "T", tool)
			assert.JSONEq(t, `{"a":1}`, string(input))
			return nil
		}}
		d := evaluate(t, newRuntime(t, opts, says(Result{SystemMessage: "m", UpdatedInput: json.RawMessage(` { "a" : 1 }`)})), &PreToolUse{ToolName: "T"})
		stop := evaluate(t, newRuntime(t, opts, says(Result{StopRun: true, StopReason: "s"})), &PreToolUse{ToolName: "T"})
		if dialect == HookContract {
			assert.Zero(t, d.SystemMessages)
			assert.Zero(t, d.UpdatedInput)
			assert.Equal(t, OutcomePass, stop.Outcome)
			continue
		}
		assert.Equal(t, []string{"m"}, d.SystemMessages)
		assert.Equal(t, `{"a":1}`, string(d.UpdatedInput))
		assert.Equal(t, OutcomeStop, stop.Outcome)
		assert.Equal(t, "s", stop.StopReason)
	}
}

// TestUpdatedInputCollisions is QRK-15 for an input that a hook makes.
func TestUpdatedInputCollisions(t *testing.T) {
	h := Hook{Name: "h", Tier: TierSystem, On: OnPreToolUse, Dialect: VSCode, Run: Func(func(context.Context, Call) (Result, error) {
		return Result{UpdatedInput: json.RawMessage(`{"path":"a","Path":"b"}`)}, nil
	})}
	assert.NotNil(t, evaluate(t, newRuntime(t, nil, h), &PreToolUse{}).UpdatedInput)
	d := evaluate(t, newRuntime(t, &Options{Conduct: Hardened}, h), &PreToolUse{})
	assert.Nil(t, d.UpdatedInput)
	assert.Contains(t, d.Explain(), "updatedInput is dropped")
}

// TestDigestOfDialects: a reviewed hook that changes its dialect is another one.
func TestDigestOfDialects(t *testing.T) {
	h := Hook{Name: "h", Tier: TierSystem, On: OnStop, Run: Command{Line: "true"}}
	ours := h.Digest()
	h.Dialect = VSCode
	assert.NotEqual(t, ours, h.Digest())
	_, err := h.MarshalYAML()
	assert.ErrorContains(t, err, "dialect vscode")
}
