package hooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sandboxFunc is a Sandbox that is nothing but its Exec.
type sandboxFunc func(ctx context.Context, p Process) (Exit, error)

func (f sandboxFunc) Exec(ctx context.Context, p Process) (Exit, error)    { return f(ctx, p) }
func (sandboxFunc) Put(context.Context, string, io.Reader) (string, error) { return "/put", nil }
func (sandboxFunc) Remove(context.Context, string) error                   { return nil }
func (sandboxFunc) Interpreter(name string) ([]string, error)              { return []string{"/" + name}, nil }

// TestDepthTravels: the depth is in what every sandbox is asked to run, the
// hook's own Env does not change it, and New refuses where it is too large.
func TestDepthTravels(t *testing.T) {
	for value, want := range map[string]string{
		"": "1", "0": "1", "1": "2", "3": "4", "x": "1", "-7": "1",
		"4": "refused", "5": "refused", "99999999999999999999": "refused",
	} {
		t.Setenv(depthKey, value)
		var env []string
		sandbox := sandboxFunc(func(_ context.Context, p Process) (Exit, error) { env = p.Env; return Exit{}, nil })
		h := command("h", Command{Line: "x", Env: []string{depthKey + "=0", "A=b"}})
		rt, err := New([]Hook{h}, &Options{Sandbox: sandbox})
		if want == "refused" {
			var tooDeep *DepthError
			require.ErrorAs(t, err, &tooDeep, value)
			assert.GreaterOrEqual(t, tooDeep.Depth, MaxDepth)
			assert.Nil(t, rt)
			_, err = newRuntime(t, nil, says(TierSystem, "f", Pass())).With(h)
			assert.ErrorAs(t, err, &tooDeep, "With, too; a Func is no matter")
			continue
		}
		require.NoError(t, err, value)
		evaluate(t, rt, &PreToolUse{ToolName: "T"})
		assert.Equal(t, []string{depthKey + "=0", "A=b", depthKey + "=" + want}, env, value)
	}
}

// TestHookStartsItsHost is F46: this test binary is the host, and its hook
// starts it again.
func TestHookStartsItsHost(t *testing.T) {
	const logKey = "HOOKS_TEST_DEPTH_LOG"
	log := os.Getenv(logKey)
	if log == "" {
		t.Setenv(depthKey, "")
		log = filepath.Join(t.TempDir(), "log")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	h := command("again", Command{
		Line: `"$SELF" -test.run='^TestHookStartsItsHost$'`,
		Env:  []string{"SELF=" + self, logKey + "=" + log},
	})
	line := fmt.Sprintf("host at depth %d\n", depth())
	rt, err := New([]Hook{h}, nil)
	var tooDeep *DepthError
	if errors.As(err, &tooDeep) {
		line = "refused\n"
	}
	f, openErr := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(t, openErr)
	_, writeErr := f.WriteString(line)
	require.NoError(t, errors.Join(writeErr, f.Close()))
	if tooDeep != nil {
		return
	}
	require.NoError(t, err)
	d := evaluate(t, rt, &PreToolUse{ToolName: "T"})
	s := slices.Collect(d.Steps())[0]
	require.NotNil(t, s.Failure, "the test's PASS is no answer")
	require.Equal(t, FailureOutput, s.Failure.Kind, s.Stdout+s.Stderr)
	if os.Getenv(logKey) != "" {
		return
	}
	told, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.Equal(t, "host at depth 0\nhost at depth 1\nhost at depth 2\nhost at depth 3\nrefused", strings.TrimSpace(string(told)))
}
