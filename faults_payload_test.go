//go:build unix

package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPayloadArrivesAsItIs is F10, F42 and F45: what the host gave is what a
// hook finds on stdin, byte by byte, for readers that know no JSON.
func TestPayloadArrivesAsItIs(t *testing.T) {
	for _, input := range []string{
		`{"command":"true && echo x > /dev/null; cat <f"}`,
		`{"a":"` + "\u2028\u2029" + `","b":"\u2028\u2029"}`,
		`{"id":9007199254740993,"n":12345678901234567890,"f":1.0,"e":1e400,"z":-0,"s":0.1,"x":1E+2}`,
		`{"path":"C:\\new\\table","text":"a\nb\tc\u0000","quote":"\"'$(x)` + "`y`" + `"}`,
		`{"b":1,"a":{"d":[],"c":{}},"ü":"é\/\ud83d\ude00","":null}`,
		`{"lone":"\ud800"}`,
	} {
		seen := filepath.Join(t.TempDir(), "seen")
		h := command("h", Command{Line: `cat >"$SEEN"; grep -qF -- "$INPUT" "$SEEN" || exit 2`, Env: []string{"SEEN=" + seen, "INPUT=" + input}})
		d := evaluate(t, newRuntime(t, nil, h), &PreToolUse{ToolName: "T", ToolInput: json.RawMessage(input)})
		data, err := os.ReadFile(seen)
		require.NoError(t, err)
		assert.Equal(t, OutcomePass, d.Outcome, "%s", data)
		assert.Contains(t, string(data), `"tool_input":`+input+`,`)
	}
}

// TestReadersAgree is F42 and F45 for the readers of the field: python3 and
// read -r see the value, digits and backslashes too.
func TestReadersAgree(t *testing.T) {
	input := `{"n":12345678901234567890,"text":"a\\b\nc"}`
	commands := []Command{{Line: `IFS= read -r line; [[ $line == *'"text":"a\\b\nc"'* ]] || exit 2`}}
	if _, err := exec.LookPath("python3"); err == nil {
		commands = append(commands, Command{Script: "#!/usr/bin/env python3\nimport json, sys\n" +
			`i = json.load(sys.stdin)["tool_input"]` + "\n" + `sys.exit(0 if i == {"n": 12345678901234567890, "text": "a\\b\nc"} else 2)`})
	}
	for _, c := range commands {
		d := evaluate(t, newRuntime(t, nil, command("h", c)), &PreToolUse{ToolName: "T", ToolInput: json.RawMessage(input)})
		assert.Equal(t, "pass", story(&d))
	}
}

// TestNoToolInput is F43: tool_input is always there, and a guard that dies on
// null fails by its fail mode; its traceback is for the operator.
func TestNoToolInput(t *testing.T) {
	dies := `#!/bin/bash
case $(cat) in
*'"tool_input":{}'*) exit 0 ;;
*'"tool_input":null'*) echo "Traceback: NoneType" >&2; exit 1 ;;
esac
exit 7`
	for mode, want := range map[FailMode]string{FailAllow: "pass (exit)", FailBlock: `reject Hook "h" failed (exit). (exit)`} {
		h := command("h", Command{Script: dies})
		h.FailMode = mode
		rt := newRuntime(t, nil, h)
		d := evaluate(t, rt, &PreToolUse{ToolName: "T", ToolInput: json.RawMessage(`{}`)})
		assert.Equal(t, "pass", story(&d))
		for _, input := range []json.RawMessage{nil, json.RawMessage(`null`)} {
			d = evaluate(t, rt, &PreToolUse{ToolName: "T", ToolInput: input})
			assert.Equal(t, want, story(&d))
			s := slices.Collect(d.Steps())[0]
			assert.Equal(t, 1, *s.ExitCode)
			assert.Contains(t, s.Stderr, "Traceback")
			assert.NotContains(t, d.ForModel(), "Traceback")
		}
	}
}

// TestScriptsNeedNoFile is F44 and SUM-3: a script runs where TMPDIR is of no
// use, since it is no file; and whatever becomes of it, nothing stays there.
func TestScriptsNeedNoFile(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", "/nonexistent")
	h := command("h", Command{Script: "#!/bin/bash\nexit 2"})
	d := evaluate(t, newRuntime(t, nil, h), &PreToolUse{ToolName: "T"})
	assert.Equal(t, OutcomeReject, d.Outcome)

	t.Setenv("TMPDIR", temp)
	ev := &PreToolUse{ToolName: "T"}
	ev.Trajectory = func(_ context.Context, w io.Writer) error { _, err := io.WriteString(w, "[]"); return err }
	panics := says(TierUserGlobal, "panics", Pass())
	panics.Run = Func(func(context.Context, Call) (Result, error) { panic("x") })
	for _, end := range []string{"exit 0", "exit 1", "exit 2", "kill -9 $$", "sleep 30"} {
		h := command("h", Command{Script: "#!/bin/bash\nls -Rl \"$TMPDIR\" >&2\n" + end})
		if strings.HasPrefix(end, "sleep") {
			h.Timeout = shortTimeout
		}
		d := evaluate(t, newRuntime(t, nil, h, panics), ev)
		s := slices.Collect(d.Steps())[0]
		assert.Contains(t, s.Stderr, "-rw------- 1", "0600")
		assert.Contains(t, s.Stderr, "hook_transcript_")
		wantEmpty(t, temp)
	}
}

