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
