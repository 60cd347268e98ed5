package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func threadWith(t *testing.T, ms ...Message) *MemoryThread {
	t.Helper()
	th := &MemoryThread{ID: "t1"}
	for _, m := range ms {
		_, err := th.InjectMessage(t.Context(), m)
		require.NoError(t, err)
	}
	return th
}

func callMessage(ids ...string) Message {
	var calls []ToolCall
	for _, id := range ids {
		calls = append(calls, NewToolCall(id, "f", "{}"))
	}
	return Message{Role: RoleAssistant, ToolCalls: FormatToolCalls(calls)}
}

func resultMessage(id string) Message {
	m := textMessage(RoleTool, "result of "+id)
	m.ToolCallID = id
	return m
}

// Seed 3, request context hooks.
func TestRequestContext(t *testing.T) {
	ctx := t.Context()
	system := func(id string, f func(string) (Change[string], error)) Definition {
		return Define(AfterSystemMessage, id, func(_ context.Context, _ ThreadState, s string, _ HookContext) (Change[string], error) { return f(s) })
	}
	t.Run("3.1: a returned string replaces, none leaves it", func(t *testing.T) {
		var rec recorder
		c := composed(t, rec.options(),
			system("keeps", func(string) (Change[string], error) { return Keep[string](), nil }),
			system("adds", func(s string) (Change[string], error) { return Replace(s + " Be brief."), nil }),
			system("fails", func(s string) (Change[string], error) { return Replace("lost"), errors.New("no") }),
			system("zero", func(string) (c Change[string], err error) { return }),
		)
		req, err := c.Assemble(ctx, threadWith(t), "Help.")
		require.NoError(t, err)
		require.Equal(t, "Help. Be brief.", req.System)
		require.Equal(t, []string{"Help. Be brief."}, llmTexts(req.Messages))
		require.Equal(t, "system", req.Messages[0].Role)
		require.Equal(t, []string{"after_system_message/fails error"}, rec.failures(), "reported, the last good value stays")
	})
	t.Run("3.1: an empty string can replace", func(t *testing.T) {
		c := composed(t, nil, system("clears", func(string) (Change[string], error) { return Replace(""), nil }))
		req, err := c.Assemble(ctx, threadWith(t), "Help.")
		require.NoError(t, err)
		require.Empty(t, req.System)
		require.Empty(t, req.Messages)
	})
	t.Run("3: the order of one assembly", func(t *testing.T) {
		var order []string
		c := composed(t, &LifecycleOptions{ProviderForm: func(s string, ms []Message) ([]LLMMessage, error) {
			order = append(order, "form "+s)
			return ProviderForm(s, ms)
		}},
			system("s", func(s string) (Change[string], error) { order = append(order, "system"); return Keep[string](), nil }),
			Define(FilterMessages, "f", func(_ context.Context, _ ThreadState, ms []Message, _ HookContext) ([]Message, error) {
				order = append(order, "filter")
				return ms, nil
			}),
			Define(PrefilterLLMHistory, "p", func(_ context.Context, _ ThreadState, ms []LLMMessage, _ HookContext) ([]LLMMessage, error) {
				order = append(order, "prefilter")
				return ms, nil
			}),
		)
		th := orderedThread{threadWith(t, textMessage(RoleUser, "x")), &order}
		_, err := c.Assemble(ctx, th, "S")
		require.NoError(t, err)
		require.Equal(t, []string{"system", "snapshot", "filter", "form S", "prefilter"}, order)
	})
	t.Run("3.2: exactly once on one snapshot that includes silent messages", func(t *testing.T) {
		runs := 0
		var saw []string
		c := composed(t, nil,
			Define(FilterMessages, "f", func(_ context.Context, _ ThreadState, ms []Message, _ HookContext) ([]Message, error) {
				runs++
				saw = texts(ms)
				return ms[len(ms)-1:], nil
			}),
			Define(FilterMessages, "g", func(_ context.Context, _ ThreadState, ms []Message, _ HookContext) ([]Message, error) {
				require.Len(t, ms, 1, "a waterfall")
				return append(ms, textMessage(RoleUser, "synthetic")), nil
			}),
		)
		silent := textMessage(RoleUser, "silent")
		silent.Silent = true
		th := threadWith(t, textMessage(RoleUser, "a"), silent, textMessage(RoleUser, "b"))
		x := &MemoryExecution{History: []Message{textMessage(RoleUser, "live")}}
		th.Begin(x)
		req, err := c.Assemble(ctx, th, "")
		require.NoError(t, err)
		require.Equal(t, 1, runs)
		require.Equal(t, []string{"a", "silent", "b"}, saw)
		require.Equal(t, []string{"b", "synthetic"}, llmTexts(req.Messages), "the returned array is the input of the transformation")
		require.Equal(t, []string{"live"}, texts(x.MessageHistory()), "it does not replace execution.messageHistory")
		ms, _ := th.Messages(ctx)
		require.Equal(t, []string{"a", "silent", "b"}, texts(ms), "nor the persisted history")
	})
	t.Run("3.2: nil is no signal", func(t *testing.T) {
		c := composed(t, nil, Define(FilterMessages, "none", func(context.Context, ThreadState, []Message, HookContext) ([]Message, error) { return nil, nil }))
		req, err := c.Assemble(ctx, threadWith(t, textMessage(RoleUser, "a")), "")
		require.NoError(t, err)
		require.Empty(t, req.Messages)
	})
	t.Run("3.3: what the last hook returned is what is sent", func(t *testing.T) {
		th := threadWith(t, textMessage(RoleUser, "a"))
		remind := func(text string) prefilterFunc {
			return func(_ context.Context, _ ThreadState, ms []LLMMessage, _ HookContext) ([]LLMMessage, error) {
				last := &ms[len(ms)-1]
				last.SetText(last.Text() + text)
				return ms, nil
			}
		}
		c := composed(t, nil, Define(PrefilterLLMHistory, "one", remind(" 1")), Define(PrefilterLLMHistory, "two", remind(" 2")))
		req, err := c.Assemble(ctx, th, "")
		require.NoError(t, err)
		require.Equal(t, []string{"a 1 2"}, llmTexts(req.Messages))
		ms, _ := th.Messages(ctx)
		require.Equal(t, []string{"a"}, texts(ms), "confined to the request")
	})
	t.Run("3.3: the policy gate", func(t *testing.T) {
		var rec recorder
		gate := Define(PrefilterLLMHistory, "gate", func(context.Context, ThreadState, []LLMMessage, HookContext) ([]LLMMessage, error) {
			return nil, fmt.Errorf("moderation: %w", &BlockError{Reason: "off topic"})
		})
		c := composed(t, rec.options(),
			Define(PrefilterLLMHistory, "fails", func(_ context.Context, _ ThreadState, ms []LLMMessage, _ HookContext) ([]LLMMessage, error) {
				return nil, errors.New("service is down")
			}),
			gate,
			Define(PrefilterLLMHistory, "not_reached", func(context.Context, ThreadState, []LLMMessage, HookContext) ([]LLMMessage, error) { panic("reached") }),
		)
		req, err := c.Assemble(ctx, threadWith(t, textMessage(RoleUser, "a")), "")
		var block *BlockError
		require.ErrorAs(t, err, &block)
		require.Equal(t, "off topic", block.Reason)
		require.ErrorContains(t, err, `prefilter_llm_history hook "gate"`)
		require.Zero(t, req)
		require.Len(t, rec.records, 2)
		require.False(t, rec.records[0].(LifecycleRecord).Prevented, "any other error is reported, the last good value stays")
		require.True(t, rec.records[1].(LifecycleRecord).Prevented)
	})
	t.Run("only prefilter_llm_history is a gate", func(t *testing.T) {
		var rec recorder
		c := composed(t, rec.options(), Define(FilterMessages, "f", func(context.Context, ThreadState, []Message, HookContext) ([]Message, error) {
			return nil, &BlockError{Reason: "no"}
		}))
		req, err := c.Assemble(ctx, threadWith(t, textMessage(RoleUser, "a")), "")
		require.NoError(t, err)
		require.Equal(t, []string{"a"}, llmTexts(req.Messages))
		require.Len(t, rec.failed, 1)
	})
	t.Run("3.4: injected before the snapshot joins this assembly, after it the next", func(t *testing.T) {
		runs := map[string]int{}
		inject := func(ctx context.Context, st ThreadState, text string) error {
			runs[text]++
			_, err := st.InjectMessage(ctx, textMessage(RoleUser, text))
			return err
		}
		c := composed(t, nil,
			Define(AfterSystemMessage, "s", func(ctx context.Context, st ThreadState, _ string, _ HookContext) (Change[string], error) {
				return Keep[string](), inject(ctx, st, "system")
			}),
			Define(FilterMessages, "f", func(ctx context.Context, st ThreadState, ms []Message, _ HookContext) ([]Message, error) {
				return ms, inject(ctx, st, "filter")
			}),
			Define(PrefilterLLMHistory, "p", func(ctx context.Context, st ThreadState, ms []LLMMessage, _ HookContext) ([]LLMMessage, error) {
				return ms, inject(ctx, st, "prefilter")
			}),
			Define(BeforeCreateMessage, "b", func(_ context.Context, _ ThreadState, m Message, _ HookContext) (Message, error) {
				runs["before"]++
				return m, nil
			}),
			Define(AfterCreateMessage, "a", func(context.Context, ThreadState, Message, HookContext) error { runs["after"]++; return nil }),
		)
		th := threadOf(c)
		req, err := c.Assemble(ctx, th, "")
		require.NoError(t, err)
		require.Equal(t, []string{"system"}, llmTexts(req.Messages))
		require.Equal(t, map[string]int{"system": 1, "filter": 1, "prefilter": 1, "before": 3, "after": 3}, runs,
			"injection never restarts assembly, and still passes the message hooks")
		req, err = c.Assemble(ctx, th, "")
		require.NoError(t, err)
		require.Equal(t, []string{"system", "filter", "prefilter", "system"}, llmTexts(req.Messages))
	})
	t.Run("errors of the snapshot and the form", func(t *testing.T) {
		c := composed(t, nil)
		_, err := c.Assemble(ctx, threadWith(t, Message{ID: "m", ToolCalls: "{"}), "")
		require.ErrorContains(t, err, `tool_calls of message "m"`)
		_, err = c.Assemble(ctx, failingThread{&MemoryThread{}}, "")
		require.ErrorContains(t, err, "snapshot")
	})
}

