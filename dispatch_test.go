package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// memoryUser is a UserState whose changes are told.
type memoryUser struct {
	reg *Registry
	mu  sync.Mutex
	set []string
}

func (u *memoryUser) UserID() string                                         { return "u1" }
func (u *memoryUser) Value(context.Context, string) (json.RawMessage, error) { return nil, nil }
func (u *memoryUser) SetValue(ctx context.Context, key string, _ json.RawMessage) error {
	u.mu.Lock()
	u.set = append(u.set, key)
	u.mu.Unlock()
	return u.reg.UserValueChanged(ctx, u, key)
}

// The table's column "on error": observers are reported and the next runs.
func TestObserversAllRun(t *testing.T) {
	var ran []string
	hook := func(id string, do func() error) Definition {
		return Define(AfterThreadCreated, id, func(context.Context, ThreadState, HookContext) error {
			ran = append(ran, id)
			return do()
		})
	}
	var rec recorder
	c := composed(t, rec.options(),
		hook("fails", func() error { return errors.New("card 4111") }),
		hook("panics", func() error { panic("card 4111") }),
		hook("exits", func() error { runtime.Goexit(); return nil }),
		hook("good", func() error { return nil }),
		Define(AfterSubagentCreated, "sub", func(_ context.Context, st, child ThreadState, hc HookContext) error {
			ran = append(ran, st.ThreadID()+">"+child.ThreadID())
			return nil
		}),
	)
	st := &MemoryThread{ID: "t1"}
	require.NoError(t, c.AfterThreadCreated(t.Context(), st))
	require.NoError(t, c.AfterSubagentCreated(t.Context(), st, &MemoryThread{ID: "t2"}))
	require.Equal(t, []string{"fails", "panics", "exits", "good", "t1>t2"}, ran)
	require.Equal(t, []string{"after_thread_created/fails error", "after_thread_created/panics panic", "after_thread_created/exits panic"}, rec.failures())
	require.Len(t, rec.failed, 3)
	require.ErrorContains(t, rec.failed[0], `after_thread_created hook "fails": error: card 4111`)
	require.Equal(t, PromptSource{"p"}, rec.failed[0].Source)
	require.NotEmpty(t, rec.failed[1].Failure.Stack)

	require.Len(t, rec.records, 5, "every run is reported")
	first := rec.records[0].(LifecycleRecord)
	require.Equal(t, LifecycleRecord{
		Point: "after_thread_created", HookID: "fails", Source: PromptSource{"p"}, ThreadID: "t1",
		Duration: first.Duration, Failure: FailureError,
	}, first)
	require.NotContains(t, fmt.Sprintf("%+v", rec.records), "4111", "reports never hold a payload")
}

// lifecycle.md: timeout (default 30 s); the value before it stands, and a late
// result is dropped. Seed 1.2: runtimes SHOULD enforce a timeout.
func TestHookTimeout(t *testing.T) {
	for name, timeout := range map[string]time.Duration{"default": 0, "set": time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var rec recorder
				opts := rec.options()
				opts.Timeout = timeout
				release := make(chan struct{})
				reg, err := NewRegistry([]Namespace{{Hooks: []Definition{
					Define(FilterMessages, "good", func(_ context.Context, _ ThreadState, ms []Message, _ HookContext) ([]Message, error) {
						return append(ms, textMessage(RoleUser, "good")), nil
					}),
					Define(FilterMessages, "ignores_its_context", func(_ context.Context, _ ThreadState, ms []Message, _ HookContext) ([]Message, error) {
						<-release
						ms[0].SetText("late")
						return nil, nil
					}),
					Define(FilterMessages, "gives_up", func(ctx context.Context, _ ThreadState, ms []Message, _ HookContext) ([]Message, error) {
						<-ctx.Done()
						return nil, ctx.Err()
					}),
				}}}, opts)
				require.NoError(t, err)
				c, err := reg.Compose(t.Context(), Parent{Agent: AgentDef{Hooks: []string{"good", "ignores_its_context", "gives_up"}}})
				require.NoError(t, err)
				start := time.Now()
				req, err := c.Assemble(t.Context(), &MemoryThread{ID: "t1"}, "")
				require.NoError(t, err)
				require.Equal(t, []string{"good"}, llmTexts(req.Messages))
				limit := timeout
				if limit == 0 {
					limit = 30 * time.Second
				}
				require.Equal(t, 2*limit+graceTime, time.Since(start))
				require.Equal(t, []string{"filter_messages/ignores_its_context timeout", "filter_messages/gives_up timeout"}, rec.failures())
				synctest.Wait() // gives_up returns
				require.Equal(t, 1, reg.Abandoned())
				close(release)
				synctest.Wait()
				require.Zero(t, reg.Abandoned())
				require.Equal(t, []string{"good"}, llmTexts(req.Messages), "the late result is dropped")
			})
		})
	}
}

