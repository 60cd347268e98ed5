// The function belongs to another point.
package main

import (
	"context"

	"github.com/hookruntime/hooks"
)

func main() {
	hooks.Define(hooks.ToolCallDone, "starts", func(context.Context, hooks.ThreadState, hooks.ToolCall, *string, hooks.HookContext) error {
		return nil
	})
}
