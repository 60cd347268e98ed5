package hooks

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookruntime/hooks/internal/wire"
)

func encodeString(t *testing.T, ev Event, c Conduct) string {
	t.Helper()
	enc, err := encode(new(fieldWriter), ev, c, Limits{}.withDefaults())
	require.NoError(t, err)
	return string(enc.append(nil, ev.common().literalSummary()))
}

func text(s string) *string { return &s }

// TestPayloads is IN-2 to IN-9: every field, in order, on one line.
func TestPayloads(t *testing.T) {
	for _, tc := range []struct {
		ev   Event
		want string
	}{
		{&Start{Common: Common{Agent: "meta_agent", Turn: 7, MaxTurns: 250, ExecutionSummary: "/x"}, StartMessage: text("hi <b> && \u2028")},
			`{"hook_event_name":"Start","agent_name":"meta_agent","current_turn":0,"max_turns":250,"execution_summary":null,"start_message":"hi <b> && ` + "\u2028" + `","thread_source":null}`},
		{&PreToolUse{Common: Common{Turn: 4, MaxTurns: 250, ExecutionSummary: "/t.txt"}, ToolName: "Bash", AgentMode: "Review", CallID: "c1", IsWriteAction: true,
			ToolInput: json.RawMessage("{ \"n\" : 12345678901234567890,\n \"s\":\"\\u003c\" }")},
			`{"hook_event_name":"PreToolUse","agent_name":"","current_turn":4,"max_turns":250,"execution_summary":"/t.txt","tool_name":"Bash","tool_input":{"n":12345678901234567890,"s":"\u003c"},"tool_description":null,"agent_mode":"Review","is_write_action":true,"requires_approval":false,"requires_browser_connection":false,"call_id":"c1"}`},
		{&PostToolUse{ToolName: "Bash", ToolResult: json.RawMessage(`"x"`), ToolSucceeded: true, Common: Common{Metadata: Metadata{{Key: "z", Value: json.RawMessage("1")}, {Key: "a"}}}},
			`{"hook_event_name":"PostToolUse","agent_name":"","current_turn":0,"max_turns":0,"execution_summary":null,"tool_name":"Bash","tool_input":null,"tool_result":"x","tool_succeeded":true,"call_id":"","z":1,"a":null}`},
		{&Stop{StopState: StopState{true, 2}, FinalOutput: text("done")},
			`{"hook_event_name":"Stop","agent_name":"","current_turn":0,"max_turns":0,"execution_summary":null,"stop_hook_active":true,"stop_rejection_count":2,"final_output":"done"}`},
	} {
		got := encodeString(t, tc.ev, Contract)
		assert.Equal(t, tc.want+"\n", got)
		var parts strings.Builder
		enc, err := encode(new(fieldWriter), tc.ev, Contract, Limits{}.withDefaults())
		require.NoError(t, err)
		_, err = io.Copy(&parts, struct{ io.Reader }{enc.reader(tc.ev.common().literalSummary())})
		require.NoError(t, err)
		assert.Equal(t, got, parts.String(), "the reader yields what append appends")
	}
}

// TestResumedCall is IN-12 and QRK-14.
func TestResumedCall(t *testing.T) {
	pre := &PreToolUse{Common: Common{Turn: 9, MaxTurns: 30}, ToolName: "Bash", CallID: "c"}
	post := pre.Resumed(ToolResult{Result: json.RawMessage(`"{\"a\":1}"`), Succeeded: true})
	assert.Contains(t, encodeString(t, post, Contract), `"current_turn":0,"max_turns":250,`)
	assert.Contains(t, encodeString(t, post, Hardened), `"current_turn":9,"max_turns":30,`)
}

// TestMetadataShadows is QRK-2: the real field stands first; Hardened drops
// the entry and says whose it was.
func TestMetadataShadows(t *testing.T) {
	ev := &PostToolUse{ToolName: "Bash", Common: Common{Metadata: Metadata{
		{Key: "tool_name", Value: json.RawMessage(`"Evil"`), Hook: "h"},
		{Key: "TOOL_INPUT", Value: json.RawMessage(`1`)},
		{Key: "final_output", Value: json.RawMessage(`2`)},
		{Key: "mine", Value: json.RawMessage(`3`)},
	}}}
	in := encodeString(t, ev, Contract)
	assert.Contains(t, in, `"tool_name":"Evil","TOOL_INPUT":1,"final_output":2,"mine":3}`)
	assert.Less(t, strings.Index(in, `"tool_name":"Bash"`), strings.Index(in, `"tool_name":"Evil"`))

	enc, err := encode(new(fieldWriter), ev, Hardened, Limits{}.withDefaults())
	require.NoError(t, err)
	in = string(enc.append(nil, nil))
	assert.NotContains(t, in, "Evil")
	assert.Contains(t, in, `"call_id":"","mine":3}`)
	require.Len(t, enc.notes, 3)
	assert.Equal(t, "h", enc.notes[0].Hook)
	assert.Contains(t, enc.notes[0].Message, `"tool_name"`)
}