// lifecycle.md: cancelling the parent context is not a hook failure and is
// returned.
func TestCancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var rec recorder
	c := composed(t, rec.options(),
		Define(AfterCreateMessage, "cancels", func(hookCtx context.Context, _ ThreadState, _ Message, _ HookContext) error {
			cancel()
			<-hookCtx.Done()
			return hookCtx.Err()
		}),
		Define(AfterCreateMessage, "not_reached", func(context.Context, ThreadState, Message, HookContext) error { panic("reached") }),
	)
	th := threadOf(c)
	m, err := th.InjectMessage(ctx, textMessage(RoleUser, "x"))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "m1", m.ID, "what was stored is returned all the same")
	require.Empty(t, rec.failed)
	require.Equal(t, FailureCancelled, rec.records[0].(LifecycleRecord).Failure)
	require.Len(t, rec.records, 1)
	_, err = th.InjectMessage(ctx, textMessage(RoleUser, "y"))
	require.ErrorIs(t, err, context.Canceled, "a context that is done runs no hook")
	require.Len(t, rec.records, 1)
}

// lifecycle.md: each hook gets its own copy of containers.
func TestCopies(t *testing.T) {
	ctx := t.Context()
	t.Run("observers cannot see each other's writes", func(t *testing.T) {
		var seen []string
		hook := func(_ context.Context, _ ThreadState, m Message, _ HookContext) error {
			seen = append(seen, m.Text()+string(m.Extra["k"]))
			*m.Content += "!"
			m.Extra["k"] = json.RawMessage("2")
			return nil
		}
		c := composed(t, nil, Define(AfterCreateMessage, "one", hook), Define(AfterCreateMessage, "two", hook))
		m := textMessage(RoleUser, "x")
		m.Extra = map[string]json.RawMessage{"k": json.RawMessage("1")}
		th := threadOf(c)
		got, err := th.InjectMessage(ctx, m)
		require.NoError(t, err)
		require.Equal(t, []string{"x1", "x1"}, seen)
		require.Equal(t, "x", got.Text())
		ms, _ := th.Messages(ctx)
		require.Equal(t, "1", string(ms[0].Extra["k"]))
	})
	t.Run("a failing transform leaves no trace", func(t *testing.T) {
		c := composed(t, nil,
			Define(FilterMessages, "writes_and_fails", func(_ context.Context, _ ThreadState, ms []Message, _ HookContext) ([]Message, error) {
				*ms[0].Content = "broken"
				ms[1] = Message{}
				return nil, errors.New("no")
			}),
			Define(PrefilterLLMHistory, "writes_and_panics", func(_ context.Context, _ ThreadState, ms []LLMMessage, _ HookContext) ([]LLMMessage, error) {
				*ms[0].Content = "broken"
				panic("no")
			}),
			Define(BeforeUpdateMessage, "appends", func(_ context.Context, _ ThreadState, _ string, u MessageUpdate, _ HookContext) (MessageUpdate, error) {
				p, _ := u.Content.Value()
				*p += "!"
				u.Extra["k"] = nil
				return u, nil
			}),
		)
		th := &MemoryThread{}
		for _, s := range []string{"a", "b"} {
			_, err := th.InjectMessage(ctx, textMessage(RoleUser, s))
			require.NoError(t, err)
		}
		req, err := c.Assemble(ctx, th, "")
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b"}, llmTexts(req.Messages))

		u := MessageUpdate{Extra: map[string]json.RawMessage{"k": json.RawMessage("1")}}
		u.SetText("x")
		th.Compose = func(context.Context) (*Composition, error) { return c, nil }
		m, err := th.UpdateMessage(ctx, "m1", u)
		require.NoError(t, err)
		require.Equal(t, "x!", m.Text())
		text, _ := u.Text()
		require.Equal(t, "x", text, "the host's update is left as it is")
		require.Equal(t, "1", string(u.Extra["k"]))
	})
	t.Run("results and clients", func(t *testing.T) {
		c := composed(t, nil, Define(ToolCallDone, "writes", func(_ context.Context, _ ThreadState, _ ToolCall, r CallResult, _ HookContext) error {
			r.Attachments[0] = nil
			r.Extra["k"] = nil
			return nil
		}))
		r := SuccessResult("x")
		r.Attachments, r.Extra = []Attachment{AttachmentRef{Path: "/a"}}, map[string]json.RawMessage{"k": json.RawMessage("1")}
		got, err := c.Tracker(c.Gateway(&MemoryThread{}, &MemoryStore{})).Done(ctx, NewToolCall("c", "f", ""), r)
		require.NoError(t, err)
		require.Equal(t, AttachmentRef{Path: "/a"}, got.Attachments[0])
		require.Equal(t, "1", string(got.Extra["k"]))
	})
}

