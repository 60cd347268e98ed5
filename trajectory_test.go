package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// echo answers with what the hook found, as context.
func echo(_ context.Context, summary *string, content string) (Exit, string) {
	if summary == nil {
		content = "null"
	}
	quoted, _ := json.Marshal(content)
	return Exit{}, `{"hookSpecificOutput":{"additionalContext":` + string(quoted) + `}}`
}

func trajectoryOf(text string, calls *atomic.Int32) func(context.Context, io.Writer) error {
	return func(_ context.Context, w io.Writer) error {
		calls.Add(1)
		_, err := io.WriteString(w, text)
		return err
	}
}

// model is a Model by function.
type model func(ctx context.Context, q ModelRequest) (ModelAnswer, error)

func (m model) Answer(ctx context.Context, q ModelRequest) (ModelAnswer, error) { return m(ctx, q) }

// clause: SUM-1 SUM-2 SUM-3 SUM-4 QRK-6
//
// Command hooks in a sandbox elsewhere, a prompt hook between them: in
// Contract conduct only the first sees the trajectory, later ones a path to a
// file that holds the path before; in Hardened each sees it.
func TestTrajectoryInASandboxElsewhere(t *testing.T) {
	const story = `[{"role":"user"}]`
	name := regexp.MustCompile(`hook_transcript_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}_[0-9a-f]{12}\.txt$`)
	for _, conduct := range []Conduct{Contract, Hardened} {
		var calls atomic.Int32
		var promptSaw, promptPath string
		sandbox := &memorySandbox{exec: echo}
		judge := model(func(_ context.Context, q ModelRequest) (ModelAnswer, error) {
			require.Len(t, q.Tools, 2)
			ev, err := ParseEvent([]byte(q.Payload))
			require.NoError(t, err)
			promptPath = ev.common().ExecutionSummary
			info, err := os.Stat(promptPath)
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
			folder, err := os.Stat(filepath.Dir(promptPath))
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o700), folder.Mode().Perm())
			args, _ := json.Marshal(map[string]string{"path": promptPath})
			promptSaw, err = q.Tools[0].Call(context.Background(), args)
			return ModelAnswer{Text: `{"ok":true}`}, err
		})
		h := func(n string, tier Tier) Hook { h := command(n, Command{Line: "x"}); h.Tier = tier; return h }
		rt := newRuntime(t, &Options{Conduct: conduct, Sandbox: sandbox, Model: judge},
			h("a", TierSystem), Hook{Name: "p", On: OnPreToolUse, Tier: TierAgent, Matcher: "*", Run: Prompt{Text: "judge"}}, h("z", TierUserGlobal))
		d := evaluate(t, rt, &PreToolUse{ToolName: "T", Common: Common{Trajectory: trajectoryOf(story, &calls)}})
		s := slices.Collect(d.Steps())
		assert.Equal(t, story, s[0].Context)
		if conduct == Contract {
			assert.Regexp(t, name, promptSaw)
			assert.True(t, strings.HasPrefix(promptSaw, "/remote/"))
			assert.Equal(t, promptPath, s[2].Context, "a path to a file that is gone")
		} else {
			assert.Equal(t, story, promptSaw)
			assert.Equal(t, story, s[2].Context)
		}
		assert.NoFileExists(t, promptPath)
		assert.NoDirExists(t, filepath.Dir(promptPath))
		assert.Empty(t, sandbox.files, "files are gone after the event")
		assert.EqualValues(t, 1, calls.Load(), "the writer is called once")
	}
}

// The writer is not called when no hook that runs can see it, nor at Start.
func TestTrajectoryIsWrittenOnRequest(t *testing.T) {
	var calls atomic.Int32
	common := Common{Trajectory: trajectoryOf("[]", &calls)}
	start := command("s", Command{Line: `grep -q '"execution_summary":null'`})
	start.On, start.Matcher = OnStart, ""
	rt := newRuntime(t, nil, says(TierSystem, "func", Pass()), start, command("other", Command{Line: "true"}))
	rt2, err := rt.With(func() Hook { h := command("other", Command{Line: "true"}); h.Matcher = "X"; return h }())
	require.NoError(t, err)
	evaluate(t, rt2, &PreToolUse{ToolName: "T", Common: common})
	d := evaluate(t, rt2, &Start{Common: common})
	assert.Nil(t, slices.Collect(d.Steps())[0].Failure)
	assert.Zero(t, calls.Load())

	var saw bytes.Buffer
	reads := says(TierSystem, "func", Pass())
	reads.Run = Func(func(ctx context.Context, c Call) (Result, error) {
		return Pass(), c.Event.common().Trajectory(ctx, &saw)
	})
	evaluate(t, newRuntime(t, nil, reads, command("c", Command{Line: "true"})), &PreToolUse{ToolName: "T", Common: common})
	assert.Equal(t, "[]", saw.String())
	assert.EqualValues(t, 1, calls.Load(), "a Func and a command share one writing")
}

