// The right one, so that the test sees that nothing else is wrong here.
package main

import (
	"context"

	"github.com/hookruntime/hooks"
)

func main() {
	hooks.Define(hooks.FilterMessages, "keep_all", func(_ context.Context, _ hooks.ThreadState, msgs []hooks.Message, _ hooks.HookContext) ([]hooks.Message, error) {
		return msgs, nil
	})
}