// lifecycle.md: the points of user scope.
func TestUserHooks(t *testing.T) {
	var ran []string
	var rec recorder
	client := func(id string) func(context.Context, UserState, UserClient) error {
		return func(_ context.Context, u UserState, c UserClient) error {
			ran = append(ran, id+" "+u.UserID()+" "+c.ID)
			c.Extra["k"] = nil
			return errors.New("no")
		}
	}
	reg, err := NewRegistry([]Namespace{
		{Hooks: []Definition{
			Define(UserClientAttached, "one", client("one")), Define(UserClientAttached, "two", client("two")),
			Define(UserClientDetached, "gone", client("gone")),
			Define(UserValueChanged, "value", func(ctx context.Context, u UserState, key string) error {
				ran = append(ran, "value "+key)
				return u.SetValue(ctx, key+"_nested", nil)
			}),
			Define(UserValueChanged, "value_too", func(ctx context.Context, u UserState, key string) error {
				ran = append(ran, "too "+key)
				return nil
			}),
		}},
		{Package: "acme/x", Hooks: []Definition{Define(UserClientAttached, "one", client("packaged"))}},
	}, rec.options())
	require.NoError(t, err)
	u := &memoryUser{reg: reg}
	c := UserClient{ID: "c1", Extra: map[string]json.RawMessage{"k": json.RawMessage("1")}}
	t.Run("every definition runs, failures are reported", func(t *testing.T) {
		require.NoError(t, reg.UserClientAttached(t.Context(), u, c))
		require.NoError(t, reg.UserClientDetached(t.Context(), u, c))
		require.Equal(t, []string{"one u1 c1", "two u1 c1", "gone u1 c1"}, ran, "packages are not a global source")
		require.Equal(t, []string{"user_client_attached/one error", "user_client_attached/two error", "user_client_detached/gone error"}, rec.failures())
		r := rec.records[0].(LifecycleRecord)
		require.Equal(t, []any{"u1", "", nil}, []any{r.UserID, r.ThreadID, r.Source})
		require.Equal(t, "1", string(c.Extra["k"]))
	})
	t.Run("nested dispatch of the same causal chain is suppressed", func(t *testing.T) {
		ran = nil
		require.NoError(t, u.SetValue(t.Context(), "a", nil))
		require.Equal(t, []string{"value a", "too a"}, ran)
		require.Equal(t, []string{"a", "a_nested"}, u.set)
		require.NoError(t, u.SetValue(t.Context(), "b", nil), "the next chain is told again")
		require.Len(t, ran, 4)
	})
	t.Run("no definitions", func(t *testing.T) {
		empty, err := NewRegistry(nil, nil)
		require.NoError(t, err)
		require.NoError(t, empty.UserClientAttached(t.Context(), u, c))
		require.NoError(t, empty.UserValueChanged(t.Context(), u, "k"))
	})
}