// A Func that asks for the trajectory with a context of its own, from a writer
// that hangs, holds nobody up beyond the hook's deadline.
func TestTrajectoryThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		hangs := func(context.Context, io.Writer) error { <-release; return nil }
		reads := says(TierSystem, "func", Pass())
		reads.Timeout = time.Second
		reads.Run = Func(func(_ context.Context, c Call) (Result, error) {
			return Pass(), c.Event.common().Trajectory(context.Background(), io.Discard)
		})
		rt := newRuntime(t, nil, reads)
		start := time.Now()
		d := evaluate(t, rt, &PreToolUse{ToolName: "T", Common: Common{Trajectory: hangs}})
		assert.Equal(t, time.Second+graceTime, time.Since(start))
		assert.NotNil(t, slices.Collect(d.Steps())[0].Failure)
		close(release)
		synctest.Wait()
		assert.Zero(t, rt.Abandoned())
	})
}

// clause: SUM-1
func TestTrajectoryThatFails(t *testing.T) {
	boom := func(context.Context, io.Writer) error { return errors.New("boom") }
	panics := func(context.Context, io.Writer) error { panic("boom") }
	for name, common := range map[string]Common{"error": {Trajectory: boom}, "panic": {Trajectory: panics}} {
		for _, conduct := range []Conduct{Contract, Hardened} {
			h := command("h", Command{Line: `grep -q '"execution_summary":null'`})
			d := evaluate(t, newRuntime(t, &Options{Conduct: conduct}, h), &PreToolUse{ToolName: "T", Common: common})
			s := slices.Collect(d.Steps())[0]
			if conduct == Contract {
				assert.Nil(t, s.Failure, name)
				require.Len(t, d.Diagnostics, 1)
				assert.Contains(t, d.Diagnostics[0].Message, "boom")
			} else {
				require.NotNil(t, s.Failure, name)
				assert.Equal(t, FailureError, s.Failure.Kind)
				assert.Equal(t, OutcomeReject, d.Outcome, "PreToolUse fails closed in Hardened")
			}
		}
	}
	sandbox := &memorySandbox{exec: echo, fail: errors.New("disk full")}
	var calls atomic.Int32
	d := evaluate(t, newRuntime(t, &Options{Sandbox: sandbox}, command("h", Command{Line: "x"})), &PreToolUse{ToolName: "T", Common: Common{Trajectory: trajectoryOf("[]", &calls)}})
	assert.Equal(t, "null", slices.Collect(d.Steps())[0].Context)
	d, err := newRuntime(t, nil).Evaluate(context.Background(), &Stop{Common: Common{Trajectory: boom, ExecutionSummary: "/x"}})
	assert.Error(t, err, "both a writer and a literal path")
	assert.True(t, d.Blocks())
}

// TestNoTrajectoryStaysBehind: a thousand events with trajectories, prompt and
// command hooks mixed, a third of them timing out or cancelled.
func TestNoTrajectoryStaysBehind(t *testing.T) {
	events := 1000
	if testing.Short() {
		events = 60
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	judge := model(func(ctx context.Context, q ModelRequest) (ModelAnswer, error) {
		if strings.Contains(q.Payload, "late") {
			<-ctx.Done()
			return ModelAnswer{}, ctx.Err()
		}
		return ModelAnswer{Text: `{"ok":true}`}, nil
	})
	slow := command("c", Command{Line: `read -r input; case $input in *late*) sleep 60;; esac`})
	prompt := Hook{Name: "p", On: OnPreToolUse, Tier: TierAgent, Matcher: "*", Run: Prompt{Text: "x"}}
	slow.Timeout, prompt.Timeout = 50*time.Millisecond, 50*time.Millisecond
	rt := newRuntime(t, &Options{Model: judge}, prompt, slow)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range events / 4 {
				ev := &PreToolUse{ToolName: "T", CallID: []string{"ok", "late", "ok", "ok", "cancel", "ok"}[(i+worker)%6]}
				var calls atomic.Int32
				ev.Trajectory = trajectoryOf(`[1]`, &calls)
				ctx, cancel := context.WithCancel(context.Background())
				if ev.CallID == "cancel" {
					ev.CallID = "late"
					stop := time.AfterFunc(10*time.Millisecond, cancel)
					defer stop.Stop()
				}
				_, err := rt.Evaluate(ctx, ev)
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				cancel()
				if calls.Load() > 1 {
					t.Error("the writer was called twice")
				}
			}
		})
	}
	wg.Wait()
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	assert.Empty(t, left)
	for end := time.Now().Add(10 * time.Second); rt.Abandoned() > 0 && time.Now().Before(end); {
		runtime.Gosched()
	}
	assert.Zero(t, rt.Abandoned())
}