type orderedThread struct {
	*MemoryThread
	order *[]string
}

func (t orderedThread) Messages(ctx context.Context) ([]Message, error) {
	*t.order = append(*t.order, "snapshot")
	return t.MemoryThread.Messages(ctx)
}

type failingThread struct{ *MemoryThread }

func (failingThread) Messages(context.Context) ([]Message, error) { return nil, errors.New("no") }

// lifecycle.md: after filter_messages calls and results are paired again, and
// an option drops orphans after each of the two, and reports it; off by default.
func TestPairingAndOrphans(t *testing.T) {
	ctx := t.Context()
	history := []Message{
		textMessage(RoleUser, "q"), callMessage("c1", "c2"), resultMessage("c1"), resultMessage("c2"), callMessage("c3"), resultMessage("c3"),
	}
	ids := func(ms []LLMMessage) (out []string) {
		for _, m := range ms {
			out = append(out, m.Role+m.ToolCallID)
		}
		return
	}
	filter := func(f func([]Message) []Message) Definition {
		return Define(FilterMessages, "f", func(_ context.Context, _ ThreadState, ms []Message, _ HookContext) ([]Message, error) {
			return f(ms), nil
		})
	}
	t.Run("results come behind their calls", func(t *testing.T) {
		for name, c := range map[string]struct {
			order []int
			want  []string
		}{
			"in place":       {[]int{0, 1, 2, 3, 4, 5}, []string{"user", "assistant", "toolc1", "toolc2", "assistant", "toolc3"}},
			"moved away":     {[]int{1, 4, 5, 3, 0, 2}, []string{"assistant", "toolc2", "toolc1", "assistant", "toolc3", "user"}},
			"before it":      {[]int{5, 0, 4}, []string{"user", "assistant", "toolc3"}},
			"something amid": {[]int{1, 2, 0, 3}, []string{"assistant", "toolc1", "toolc2", "user"}},
			"orphans stay":   {[]int{2, 0, 5, 4}, []string{"toolc1", "user", "assistant", "toolc3"}},
		} {
			t.Run(name, func(t *testing.T) {
				comp := composed(t, nil, filter(func(ms []Message) (out []Message) {
					for _, i := range c.order {
						out = append(out, ms[i])
					}
					return
				}))
				req, err := comp.Assemble(ctx, threadWith(t, history...), "")
				require.NoError(t, err)
				require.Equal(t, c.want, ids(req.Messages))
			})
		}
	})
	tail := filter(func(ms []Message) []Message { return ms[2:] })
	cut := Define(PrefilterLLMHistory, "p", func(_ context.Context, _ ThreadState, ms []LLMMessage, _ HookContext) ([]LLMMessage, error) {
		return ms[1:], nil
	})
	t.Run("orphans are dropped after each of the two, and reported", func(t *testing.T) {
		var rec recorder
		opts := rec.options()
		opts.DropOrphans = true
		req, err := composed(t, opts, tail, cut).Assemble(ctx, threadWith(t, history...), "")
		require.NoError(t, err)
		require.Empty(t, ids(req.Messages))
		var orphans []Record
		for _, r := range rec.records {
			if o, ok := r.(OrphanRecord); ok {
				orphans = append(orphans, o)
			}
		}
		require.Equal(t, []Record{OrphanRecord{"filter_messages", "t1", 2}, OrphanRecord{"prefilter_llm_history", "t1", 1}}, orphans)
	})
	t.Run("off by default", func(t *testing.T) {
		req, err := composed(t, nil, tail).Assemble(ctx, threadWith(t, history...), "")
		require.NoError(t, err)
		require.Equal(t, []string{"toolc1", "toolc2", "assistant", "toolc3"}, ids(req.Messages))
	})
	t.Run("calls that cannot be read drop nothing", func(t *testing.T) {
		opaque := Define(PrefilterLLMHistory, "p", func(_ context.Context, _ ThreadState, ms []LLMMessage, _ HookContext) ([]LLMMessage, error) {
			ms[1].ToolCalls = json.RawMessage(`{"own":"form"}`)
			return ms, nil
		})
		req, err := composed(t, &LifecycleOptions{DropOrphans: true}, opaque).Assemble(ctx, threadWith(t, history...), "")
		require.NoError(t, err)
		require.Len(t, req.Messages, 6)
	})
}
