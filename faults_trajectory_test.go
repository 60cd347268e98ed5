package hooks

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLateTrajectory is SUM-1: a writer that uses up the time of the hook that
// asked first is that hook's timeout. To the next one it is a writer that
// failed, once it has taken what a hook ordinarily has.
func TestLateTrajectory(t *testing.T) {
	for conduct, next := range map[Conduct]FailureKind{Contract: "", Hardened: FailureError} {
		synctest.Test(t, func(t *testing.T) {
			first, second := command("first", Command{Line: "x"}), command("second", Command{Line: "x"})
			first.Timeout, first.FailMode, second.FailMode = time.Second, FailAllow, FailAllow
			sandbox := &memorySandbox{exec: echo}
			ev := &PreToolUse{ToolName: "T"}
			ev.Trajectory = func(ctx context.Context, _ io.Writer) error { <-ctx.Done(); return ctx.Err() }
			start := time.Now()
			d := evaluate(t, newRuntime(t, &Options{Conduct: conduct, Sandbox: sandbox}, first, second), ev)
			assert.Equal(t, DefaultTimeout, time.Since(start))
			s := slices.Collect(d.Steps())
			require.NotNil(t, s[0].Failure)
			assert.Equal(t, FailureTimeout, s[0].Failure.Kind)
			if next == "" {
				assert.Nil(t, s[1].Failure, "null and a diagnostic")
				assert.Equal(t, "null", s[1].Context)
				assert.Len(t, d.Diagnostics, 1)
			} else {
				require.NotNil(t, s[1].Failure)
				assert.Equal(t, next, s[1].Failure.Kind)
				assert.NotSame(t, s[0].Failure, s[1].Failure)
			}
		})
	}
}

// TestSlowTrajectory: a writer that is slow, and not broken, costs the hook that
// cannot wait its time, and nobody else the trajectory.
func TestSlowTrajectory(t *testing.T) {
	hasty := command("hasty", Command{Line: "x"})
	hasty.Timeout, hasty.FailMode = time.Second, FailAllow
	asks := hasty
	asks.Timeout, asks.Run = time.Minute, Func(func(ctx context.Context, c Call) (Result, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if CommonOf(c.Event).Trajectory(ctx, io.Discard) == nil {
			return Deny("it waited"), nil
		}
		return Pass(), nil
	})
	for _, first := range []Hook{hasty, asks} {
		for _, conduct := range []Conduct{Contract, Hardened} {
			for _, together := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					second := says(TierSystem, "guard", Pass())
					second.FailMode, second.Run = FailAllow, Func(func(ctx context.Context, c Call) (Result, error) {
						var b strings.Builder
						err := CommonOf(c.Event).Trajectory(ctx, &b)
						return Deny("saw " + b.String()), err
					})
					first.Independent, second.Independent = together, together
					ev := &PreToolUse{ToolName: "T"}
					ev.Trajectory = func(ctx context.Context, w io.Writer) error {
						time.Sleep(3 * time.Second)
						_, err := io.WriteString(w, "[7]")
						return errors.Join(err, ctx.Err())
					}
					start := time.Now()
					d := evaluate(t, newRuntime(t, &Options{Conduct: conduct, Sandbox: &memorySandbox{exec: echo}}, first, second), ev)
					assert.Equal(t, "saw [7]", d.Reason, d.Explain())
					assert.Equal(t, 3*time.Second, time.Since(start))
				})
			}
		}
	}
}

// slowSandbox takes all the time there is to put a file.
type slowSandbox struct{ *memorySandbox }

func (slowSandbox) Put(ctx context.Context, _ string, _ io.Reader) (string, error) {
	<-ctx.Done()
	return "", errors.New("put: too late")
}

// A sandbox that takes all the hook's time to place the trajectory is a
// timeout, in both conducts.
func TestLatePut(t *testing.T) {
	for _, conduct := range []Conduct{Contract, Hardened} {
		synctest.Test(t, func(t *testing.T) {
			h := command("h", Command{Line: "x"})
			h.Timeout, h.FailMode = time.Second, FailBlock
			ev := &PreToolUse{ToolName: "T"}
			ev.Trajectory = func(_ context.Context, w io.Writer) error { _, err := io.WriteString(w, "[]"); return err }
			d := evaluate(t, newRuntime(t, &Options{Conduct: conduct, Sandbox: slowSandbox{&memorySandbox{exec: echo}}}, h), ev)
			assert.Equal(t, `reject Hook "h" failed (timeout). (timeout)`, story(&d))
		})
	}
}
