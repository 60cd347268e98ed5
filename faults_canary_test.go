package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// canary stands for what must not be told: payload, prompt, command line, and
// what a failing hook printed.
const canary = "c4n4ry"

// TestFailuresTellNothing is F33, F50 and TEL-5: a failed hook's reason names
// the hook and the kind of failure. Whatever goes wrong, neither the texts for
// the model, nor the records, nor the findings hold a canary.
func TestFailuresTellNothing(t *testing.T) {
	say := `echo ` + canary + `; echo ` + canary + ` >&2; `
	bodies := map[string]struct {
		run  Body
		kind FailureKind
	}{
		"exit":      {Command{Line: say + `exit 1`}, FailureExit},
		"not found": {Command{Line: canary + `/program`}, FailureExit},
		"signal":    {Command{Line: say + `kill -9 $$`}, FailureSignal},
		"deadline":  {Command{Line: say + `sleep 60`}, FailureTimeout},
		"output":    {Command{Line: say}, FailureOutput},
		"overflow":  {Command{Line: say + `head -c 2000000 /dev/zero`}, FailureOutput},
		"cut":       {Command{Line: `echo '{"reason":"` + canary + `","x":'`}, FailureOutput},
		"wrong":     {Command{Line: `echo '{"ok":"` + canary + `","reason":"` + canary + `"}'`}, FailureOutput},
		"start":     {Command{Line: say, Dir: "/" + canary}, FailureStart},
		"script":    {Command{Script: "#!/bin/bash\n" + say + "exit 3"}, FailureExit},
		"env":       {Command{Line: `echo "$SECRET" >&2; exit 1`, Env: []string{"SECRET=" + canary}}, FailureExit},
		"error":     {Func(func(context.Context, Call) (Result, error) { return Reject(canary), errors.New(canary) }), FailureError},
		"panic":     {Func(func(context.Context, Call) (Result, error) { panic(canary) }), FailurePanic},
		"late": {Func(func(ctx context.Context, _ Call) (Result, error) {
			<-ctx.Done()
			return Reject(canary), errors.New(canary)
		}), FailureTimeout},
		"permission":  {Func(func(context.Context, Call) (Result, error) { return Result{Permission: 9, Reason: canary}, nil }), FailureOutput},
		"model error": {Prompt{Text: canary, Model: "error"}, FailureModel},
		"model panic": {Prompt{Text: canary, Model: "panic"}, FailureModel},
		"model prose": {Prompt{Text: canary + strings.Repeat(" policy", 500), Model: "prose"}, FailureOutput},
		"model late":  {Prompt{Text: canary, Model: "late"}, FailureTimeout},
	}
	judge := model(func(ctx context.Context, q ModelRequest) (ModelAnswer, error) {
		switch q.Model {
		case "error":
			return ModelAnswer{}, errors.New("about " + q.Text)
		case "panic":
			panic(q.Text)
		case "late":
			<-ctx.Done()
			return ModelAnswer{}, errors.New("about " + q.Text)
		}
		return ModelAnswer{Text: `I read ` + q.Text}, nil
	})
	for name, body := range bodies {
		for _, conduct := range []Conduct{Contract, Hardened} {
			for _, mode := range []FailMode{FailAllow, FailBlock} {
				t.Run(fmt.Sprint(name, "/", conduct, "/", mode), func(t *testing.T) {
					t.Parallel()
					var told []string
					opts := &Options{Conduct: conduct, Model: judge, Observe: func(_ context.Context, r Record) { told = append(told, fmt.Sprintf("%+v", r)) }}
					h := Hook{Name: "h", On: OnPreToolUse, Tier: TierSystem, Matcher: "*", Run: body.run, FailMode: mode, Timeout: 5 * time.Second}
					if body.kind == FailureTimeout {
						h.Timeout = 200 * time.Millisecond
					}
					d := evaluate(t, newRuntime(t, opts, h), &PreToolUse{
						ToolName: "T", ToolInput: json.RawMessage(`{"command":"` + canary + `"}`), ToolDescription: text(canary),
						Common: Common{Metadata: Metadata{{Key: "m", Value: json.RawMessage(`"` + canary + `"`)}}},
					})
					tellsOf(t, &d, told, body.kind, mode == FailBlock && (conduct == Hardened || h.Run.bodyType() != "prompt"))
				})
			}
		}
	}
}