// clause: PRM-5
//
// The tools read the trajectory and the named folders, nothing else, and what
// they give is bounded.
func TestPromptTools(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "notes")
	require.NoError(t, os.Mkdir(folder, 0o700))
	write := func(path, text string) string {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	trajectory := write(filepath.Join(dir, "t.json"), `[{"tool":"rm"},"`+strings.Repeat("x", 100_000)+`",{"tool":"ls"}]`)
	note := write(filepath.Join(folder, "a.md"), "the tool is sharp\n")
	secret := write(filepath.Join(dir, "secret"), "tool secret")
	require.NoError(t, os.Symlink(secret, filepath.Join(folder, "link")))
	tools := promptReader{trajectory, []string{folder}}.tools()
	call := func(tool int, args any) string {
		raw, _ := json.Marshal(args)
		out, err := tools[tool].Call(context.Background(), raw)
		if err != nil {
			return "error: " + err.Error()
		}
		return out
	}
	for _, tool := range tools {
		assert.True(t, json.Valid(tool.Parameters))
	}
	type m map[string]any
	out := call(0, m{"path": trajectory})
	assert.Less(t, len(out), toolAnswer+200)
	assert.Contains(t, out, "continue at offset 32768")
	assert.Equal(t, `{"tool":"ls"}]`, call(0, m{"path": trajectory, "offset": 100_018}))
	assert.Contains(t, call(0, m{"path": note}), "sharp")
	for _, path := range []string{secret, filepath.Join(folder, "link"), folder + "/../secret", "/etc/passwd", "t.json", folder, ""} {
		assert.Contains(t, call(0, m{"path": path}), "error", path)
	}
	assert.Contains(t, call(1, m{"pattern": `"tool":"\w+"`}), trajectory+`:2: `)
	assert.Equal(t, 1, strings.Count(call(1, m{"pattern": `"tool":"\w+"`, "limit": 1}), "\n"))
	out = call(1, m{"pattern": "tool", "path": folder})
	assert.Contains(t, out, note+":4: the tool is sharp")
	assert.NotContains(t, out, "secret")
	assert.Contains(t, call(1, m{"pattern": "("}), "error")
	assert.Contains(t, call(1, m{"nope": 1}), "error")
	assert.Equal(t, "no match", call(1, m{"pattern": "absent"}))
}

// TestPromptHooks is PRM-1, PRM-6, PRM-7, F29 and F40.
func TestPromptHooks(t *testing.T) {
	var asked ModelRequest
	answer := ModelAnswer{Text: `{"ok":true}`}
	var fail error
	judge := model(func(_ context.Context, q ModelRequest) (ModelAnswer, error) { asked = q; return answer, fail })
	prompt := func(p Prompt) Hook {
		return Hook{Name: "p", On: OnPreToolUse, Tier: TierSystem, Matcher: "*", Run: p}
	}
	ev := &PreToolUse{ToolName: "T", ToolInput: json.RawMessage(`{"command":"$ARGUMENTS {\"ok\":true}"}`)}
	evaluate(t, newRuntime(t, &Options{Model: judge, DefaultModel: "m1"}, prompt(Prompt{Text: "A $ARGUMENTS B $ARGUMENTS"})), ev)
	assert.Equal(t, "A "+asked.Payload+" B "+asked.Payload, asked.Text)
	assert.NotContains(t, asked.Payload, "\n")
	assert.Equal(t, "m1", asked.Model)
	assert.Empty(t, asked.Tools)
	evaluate(t, newRuntime(t, &Options{Model: judge, DefaultModel: "m1"}, prompt(Prompt{Text: "No mark", Model: "m2"})), ev)
	assert.Equal(t, "No mark\n\nContext:\n"+asked.Payload, asked.Text)
	assert.Equal(t, "m2", asked.Model)

	for _, tc := range []struct {
		answer             string
		fail               error
		kind               FailureKind
		contract, hardened Outcome // of the step
	}{
		{`maybe`, nil, FailureOutput, OutcomePass, OutcomeReject},
		{``, errors.New("503"), FailureModel, OutcomeErrored, OutcomeReject},
	} {
		answer.Text, fail = tc.answer, tc.fail
		for conduct, want := range map[Conduct]Outcome{Contract: tc.contract, Hardened: tc.hardened} {
			d := evaluate(t, newRuntime(t, &Options{Model: judge, Conduct: conduct}, prompt(Prompt{Text: "x"})), ev)
			s := slices.Collect(d.Steps())[0]
			assert.Equal(t, tc.kind, s.Failure.Kind)
			assert.Equal(t, want, s.Decision, fmt.Sprint(conduct, tc.answer))
			assert.Equal(t, conduct == Hardened, d.Blocks())
		}
	}
}
