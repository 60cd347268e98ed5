// The function has no HookContext.
package main

import (
	"context"

	"github.com/hookruntime/hooks"
)

func main() {
	hooks.Define(hooks.FilterMessages, "no_context", func(_ context.Context, _ hooks.ThreadState, msgs []hooks.Message) ([]hooks.Message, error) {
		return msgs, nil
	})
}