// TestVSCodeFailuresTellNothing: a failed hook of VSCode is a warning for people,
// or, where the host gave it a fail mode, the same fixed text as ever.
func TestVSCodeFailuresTellNothing(t *testing.T) {
	say := `echo ` + canary + `; echo ` + canary + ` >&2; `
	bodies := map[string]struct {
		run  Body
		kind FailureKind
	}{
		"exit":     {Command{Line: say + `exit 1`}, FailureExit},
		"signal":   {Command{Line: say + `kill -9 $$`}, FailureSignal},
		"deadline": {Command{Line: say + `sleep 60`}, FailureTimeout},
		"overflow": {Command{Line: say + `head -c 2000000 /dev/zero`}, FailureOutput},
		"start":    {Command{Line: say, Dir: "/" + canary}, FailureStart},
		"error":    {Func(func(context.Context, Call) (Result, error) { return Reject(canary), errors.New(canary) }), FailureError},
		"panic":    {Func(func(context.Context, Call) (Result, error) { panic(canary) }), FailurePanic},
	}
	for name, body := range bodies {
		for _, mode := range []FailMode{FailUnset, FailBlock} {
			t.Run(fmt.Sprint(name, "/", mode), func(t *testing.T) {
				t.Parallel()
				var told []string
				opts := &Options{Observe: func(_ context.Context, r Record) { told = append(told, fmt.Sprintf("%+v", r)) }}
				h := Hook{Name: "h", On: OnPreToolUse, Tier: TierSystem, Dialect: VSCode, Run: body.run, FailMode: mode, Timeout: 5 * time.Second}
				if body.kind == FailureTimeout {
					h.Timeout = 200 * time.Millisecond
				}
				d := evaluate(t, newRuntime(t, opts, h), &PreToolUse{ToolName: "T", ToolInput: json.RawMessage(`{"command":"` + canary + `"}`)})
				tellsOf(t, &d, told, body.kind, mode == FailBlock)
			})
		}
	}
}

// tellsOf holds a decision about a failed hook, and its records, against the
// fixed text and the canary.
func tellsOf(t *testing.T, d *Decision, records []string, kind FailureKind, blocks bool) {
	t.Helper()
	want := ""
	if blocks {
		want = fmt.Sprintf("Hook %q failed (%s).", "h", kind)
	}
	assert.Equal(t, want, d.Reason)
	assert.Equal(t, blocks, d.Blocks())
	assert.GreaterOrEqual(t, len(records), 2, "started, executed unless it passed, evaluated")
	data, err := json.Marshal(d)
	require.NoError(t, err)
	var shown map[string]any
	require.NoError(t, json.Unmarshal(data, &shown))
	for s := range d.Steps() {
		require.NotNil(t, s.Failure)
		assert.Equal(t, kind, s.Failure.Kind, s.Failure.Message)
		records = append(records, s.Why, s.Reason, s.Question, s.Context)
	}
	delete(shown, "steps") // for the operator: what the hook printed to stderr
	records = append(records, fmt.Sprint(shown), d.ForModel(), fmt.Sprint(d.Diagnostics))
	assert.NotContains(t, strings.Join(records, "\n"), canary)
}

// TestEventErrorsTellNothing: an event that is refused, or a captured input that
// cannot be read, is not quoted.
func TestEventErrorsTellNothing(t *testing.T) {
	bad := func(s string) json.RawMessage { return json.RawMessage(s) }
	for name, ev := range map[string]Event{
		"cut":          &PreToolUse{ToolInput: bad(`{"a":"` + canary)},
		"comma":        &PreToolUse{ToolInput: bad(`{"a":"` + canary + `",}`)},
		"word":         &PreToolUse{ToolInput: bad(canary)},
		"text":         &PreToolUse{ToolInput: bad(`"` + canary + `"`)},
		"not UTF-8":    &PreToolUse{ToolDescription: text("x"), CallID: canary + "\xff"},
		"number":       &PreToolUse{ToolInput: bad(`{"` + canary + `":` + strings.Repeat("1", 1001) + `}`)},
		"deep":         &PreToolUse{ToolInput: bad(strings.Repeat(`{"`+canary+`":`, 201) + `1` + strings.Repeat(`}`, 201))},
		"escape":       &PreToolUse{ToolInput: bad(`{"a":"` + canary + `\x"}`)},
		"colliding":    &PreToolUse{ToolInput: bad(`{"` + canary + `":1,"` + strings.ToUpper(canary) + `":2}`)},
		"result":       &PostToolUse{ToolResult: bad(canary)},
		"call":         &PostToolUse{CallID: canary + "\xff"},
		"two metadata": &Stop{Common: Common{Metadata: Metadata{{Key: "m", Value: bad(canary)}}}},
	} {
		rt := newRuntime(t, &Options{Conduct: Hardened}, says(TierSystem, "h", Allow()),
			Hook{Name: "p", On: OnPostToolUse, Tier: TierSystem, Matcher: "*", Run: Func(func(context.Context, Call) (Result, error) { return Allow(), nil })},
			Hook{Name: "s", On: OnStop, Tier: TierSystem, Run: Func(func(context.Context, Call) (Result, error) { return Pass(), nil })})
		d, err := rt.Evaluate(context.Background(), ev)
		var e *EventError
		require.ErrorAs(t, err, &e, name)
		assert.True(t, d.Blocks())
		assert.NotContains(t, fmt.Sprintf("%v %+v %s", err, e, d.Explain()), canary, name)
	}
	for _, in := range []string{
		canary, `{"hook_event_name":"` + canary + `"}`, `{"hook_event_name":"Stop","final_output":["` + canary + `"]}`,
		`{"hook_event_name":"Stop","current_turn":"` + canary + `","x":"` + canary + `"}`, `{"hook_event_name":"Stop"} "` + canary + `"`,
		`{"hook_event_name":"PreToolUse","tool_input":"` + canary + `"}`, `{"hook_event_name":"Stop","` + canary + `\q":1}`,
	} {
		_, err := ParseEvent([]byte(in))
		require.Error(t, err, in)
		assert.NotContains(t, err.Error(), canary)
	}
}

