//go:build unix

package hooks_test

import (
	"context"
	"fmt"

	"github.com/hookruntime/hooks"
)

// guessing is a Local that takes high exit codes for signals, as a sandbox
// must whose processes run under a shell that reports both alike.
type guessing struct{ hooks.Local }

func (g *guessing) Exec(ctx context.Context, p hooks.Process) (hooks.Exit, error) {
	exit, err := g.Local.Exec(ctx, p)
	if exit.Code > 128 && exit.Code < 160 {
		exit = hooks.Exit{Code: -1, Signal: fmt.Sprintf("signal %d", exit.Code-128)}
	}
	return exit, err
}

// The test of a sandbox hands the error to t.Error.
func ExampleCheckSandbox() {
	err := hooks.CheckSandbox(context.Background(), &guessing{})
	fmt.Println(err)
	// Output:
	// hooks: Exec returns the exit code as data: exit 137 gives {Code:-1 Signal:signal 9}, <nil>
}

// yes is a model client that agrees with everything, even when nobody waits for
// it any more.
type yes struct{}

func (yes) Answer(context.Context, hooks.ModelRequest) (hooks.ModelAnswer, error) {
	return hooks.ModelAnswer{Text: `{"ok": true}`}, nil
}

func ExampleCheckModel() {
	err := hooks.CheckModel(context.Background(), yes{})
	fmt.Println(err)
	// Output:
	// hooks: Answer returns an error when its context is done before: it answers "{\"ok\": true}" all the same
}
