package hooks

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestLateAnswers is F01, F29 and F38: an answer that comes when the time is up
// never counts, not even when it comes at that very moment, which a select
// cannot tell from one in time. So each case is tried very often.
func TestLateAnswers(t *testing.T) {
	often := 2000
	if testing.Short() {
		often = 200
	}
	late := func(r Result) Func {
		return func(ctx context.Context, _ Call) (Result, error) { <-ctx.Done(); return r, nil }
	}
	judge := model(func(ctx context.Context, _ ModelRequest) (ModelAnswer, error) {
		<-ctx.Done()
		return ModelAnswer{Text: `{"ok":true}`}, nil
	})
	for name, run := range map[string]Body{"pass": late(Pass()), "allow": late(Allow()), "prompt": Prompt{Text: "ok?"}} {
		for _, end := range []string{"timeout", "budget", "host"} {
			for _, together := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					h := Hook{Name: "h", On: OnPreToolUse, Tier: TierSystem, Matcher: "*", Run: run, FailMode: FailBlock, Independent: together}
					opts := &Options{Conduct: Hardened, Model: judge}
					switch end {
					case "timeout":
						h.Timeout = time.Second
					case "budget":
						opts.Budget = time.Second
					}
					rt := newRuntime(t, opts, h)
					for range often {
						ctx, cancel := context.WithCancel(t.Context())
						if end == "host" {
							time.AfterFunc(time.Second, cancel)
						}
						d, err := rt.Evaluate(ctx, &PreToolUse{ToolName: "T"})
						cancel()
						if !d.Blocks() || (end == "host") != errors.Is(err, context.Canceled) {
							t.Fatal(name, end, together, d.Explain(), err)
						}
					}
				})
			}
		}
	}
	// One that nothing has told of its deadline yet: the clock of the context
	// needs a turn on the processor.
	for _, run := range []Body{
		Func(func(ctx context.Context, _ Call) (Result, error) {
			for end, _ := ctx.Deadline(); time.Now().Before(end); {
			}
			return Allow(), nil
		}),
		Command{Line: "x"}, // whose sandbox is as late
	} {
		late := &memorySandbox{exec: func(ctx context.Context, _ *string, _ string) (Exit, string) {
			for end, _ := ctx.Deadline(); time.Now().Before(end); {
			}
			return Exit{}, `{"hookSpecificOutput":{"permissionDecision":"allow"}}`
		}}
		h := Hook{Name: "h", On: OnPreToolUse, Tier: TierSystem, Matcher: "*", Run: run, FailMode: FailBlock, Timeout: 3 * time.Millisecond}
		rt := newRuntime(t, &Options{Conduct: Hardened, Sandbox: late}, h)
		for range 50 {
			d := evaluate(t, rt, &PreToolUse{ToolName: "T"})
			assert.Equal(t, "reject Hook \"h\" failed (timeout). (timeout)", story(&d))
		}
	}
	// A tool result that a hook withholds when it fails is not stored.
	synctest.Test(t, func(t *testing.T) {
		opts := &LifecycleOptions{Timeout: time.Second, Withhold: true}
		c := composed(t, opts, Define(BeforeStoreToolResult, "redact", func(ctx context.Context, _ ThreadState, _ ToolCall, r CallResult, _ HookContext) (CallResult, error) {
			<-ctx.Done()
			return r, nil
		}))
		for range often / 10 {
			tr, _ := trackerOf(t, c)
			m, err := tr.Run(t.Context(), NewToolCall("c1", "read", `{}`), tool("secret", nil))
			assert.NoError(t, err)
			assert.NotContains(t, m.Text(), "secret")
		}
	})
}

// TestLateOutputs: a command that ends in time while its children are about to
// say more has not answered.
func TestLateOutputs(t *testing.T) {
	for line, want := range map[string]string{
		`(sleep 5; echo '{"decision":"block"}') & exit 0`: "reject Hook \"h\" failed (timeout). (timeout)",
		`(sleep 5; echo late) & echo no >&2; exit 2`:      "reject no",
	} {
		h := command("h", Command{Line: line})
		h.FailMode, h.Timeout = FailBlock, 400*time.Millisecond
		d := evaluate(t, newRuntime(t, nil, h), &PreToolUse{ToolName: "T"})
		assert.Equal(t, want, story(&d), line)
	}
}

// TestDecisionsOwnTheirSwitches: what a host does to its switches later does not
// change what a decision tells.
func TestDecisionsOwnTheirSwitches(t *testing.T) {
	h := says(TierUserGlobal, "off", Pass())
	ev := &PreToolUse{ToolName: "T", Common: Common{Switches: Switches{Deactivated: []string{"off"}}}}
	d := evaluate(t, newRuntime(t, nil, h), ev)
	told := d.Explain()
	ev.Switches.Deactivated[0] = "on"
	assert.Equal(t, told, d.Explain())
}
