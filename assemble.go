package hooks

import (
	"context"
	"encoding/json"
	"fmt"
)

// Request is what one request to a model is made of. Nothing in it gets into
// the thread's history.
type Request struct {
	// System is the system prompt as the hooks left it. [ProviderForm] has
	// made it the first of Messages; only a host whose own provider form keeps
	// it apart needs it.
	System string
	// Messages are what is sent, as the last hook returned them.
	Messages []LLMMessage
}

// Assemble assembles one request: the system prompt, already interpolated, goes
// through after_system_message; then the persisted messages are read once
// (ThreadState.Messages) and go through filter_messages; then they are brought
// into the provider's form and go through prefilter_llm_history. A message
// that a hook injects before the snapshot is in this request, one injected
// later in the next: nothing is ever assembled twice.
//
// A hook that fails is reported, and what there was before it stands. Only a
// [*BlockError] of prefilter_llm_history refuses the request: find it in the
// error with errors.As. Other errors are those of the snapshot and the
// provider form, ctx's, and a [*RecursionError]. With an error there is no
// request to send.
func (c *Composition) Assemble(ctx context.Context, st ThreadState, system string) (Request, error) {
	system, err := c.systemMessage(ctx, st, system)
	if err != nil {
		return Request{}, err
	}
	snapshot, err := st.Messages(ctx)
	if err != nil {
		return Request{}, fmt.Errorf("hooks: snapshot of the history: %w", err)
	}
	msgs, err := c.filter(ctx, st, snapshot)
	if err != nil {
		return Request{}, err
	}
	opts := c.options()
	if opts.DropOrphans {
		msgs = dropOrphans(ctx, &opts, st, filterMessages, msgs, indexCalls(msgs))
	}
	form := ProviderForm
	if opts.ProviderForm != nil {
		form = opts.ProviderForm
	}
	sent, err := form(system, pair(msgs))
	if err != nil {
		return Request{}, fmt.Errorf("hooks: provider form: %w", err)
	}
	if sent, err = c.prefilter(ctx, st, sent); err != nil {
		return Request{}, err
	}
	if opts.DropOrphans {
		sent = dropOrphans(ctx, &opts, st, prefilterLLMHistory, sent, indexLLMCalls(sent))
	}
	return Request{System: system, Messages: sent}, nil
}

func (c *Composition) options() LifecycleOptions {
	if c.runner == nil {
		return LifecycleOptions{}
	}
	return c.runner.opts
}

func (c *Composition) systemMessage(ctx context.Context, st ThreadState, system string) (string, error) {
	if len(c.points[afterSystemMessage]) == 0 {
		return system, nil
	}
	type hook = func(context.Context, ThreadState, string, HookContext) (Change[string], error)
	return waterfall(ctx, c.at(afterSystemMessage, st), system, transform[hook, string]{
		call: func(ctx context.Context, fn hook, s string, hc HookContext) (Change[string], error) {
			return fn(ctx, st, s, hc)
		},
	})
}

func (c *Composition) filter(ctx context.Context, st ThreadState, msgs []Message) ([]Message, error) {
	if len(c.points[filterMessages]) == 0 {
		return msgs, nil
	}
	type hook = func(context.Context, ThreadState, []Message, HookContext) ([]Message, error)
	return waterfall(ctx, c.at(filterMessages, st), msgs, transform[hook, []Message]{
		clone: cloneMessages,
		call: func(ctx context.Context, fn hook, ms []Message, hc HookContext) (Change[[]Message], error) {
			ms, err := fn(ctx, st, ms, hc)
			return Replace(ms), err
		},
	})
}

func (c *Composition) prefilter(ctx context.Context, st ThreadState, msgs []LLMMessage) ([]LLMMessage, error) {
	if len(c.points[prefilterLLMHistory]) == 0 {
		return msgs, nil
	}
	type hook = func(context.Context, ThreadState, []LLMMessage, HookContext) ([]LLMMessage, error)
	return waterfall(ctx, c.at(prefilterLLMHistory, st), msgs, transform[hook, []LLMMessage]{
		clone: cloneLLMMessages,
		call: func(ctx context.Context, fn hook, ms []LLMMessage, hc HookContext) (Change[[]LLMMessage], error) {
			ms, err := fn(ctx, st, ms, hc)
			return Replace(ms), err
		},
	})
}

// ProviderForm is the usual chat form: the system prompt first unless it is
// empty, then every message with its role, content, name and calls. Keys of
// Extra are not sent. It returns an error when a message's ToolCalls is not
// JSON.
func ProviderForm(system string, msgs []Message) ([]LLMMessage, error) {
	out := make([]LLMMessage, 0, len(msgs)+1)
	if system != "" {
		out = append(out, LLMMessage{Role: string(RoleSystem), Content: &system})
	}
	for i := range msgs {
		m := &msgs[i]
		l := LLMMessage{Role: string(m.Role), Content: cloneString(m.Content), Name: m.Name, ToolCallID: m.ToolCallID}
		if m.ToolCalls != "" {
			if l.ToolCalls = json.RawMessage(m.ToolCalls); !json.Valid(l.ToolCalls) {
				return nil, fmt.Errorf("tool_calls of message %q is not JSON", m.ID)
			}
		}
		out = append(out, l)
	}
	return out, nil
}