// TestMalformedEvents is IN-10 and F55: a typed error, no payload in its text.
func TestMalformedEvents(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`{"k":`, n) + "1" + strings.Repeat("}", n) }
	for _, in := range []string{
		`{"secret":1,}`, `{"secret"`, ``, ` `, `[1]`, `"secret"`, `1`, "{\"secret\":\"\xff\"}", `{} {}`,
		`{"secret":` + strings.Repeat("9", 1001) + `}`, deep(201),
	} {
		_, err := EncodeEvent(&PreToolUse{ToolName: "T", ToolInput: json.RawMessage(in)})
		var e *EventError
		require.ErrorAs(t, err, &e, "%.60q", in)
		assert.Equal(t, OnPreToolUse, e.Event)
		assert.Equal(t, "tool_input", e.Field)
		assert.NotContains(t, err.Error(), "secret")
	}
	for _, ok := range []string{`{}`, ` null `, deep(200), `{"n":` + strings.Repeat("9", 1000) + `}`} {
		_, err := EncodeEvent(&PreToolUse{ToolInput: json.RawMessage(ok)})
		assert.NoError(t, err)
	}
	for field, ev := range map[string]Event{
		"tool_result": &PostToolUse{ToolResult: json.RawMessage(`{`)},
		"tool_name":   &PreToolUse{ToolName: "a\xff"},
		"call_id":     &PreToolUse{CallID: "\xff"},
		"m":           &Stop{Common: Common{Metadata: Metadata{{Key: "m", Value: json.RawMessage(`nope`)}}}},
		"metadata":    &Stop{Common: Common{Metadata: Metadata{{Key: "\xff"}}}},
	} {
		_, err := EncodeEvent(ev)
		var e *EventError
		require.ErrorAs(t, err, &e)
		assert.Equal(t, field, e.Field)
	}
	for _, ev := range []Event{nil, (*Start)(nil), (*PreToolUse)(nil), (*PostToolUse)(nil), (*Stop)(nil)} {
		_, err := EncodeEvent(ev)
		assert.Error(t, err)
	}
}

// TestCollidingKeys is QRK-15.
func TestCollidingKeys(t *testing.T) {
	ev := &PreToolUse{ToolInput: json.RawMessage(`{"a":[{"path":1,"Path":2}]}`)}
	enc, err := encode(new(fieldWriter), ev, Contract, Limits{}.withDefaults())
	require.NoError(t, err)
	require.Len(t, enc.notes, 1)
	assert.Contains(t, enc.notes[0].Message, "bytes 7 and 16")
	_, err = encode(new(fieldWriter), ev, Hardened, Limits{}.withDefaults())
	assert.ErrorContains(t, err, "tool_input")
}