// TestConfigErrorsTellNothing: what a hook runs may hold secrets. A refusal
// names the key, never the text of a line, script, prompt or environment.
func TestConfigErrorsTellNothing(t *testing.T) {
	line := "curl -H 'Authorization: " + canary + "'"
	for _, run := range []Body{
		Command{Line: line, Script: "#!/bin/bash\n" + line},
		Command{Script: line},
		Command{Script: "#!/bin/sh " + canary + "\n" + line},
		Command{Script: "#!/bin/bash\n" + strings.Repeat(line, 5000)},
		Command{Line: line + "\x00"},
		Command{Line: "true", Env: []string{canary}},
		Command{Line: "true", Env: []string{"A=" + canary + "\x00"}},
		&Command{Line: line},
		Prompt{Text: canary, MaxRejections: 99},
		Prompt{Text: canary}, // there is no model
	} {
		_, err := New([]Hook{{Name: "h", On: OnPreToolUse, Tier: TierSystem, Matcher: "*", Run: run}}, nil)
		var ce *ConfigError
		require.ErrorAs(t, err, &ce, "%+v", run)
		assert.NotContains(t, fmt.Sprintf("%v %+v", err, ce), canary)
	}
	item := "hooks:\n  PreToolUse:\n  - {type: command, matcher: '*', %s}\n"
	for _, file := range []string{
		fmt.Sprintf(item, "command: a "+canary+", script: b "+canary),
		fmt.Sprintf(item, "script: "+canary),
		fmt.Sprintf(item, "script: ["+canary+"]"),
		fmt.Sprintf(item, "command: {a: "+canary+"}"),
		fmt.Sprintf(item, "command: !x "+canary),
		fmt.Sprintf(item, "command: ok, command: "+canary),
		fmt.Sprintf(item, "commnd: "+canary),
		fmt.Sprintf(item, "prompt: "+canary),
		"hooks:\n  PreToolUse:\n  - run " + canary + "\n",
		"hooks:\n  PreToolUse: run " + canary + "\n",
		"hooks: run " + canary + "\n",
		"run " + canary + "\n",
		"metadata: {name: a}\nspec: run " + canary + "\n",
		"metadata: {name: a}\nspec: {eventType: Stop, hook: run " + canary + "}\n",
		"metadata: {name: a}\nspec: {eventType: Stop, hook: {type: command, command: \"" + canary + "}}\n",
		"hooks:\n  Stop:\n  - type: command\n   command: " + canary + "\n",
		"hooks:\n  Stop:\n  - type: command\n    command: a: " + canary + "\n",
		"hooks:\n  Stop:\n  - type: command\n    command: \"\\q " + canary + "\"\n",
		"hooks:\n  Stop:\n  - type: command\n    command: @" + canary + "\n",
	} {
		_, warnings, err := Parse(TierUserGlobal, "a.yaml", []byte(file))
		require.True(t, err != nil || len(warnings) > 0, file)
		assert.NotContains(t, fmt.Sprint(err, warnings), canary, file)
	}
}
