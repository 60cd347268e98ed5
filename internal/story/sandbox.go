package story

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"

	"github.com/hookruntime/hooks"
)

// tagPrefix begins the entry of a hook's environment that tells the sandbox
// whose process it is. It does not reach the process.
const tagPrefix = "HOOKS_STORY_HOOK="

// recorder is the local sandbox, which writes down what each hook gets.
type recorder struct {
	*hooks.Local

	mu     sync.Mutex
	inputs map[string][]json.RawMessage
}

// tag marks the command hooks, so that the sandbox can tell them apart.
func tag(all []hooks.Hook) {
	for i := range all {
		if c, ok := all[i].Run.(hooks.Command); ok {
			c.Env = append(c.Env[:len(c.Env):len(c.Env)], tagPrefix+all[i].Name)
			all[i].Run = c
		}
	}
}

// Exec implements [hooks.Sandbox].
func (r *recorder) Exec(ctx context.Context, p hooks.Process) (hooks.Exit, error) {
	data, err := io.ReadAll(p.Stdin)
	if err != nil {
		return hooks.Exit{}, err
	}
	var env []string
	name := ""
	for _, e := range p.Env {
		if n, ok := strings.CutPrefix(e, tagPrefix); ok {
			name = n
		} else {
			env = append(env, e)
		}
	}
	r.mu.Lock()
	r.inputs[name] = append(r.inputs[name], data)
	r.mu.Unlock()
	p.Env, p.Stdin = env, bytes.NewReader(data)
	return r.Local.Exec(ctx, p)
}