// TestParseEvent is IN-13.
func TestParseEvent(t *testing.T) {
	ev, err := ParseEvent([]byte("\ufeff " + `{"extra":[1, 2],"tool_name":"T","hook_event_name":"PostToolUse","tool_name":"U","execution_summary":"/s","tool_result":{"a":1.0},"current_turn":3}`))
	require.NoError(t, err)
	post := ev.(*PostToolUse)
	assert.Equal(t, "T", post.ToolName)
	assert.Equal(t, 3, post.Turn)
	assert.Equal(t, "/s", post.ExecutionSummary)
	assert.JSONEq(t, `{"a":1.0}`, string(post.ToolResult))
	assert.Nil(t, post.ToolInput)
	require.Len(t, post.Metadata, 2)
	assert.Equal(t, "extra", post.Metadata[0].Key)
	assert.Equal(t, `"U"`, string(post.Metadata[1].Value))

	for in, part := range map[string]string{
		`{}`:                            "hook_event_name",
		`{"hook_event_name":"stop"}`:    "hook_event_name",
		`[]`:                            "not exactly one JSON object",
		`{"hook_event_name":"Stop"} {}`: "not exactly one JSON object",
		`{"hook_event_name":"Stop","stop_rejection_count":1.5}`:                    "stop_rejection_count: it must be an integer",
		`{"hook_event_name":"Stop","stop_hook_active":null}`:                       "stop_hook_active: it must be true or false",
		`{"hook_event_name":"Stop","agent_name":null}`:                             "agent_name: it must be a string",
		`{"hook_event_name":"Stop","final_output":3}`:                              "final_output: it must be a string or null",
		`{"hook_event_name":"PreToolUse","tool_input":[]}`:                         "tool_input: it must be an object or null",
		`{"hook_event_name":"PreToolUse","is_write_action":"yes","max_turns":"x"}`: "max_turns",
		"{\"hook_event_name\":\"Stop\",\"x\":\"\xff\"}":                            "not UTF-8",
	} {
		_, err := ParseEvent([]byte(in))
		require.ErrorContains(t, err, part, in)
		var e *EventError
		assert.ErrorAs(t, err, &e)
	}
	_, err = ParseEvent([]byte(`{"hook_event_name":"PreToolUse","is_write_action":"yes","max_turns":"x"}`))
	assert.Len(t, err.(interface{ Unwrap() []error }).Unwrap(), 2, "all errors at once")
}

// firstWins fails unless a reader that keeps the first of two equal keys sees
// our fields, whatever the metadata is called; and in Hardened conduct one that
// folds case and keeps the last, as encoding/json does, too.
func firstWins(t *testing.T, ev Event, contract []byte) {
	t.Helper()
	hardened, err := encode(new(fieldWriter), ev, Hardened, Limits{}.withDefaults())
	if err != nil {
		return // colliding keys
	}
	bare := ev.clone()
	bare.common().Metadata = nil
	alone, err := EncodeEvent(bare)
	if err != nil || !strings.HasPrefix(string(contract), strings.TrimSuffix(string(alone), "}\n")) {
		t.Fatalf("metadata stands before a field: %q, %v", contract, err)
	}
	fields, err := wire.Members(alone)
	if err != nil {
		t.Fatal(err)
	}
	var last map[string]json.RawMessage
	seen, want := map[string]string{}, map[string]string{}
	if err := json.Unmarshal(hardened.append(nil, ev.common().literalSummary()), &last); err != nil {
		t.Fatal(err)
	}
	for key, value := range last {
		for _, f := range fields {
			if strings.EqualFold(f.Key, key) {
				seen[f.Key] += string(value)
			}
		}
	}
	for _, f := range fields {
		want[f.Key] = string(f.Value)
	}
	for key := range want {
		if post, ok := ev.(*PostToolUse); !(ok && post.Resumed) && seen[key] != want[key] {
			t.Fatalf("a reader that folds case sees %q in %s, not %q", seen[key], key, want[key])
		}
	}
}

// FuzzPayload: encode∘parse is byte-stable for any object the encoder wrote,
// and a reader that keeps the first of two equal keys sees our fields.
func FuzzPayload(f *testing.F) {
	captured, err := filepath.Glob("testdata/payloads/*.json")
	require.NoError(f, err)
	for _, name := range captured {
		data, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add([]byte(`{"hook_event_name":"PreToolUse","tool_name":"T","tool_input":{"a":1e400},"tool_name":"U","x":{"y": [1, 2]}}`))
	f.Add([]byte(`{"hook_event_name":"Stop","execution_summary":"/a\u0000b","final_output":"\ud800 & <"}`))
	f.Add([]byte(`{"hook_event_name":"Start","current_turn":3}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		ev, err := ParseEvent(data)
		if err != nil {
			var e *EventError
			if !errors.As(err, &e) {
				t.Fatalf("%v is no EventError", err)
			}
			return
		}
		first, err := EncodeEvent(ev)
		if err != nil {
			return // over the limits
		}
		again, err := ParseEvent(first)
		if err != nil {
			t.Fatalf("cannot read back %q: %v", first, err)
		}
		second, err := EncodeEvent(again)
		if err != nil || string(second) != string(first) {
			t.Fatalf("not stable:\n%q\n%q\n%v", first, second, err)
		}
		if !strings.HasPrefix(string(first), `{"hook_event_name":"`+string(ev.EventName())+`",`) || strings.Count(string(first), "\n") != 1 {
			t.Fatalf("not one line that begins with our fields: %q", first)
		}
		firstWins(t, ev, first)
	})
}
