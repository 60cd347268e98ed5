package hooks

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLateTrajectory is SUM-1: a writer that uses up the time of the hook that
// asked first is that hook's timeout, and to the next one a writer that failed.
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
			assert.Equal(t, time.Second, time.Since(start))
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