// lifecycle.md: recursion, a depth per thread and point travels in ctx.
func TestRecursion(t *testing.T) {
	for name, make := range map[string]func(inject func(context.Context, ThreadState) error) Definition{
		"after_create_message": func(inject func(context.Context, ThreadState) error) Definition {
			return Define(AfterCreateMessage, "again", func(ctx context.Context, st ThreadState, _ Message, _ HookContext) error { return inject(ctx, st) })
		},
		"before_create_message": func(inject func(context.Context, ThreadState) error) Definition {
			return Define(BeforeCreateMessage, "again", func(ctx context.Context, st ThreadState, m Message, _ HookContext) (Message, error) {
				return m, inject(ctx, st)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			var deepest []error
			c := composed(t, nil, make(func(ctx context.Context, st ThreadState) error {
				_, err := st.InjectMessage(ctx, textMessage(RoleSystem, "more"))
				var rec *RecursionError
				if errors.As(err, &rec) && len(deepest) == 0 {
					deepest = append(deepest, err)
				}
				return nil
			}))
			th := threadOf(c)
			_, err := th.InjectMessage(t.Context(), textMessage(RoleUser, "x"))
			require.NoError(t, err)
			require.Len(t, deepest, 1)
			var rec *RecursionError
			require.ErrorAs(t, deepest[0], &rec)
			require.Equal(t, RecursionError{"t1", PointName(name)}, *rec)
			require.ErrorContains(t, rec, `thread "t1"`)
			ms, _ := th.Messages(t.Context())
			require.Len(t, ms, MaxRecursion, "eight levels, and nothing of the ninth")
		})
	}
	t.Run("two threads that write to each other end too", func(t *testing.T) {
		var a, b *MemoryThread
		other := Define(AfterCreateMessage, "answer", func(ctx context.Context, st ThreadState, _ Message, _ HookContext) error {
			to := a
			if st.ThreadID() == "a" {
				to = b
			}
			_, err := to.InjectMessage(ctx, textMessage(RoleUser, "ping"))
			return err
		})
		a = threadOf(composed(t, nil, other))
		b = threadOf(composed(t, nil, other))
		a.ID, b.ID = "a", "b"
		_, err := a.InjectMessage(t.Context(), textMessage(RoleUser, "x"))
		require.NoError(t, err)
		ms, _ := b.Messages(t.Context())
		require.Len(t, ms, MaxRecursion)
	})
	t.Run("another point and thread counts for itself", func(t *testing.T) {
		ctx := t.Context()
		for range MaxRecursion {
			var err error
			ctx, err = descend(ctx, "t", afterCreateMessage)
			require.NoError(t, err)
		}
		require.NoError(t, admits(ctx, "t", beforeCreateMessage))
		require.NoError(t, admits(ctx, "t2", afterCreateMessage))
		_, err := descend(ctx, "t", afterCreateMessage)
		require.Error(t, err)
	})
}

// Hooks of different threads run at the same time.
func TestLifecycleConcurrency(t *testing.T) {
	var rec recorder
	c := composed(t, rec.options(),
		Define(BeforeCreateMessage, "mark", func(_ context.Context, st ThreadState, m Message, _ HookContext) (Message, error) {
			return m, m.SetExtra("thread", st.ThreadID())
		}),
		Define(AfterCreateMessage, "emit", func(ctx context.Context, st ThreadState, m Message, _ HookContext) error {
			return st.Emit(ctx, "created", m.Extra["thread"])
		}),
	)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			th := threadOf(c)
			th.ID = fmt.Sprint("t", i)
			for range 20 {
				if _, err := th.InjectMessage(context.Background(), textMessage(RoleUser, "x")); err != nil {
					t.Error(err)
				}
			}
			for _, e := range th.Emitted() {
				if string(e.Data) != fmt.Sprintf("%q", th.ID) {
					t.Errorf("%s got %s", th.ID, e.Data)
				}
			}
		})
	}
	wg.Wait()
	require.Len(t, rec.records, 8*20*2)
}