// TestLongTexts is F51: half a megabyte of context, and a reason full of
// control characters, as hooks print them.
func TestLongTexts(t *testing.T) {
	long := command("long", Command{Line: `printf '{"hookSpecificOutput":{"additionalContext":"'; head -c 500000 /dev/zero | tr '\0' x; echo '"}}'`})
	d := evaluate(t, newRuntime(t, nil, long), &PreToolUse{ToolName: "T"})
	assert.Less(t, len(d.Context), 65<<10)
	assert.Contains(t, d.Context, "… [cut: 65536 of 500000 bytes shown]")
	assert.Len(t, slices.Collect(d.Steps())[0].Context, 500_000, "the raw text stays in the step")

	dirty := command("dirty", Command{Line: `printf 'a\033[31mb\000\r\nc\td\303' >&2; exit 2`})
	d = evaluate(t, newRuntime(t, nil, dirty), &PreToolUse{ToolName: "T"})
	assert.Equal(t, "[Tool execution blocked] a[31mb\nc\td\ufffd", d.ForModel())
	assert.Equal(t, "a\x1b[31mb\x00\r\nc\td\xc3", slices.Collect(d.Steps())[0].Reason)
}

// TestPostToolUseOfAFailedTool is F52: the hook runs, is told, and its own
// failure keeps the result; a block replaces what the model sees, and only that.
func TestPostToolUseOfAFailedTool(t *testing.T) {
	result := json.RawMessage(`{"error":"disk full","n":9007199254740993}`)
	post := func(line string, mode FailMode) (Decision, *PostToolUse) {
		h := Hook{Name: "h", On: OnPostToolUse, Tier: TierSystem, Matcher: "*", Run: Command{Line: line}, FailMode: mode}
		if strings.HasPrefix(line, "sleep") {
			h.Timeout = shortTimeout // the others are to come to their end
		}
		ev := &PostToolUse{ToolName: "T", ToolResult: slices.Clone(result)}
		return evaluate(t, newRuntime(t, nil, h), ev), ev
	}
	d, ev := post(`grep -q '"tool_result":{"error":"disk full","n":9007199254740993},"tool_succeeded":false' || exit 2`, FailBlock)
	assert.Equal(t, "pass", story(&d))
	assert.Equal(t, result, ev.ToolResult)

	d, ev = post(`sleep 60`, FailAllow)
	assert.Equal(t, "pass (timeout)", story(&d))
	assert.Empty(t, d.ForModel(), "the model sees the result")
	assert.Equal(t, result, ev.ToolResult)

	d, ev = post(`sleep 60`, FailBlock)
	assert.Equal(t, `[Tool result blocked by hook] [Hook Blocked Tool Result] Hook "h" failed (timeout).`, d.ForModel())
	assert.Equal(t, result, ev.ToolResult, "the host still has it")

	d, ev = post(`echo no >&2; exit 2`, FailAllow)
	assert.Equal(t, "[Tool result blocked by hook] [Hook Blocked Tool Result] no", d.ForModel())
	assert.Equal(t, result, ev.ToolResult)
}

// TestCleanupAfterCancel is F56: a context that is done starts no hook, and a
// host that wants its Stop hooks all the same passes one that is not.
func TestCleanupAfterCancel(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	h := Hook{Name: "cleanup", On: OnStop, Tier: TierSystem, Run: Command{Line: `touch "$MARK"`, Env: []string{"MARK=" + mark}}}
	rt := newRuntime(t, nil, h)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d, err := rt.Evaluate(ctx, &Stop{})
	assert.ErrorIs(t, err, context.Canceled)
	assert.True(t, d.Blocks())
	assert.NoFileExists(t, mark)
	_, err = rt.Evaluate(context.WithoutCancel(ctx), &Stop{})
	assert.NoError(t, err)
	assert.FileExists(t, mark)
}

// TestModelFailuresAreToldApart is F29: an error, an answer that was cut, one
// that never came, and a service that gave up by itself.
func TestModelFailuresAreToldApart(t *testing.T) {
	for name, tc := range map[string]struct {
		answer             model
		contract, hardened string
	}{
		"error": {func(context.Context, ModelRequest) (ModelAnswer, error) { return ModelAnswer{}, errors.New("503") },
			"pass (model)", `reject Hook "h" failed (model). (model)`},
		"its own deadline": {func(context.Context, ModelRequest) (ModelAnswer, error) {
			return ModelAnswer{}, context.DeadlineExceeded
		},
			"pass (model)", `reject Hook "h" failed (model). (model)`},
		"cut": {func(context.Context, ModelRequest) (ModelAnswer, error) {
			return ModelAnswer{Text: `{"ok":false,"rea`, Truncated: true}, nil
		}, "pass (output)", `reject Hook "h" failed (output). (output)`},
		"late": {func(ctx context.Context, _ ModelRequest) (ModelAnswer, error) {
			<-ctx.Done()
			return ModelAnswer{}, ctx.Err()
		},
			"pass (timeout)", `reject Hook "h" failed (timeout). (timeout)`},
	} {
		for conduct, want := range map[Conduct]string{Contract: tc.contract, Hardened: tc.hardened} {
			h := Hook{Name: "h", On: OnPreToolUse, Tier: TierSystem, Matcher: "*", Run: Prompt{Text: "x"}, Timeout: shortTimeout}
			d := evaluate(t, newRuntime(t, &Options{Model: tc.answer, Conduct: conduct}, h), &PreToolUse{ToolName: "T"})
			assert.Equal(t, want, story(&d), "%s in %v", name, conduct)
		}
	}
}
