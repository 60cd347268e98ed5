package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// logHooks returns a hook for every point of a tool call that writes to log.
func logHooks(log *[]string) []Definition {
	note := func(format string, args ...any) { *log = append(*log, fmt.Sprintf(format, args...)) }
	after := func(p Point[afterCallFunc], id string) Definition {
		return Define(p, id, func(_ context.Context, _ ThreadState, c ToolCall, r CallResult, _ HookContext) (Change[CallResult], error) {
			note("%s %s %s", id, c.ID, r.Text())
			return Keep[CallResult](), nil
		})
	}
	return []Definition{
		Define(ToolCallStarted, "started", func(_ context.Context, _ ThreadState, c ToolCall, p *string, _ HookContext) error {
			note("started %s %s %s %s", c.ID, c.Function.Name, c.Function.Arguments, orNil(p))
			return nil
		}),
		Define(ToolCallDone, "done", func(_ context.Context, _ ThreadState, c ToolCall, r CallResult, _ HookContext) error {
			note("done %s %s %s", c.ID, r.Status, r.Text())
			return nil
		}),
		after(AfterToolCallSuccess, "success"), after(AfterToolCallFailure, "failure"),
		Define(BeforeStoreToolResult, "store", func(_ context.Context, _ ThreadState, c ToolCall, r CallResult, _ HookContext) (CallResult, error) {
			note("store %s %s", c.ID, r.Text())
			return r, nil
		}),
		Define(BeforeCreateMessage, "before", func(_ context.Context, _ ThreadState, m Message, _ HookContext) (Message, error) {
			note("before %s", m.Text())
			return m, nil
		}),
		Define(AfterCreateMessage, "after", func(_ context.Context, _ ThreadState, m Message, _ HookContext) error {
			note("after %s", m.ID)
			return nil
		}),
	}
}

func orNil(p *string) string {
	if p == nil {
		return "<nil>"
	}
	return *p
}

func trackerOf(t *testing.T, c *Composition) (*Tracker, *MemoryThread) {
	t.Helper()
	th := threadOf(c)
	g, err := th.Gateway(t.Context())
	require.NoError(t, err)
	return c.Tracker(g), th
}

func tool(text string, err error) CallSteps {
	return CallSteps{Execute: func(context.Context, ToolCall) (CallResult, error) { return CallResult{Result: text}, err }}
}

// Seed 5, tool execution hooks: the order and how often.
func TestToolCall(t *testing.T) {
	ctx := t.Context()
	var log []string
	c := composed(t, nil, logHooks(&log)...)
	run := func(t *testing.T, id string, steps CallSteps) (Message, []string) {
		t.Helper()
		log = nil
		tr, _ := trackerOf(t, c)
		m, err := tr.Run(ctx, NewToolCall(id, "f", `{"x":1}`), steps)
		require.NoError(t, err)
		_, err = tr.Run(ctx, NewToolCall(id, "f", `{"x":1}`), steps)
		require.ErrorIs(t, err, ErrCallDone, "exactly once per call id")
		return m, log
	}
	t.Run("success", func(t *testing.T) {
		m, log := run(t, "c1", tool("ok", nil))
		require.Equal(t, []string{"started c1 f {\"x\":1} <nil>", "done c1 success ok", "success c1 ok", "store c1 ok", "before ok", "after m1"}, log)
		require.Equal(t, Message{ID: "m1", Role: RoleTool, Name: "f", ToolCallID: "c1", Content: m.Content, CreatedAt: 1}, m)
	})
	t.Run("failure", func(t *testing.T) {
		_, log := run(t, "c1", tool("", errors.New("broken")))
		require.Equal(t, []string{"done c1 error broken", "failure c1 broken", "store c1 broken"}, log[1:4])
	})
	t.Run("a panic of the tool is a failure", func(t *testing.T) {
		m, log := run(t, "c1", CallSteps{Execute: func(context.Context, ToolCall) (CallResult, error) { panic("oops") }})
		require.Equal(t, []string{"done c1 error the tool panicked: oops", "failure c1 the tool panicked: oops"}, log[1:3])
		require.Empty(t, m.Extra, "the stack is for operators")
	})
	t.Run("a refused call is started and done, and stored through the hooks", func(t *testing.T) {
		refused := ErrorResult("not allowed")
		m, log := run(t, "c1", CallSteps{
			Permit:  func(context.Context, ToolCall) (*CallResult, error) { return &refused, nil },
			Execute: func(context.Context, ToolCall) (CallResult, error) { panic("it ran") },
			Review:  func(context.Context, ToolCall, CallResult) (CallResult, error) { panic("it was reviewed") },
		})
		require.Equal(t, []string{"started c1 f {\"x\":1} <nil>", "done c1 error not allowed", "store c1 not allowed", "before not allowed", "after m1"}, log)
		require.Equal(t, "not allowed", m.Text())
	})
	t.Run("a blocked result still passes before_store_tool_result", func(t *testing.T) {
		steps := tool("secret", nil)
		steps.Permit = func(context.Context, ToolCall) (*CallResult, error) { return nil, nil }
		steps.Review = func(_ context.Context, _ ToolCall, r CallResult) (CallResult, error) {
			log = append(log, "review "+r.Text())
			return ErrorResult("blocked"), nil
		}
		_, log := run(t, "c1", steps)
		require.Equal(t, []string{"done c1 success secret", "success c1 secret", "review secret", "store c1 blocked", "before blocked", "after m1"}, log[1:])
	})
	t.Run("an error of Permit leaves the call open", func(t *testing.T) {
		log = nil
		ask := errors.New("ask the user")
		tr, th := trackerOf(t, c)
		steps := tool("ok", nil)
		steps.Permit = func(context.Context, ToolCall) (*CallResult, error) { return nil, ask }
		_, err := tr.Run(ctx, NewToolCall("c1", "f", ""), steps)
		require.Equal(t, ask, err)
		require.Len(t, log, 1)

		resumed := c.Tracker(tr.gateway) // in another process
		resumed.Resume("c1")
		_, err = resumed.Run(ctx, NewToolCall("c1", "f", ""), tool("ok", nil))
		require.NoError(t, err)
		require.Equal(t, "done c1 success ok", log[1], "started is not told again")
		ms, _ := th.Messages(ctx)
		require.Len(t, ms, 1)
	})
	t.Run("an error of Review stores nothing", func(t *testing.T) {
		tr, th := trackerOf(t, c)
		steps := tool("ok", nil)
		steps.Review = func(_ context.Context, _ ToolCall, r CallResult) (CallResult, error) { return r, errors.New("pause") }
		_, err := tr.Run(ctx, NewToolCall("c1", "f", ""), steps)
		require.EqualError(t, err, "pause")
		ms, _ := th.Messages(ctx)
		require.Empty(t, ms)
		m, err := tr.Store(ctx, NewToolCall("c1", "f", ""), SuccessResult("after the pause"))
		require.NoError(t, err)
		require.Equal(t, "after the pause", m.Text())
	})
	t.Run("a context that is done tells nothing, and another one does", func(t *testing.T) {
		log = nil
		done, cancel := context.WithCancel(ctx)
		cancel()
		tr, _ := trackerOf(t, c)
		call := NewToolCall("c1", "f", "")
		require.ErrorIs(t, tr.Start(done, call), context.Canceled)
		require.ErrorIs(t, tr.Stream(done, ToolCallDelta{ID: "c1", Name: "f"}), context.Canceled)
		_, err := tr.Done(done, call, SuccessResult(""))
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, log)
		require.NoError(t, tr.Refuse(ctx, call, ErrorResult("cancelled")))
		require.Equal(t, []string{"started c1 f  <nil>", "done c1 error cancelled"}, log)
	})
	t.Run("calls at the same time", func(t *testing.T) {
		var mu sync.Mutex
		counts := map[string]int{}
		count := func(what string) { mu.Lock(); counts[what]++; mu.Unlock() }
		c := composed(t, nil,
			Define(ToolCallStarted, "s", func(_ context.Context, _ ThreadState, c ToolCall, _ *string, _ HookContext) error {
				count("started " + c.ID)
				return nil
			}),
			Define(ToolCallDone, "d", func(_ context.Context, _ ThreadState, c ToolCall, _ CallResult, _ HookContext) error {
				count("done " + c.ID)
				return nil
			}),
		)
		tr, th := trackerOf(t, c)
		var wg sync.WaitGroup
		for i := range 40 {
			call := NewToolCall(fmt.Sprint("c", i/2), "f", "{}")
			wg.Go(func() {
				_ = tr.Stream(context.Background(), ToolCallDelta{ID: call.ID, Name: "f", Arguments: "{}"})
				_, err := tr.Run(context.Background(), call, tool("ok", nil))
				if err != nil && !errors.Is(err, ErrCallDone) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		require.Len(t, counts, 40)
		for what, n := range counts {
			require.Equal(t, 1, n, what)
		}
		ms, _ := th.Messages(ctx)
		require.Len(t, ms, 20)
	})
	t.Run("ToolMessage of the host", func(t *testing.T) {
		c := composed(t, &LifecycleOptions{ToolMessage: func(_ context.Context, c ToolCall, r CallResult) (Message, error) {
			if r.Status == StatusError {
				return Message{}, errors.New("no room")
			}
			return textMessage(RoleTool, "own "+r.Text()), nil
		}})
		tr, _ := trackerOf(t, c)
		m, err := tr.Run(ctx, NewToolCall("c1", "f", ""), tool("ok", nil))
		require.NoError(t, err)
		require.Equal(t, "own ok", m.Text())
		_, err = tr.Run(ctx, NewToolCall("c2", "f", ""), tool("", errors.New("x")))
		require.EqualError(t, err, "no room")
	})
}

// Seed 5.1, timing.
func TestToolCallStarted(t *testing.T) {
	ctx := t.Context()
	opts := &LifecycleOptions{ProgressArgument: func(tool string) string {
		return map[string]string{"write": "path"}[tool]
	}}
	var log []string
	c := composed(t, opts, logHooks(&log)...)
	stream := func(t *testing.T, tr *Tracker, deltas ...ToolCallDelta) {
		t.Helper()
		log = nil
		for _, d := range deltas {
			require.NoError(t, tr.Stream(ctx, d))
		}
	}
	t.Run("as soon as just the progress argument has finished streaming", func(t *testing.T) {
		tr, _ := trackerOf(t, c)
		stream(t, tr,
			ToolCallDelta{ID: "c1", Name: "write"}, ToolCallDelta{ID: "c1", Arguments: `{"path":"ind`}, ToolCallDelta{ID: "c1", Arguments: `ex.html`})
		require.Empty(t, log)
		require.NoError(t, tr.Stream(ctx, ToolCallDelta{ID: "c1", Arguments: `","content":"<ht`}))
		require.Equal(t, []string{`started c1 write {"path":"index.html","content":"<ht index.html`}, log)
		require.NoError(t, tr.Stream(ctx, ToolCallDelta{ID: "c1", Arguments: `ml>","path":"other"}`}))
		require.NoError(t, tr.Start(ctx, NewToolCall("c1", "write", "{}")))
		require.Len(t, log, 1, "exactly once")
	})
	t.Run("without one as soon as the name is known", func(t *testing.T) {
		tr, _ := trackerOf(t, c)
		stream(t, tr, ToolCallDelta{ID: "c1"}, ToolCallDelta{ID: "c1", Name: "read", Arguments: `{"a`})
		require.Equal(t, []string{`started c1 read {"a <nil>`}, log)
	})
	t.Run("arguments that come before the name", func(t *testing.T) {
		tr, _ := trackerOf(t, c)
		stream(t, tr, ToolCallDelta{ID: "c1", Arguments: `{"path":`}, ToolCallDelta{ID: "c1", Arguments: `"x"`}, ToolCallDelta{ID: "c1", Name: "write"})
		require.Equal(t, []string{`started c1 write {"path":"x" x`}, log)
	})
	t.Run("at the latest just before execution", func(t *testing.T) {
		tr, _ := trackerOf(t, c)
		stream(t, tr, ToolCallDelta{ID: "c1", Name: "write", Arguments: `{"pa`})
		require.Empty(t, log)
		_, err := tr.Run(ctx, NewToolCall("c1", "write", `{"path":"x"}`), tool("ok", nil))
		require.NoError(t, err)
		require.Equal(t, `started c1 write {"path":"x"} x`, log[0])
	})
	t.Run("a piece that comes when the context is done is not lost", func(t *testing.T) {
		tr, _ := trackerOf(t, c)
		gone, cancel := context.WithCancel(ctx)
		cancel()
		stream(t, tr, ToolCallDelta{ID: "c1", Name: "write", Arguments: `{"path":"he`})
		require.ErrorIs(t, tr.Stream(gone, ToolCallDelta{ID: "c1", Arguments: `l`}), context.Canceled)
		require.ErrorIs(t, tr.Stream(gone, ToolCallDelta{ID: "c1", Arguments: `lo",`}), context.Canceled)
		require.Empty(t, log, "the host gave up")
		require.NoError(t, tr.Stream(ctx, ToolCallDelta{ID: "c1", Arguments: `"x":1}`}))
		require.Equal(t, []string{`started c1 write {"path":"hello","x":1} hello`}, log)
	})
	t.Run("the host's code may use the tracker, and panic", func(t *testing.T) {
		var tr *Tracker
		c := composed(t, &LifecycleOptions{ProgressArgument: func(tool string) string {
			if tr.Resume("other"); tool == "bad" {
				panic("bug")
			}
			return ""
		}})
		tr, _ = trackerOf(t, c)
		require.Panics(t, func() { _ = tr.Stream(ctx, ToolCallDelta{ID: "c1", Name: "bad"}) })
		require.NoError(t, tr.Stream(ctx, ToolCallDelta{ID: "c2", Name: "good"}), "it is not locked")
	})
	t.Run("a call that code queued", func(t *testing.T) {
		tr, _ := trackerOf(t, c)
		log = nil
		_, err := tr.Run(ctx, NewToolCall("q1", "write", `{"path":"queued"}`), tool("ok", nil))
		require.NoError(t, err)
		require.Equal(t, `started q1 write {"path":"queued"} queued`, log[0])
		require.Equal(t, "done q1 success ok", log[1])
	})
	t.Run("a progress that can no longer come", func(t *testing.T) {
		tr, _ := trackerOf(t, c)
		stream(t, tr, ToolCallDelta{ID: "c1", Name: "write", Arguments: `{"content":"x"}`})
		require.Equal(t, []string{`started c1 write {"content":"x"} <nil>`}, log)
	})
	t.Run("never holds the stream beyond its timeout", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var rec recorder
			opts := rec.options()
			opts.Timeout = time.Second
			c := composed(t, opts, Define(ToolCallStarted, "slow", func(ctx context.Context, _ ThreadState, _ ToolCall, _ *string, _ HookContext) error {
				<-ctx.Done()
				return nil
			}))
			tr, _ := trackerOf(t, c)
			start := time.Now()
			require.NoError(t, tr.Stream(t.Context(), ToolCallDelta{ID: "c1", Name: "f"}))
			require.Equal(t, time.Second, time.Since(start))
		})
	})
	t.Run("chunking never changes what is told", func(t *testing.T) {
		args := `{"o":{"path":"no"},"path":"a\ud83d\ude00\"b","content":"x"}`
		for size := 1; size <= len(args); size++ {
			tr, _ := trackerOf(t, c)
			log = nil
			for rest := args; rest != ""; {
				n := min(size, len(rest))
				require.NoError(t, tr.Stream(ctx, ToolCallDelta{ID: "c1", Name: "write", Arguments: rest[:n]}))
				rest = rest[n:]
			}
			require.Len(t, log, 1)
			require.True(t, strings.HasSuffix(log[0], ` a😀"b`), "%d: %s", size, log[0])
		}
	})
}

// Seed 5.1 and 5.5: a matching event is sent to the clients; lifecycle.md: the
// sink comes first, a failing sink stops nothing.
func TestToolEvents(t *testing.T) {
	ctx := t.Context()
	for name, failing := range map[string]func() error{
		"works": func() error { return nil }, "fails": func() error { return errors.New("gone") }, "panics": func() error { panic("gone") },
	} {
		t.Run(name, func(t *testing.T) {
			var log []string
			var rec recorder
			opts := rec.options()
			opts.ProgressArgument = func(string) string { return "path" }
			opts.Sink = func(_ context.Context, e ToolEvent) error {
				data, err := json.Marshal(e)
				require.NoError(t, err)
				log = append(log, string(data))
				return failing()
			}
			tr, _ := trackerOf(t, composed(t, opts, logHooks(&log)...))
			_, err := tr.Run(ctx, NewToolCall("c1", "write", `{"path":"x"}`), tool("ok", nil))
			require.NoError(t, err)
			require.Equal(t, []string{
				`{"event":"tool_call_started","thread_id":"t1","id":"c1","name":"write","progress":"x"}`,
				`started c1 write {"path":"x"} x`,
				`{"event":"tool_call_done","thread_id":"t1","id":"c1","name":"write","status":"success"}`,
				`done c1 success ok`,
			}, log[:4])
			var failures []FailureKind
			for _, r := range rec.records {
				if s, ok := r.(SinkRecord); ok {
					require.Equal(t, []any{"t1", "c1"}, []any{s.ThreadID, s.CallID})
					failures = append(failures, s.Failure)
				}
			}
			require.Equal(t, map[string][]FailureKind{"fails": {"error", "error"}, "panics": {"panic", "panic"}}[name], failures)
		})
	}
	t.Run("without hooks", func(t *testing.T) {
		n := 0
		tr, _ := trackerOf(t, composed(t, &LifecycleOptions{Sink: func(context.Context, ToolEvent) error { n++; return nil }}))
		_, err := tr.Run(ctx, NewToolCall("c1", "f", ""), tool("ok", nil))
		require.NoError(t, err)
		require.Equal(t, 2, n)
	})
}

// Seed 5.2 to 5.5: what the hooks may do with a result.
func TestToolResultHooks(t *testing.T) {
	ctx := t.Context()
	call := NewToolCall("c1", "f", "")
	after := func(p Point[afterCallFunc], id string, f func(CallResult) (Change[CallResult], error)) Definition {
		return Define(p, id, func(_ context.Context, _ ThreadState, _ ToolCall, r CallResult, _ HookContext) (Change[CallResult], error) {
			return f(r)
		})
	}
	store := func(id string, f func(CallResult) (CallResult, error)) Definition {
		return Define(BeforeStoreToolResult, id, func(_ context.Context, _ ThreadState, _ ToolCall, r CallResult, _ HookContext) (CallResult, error) {
			return f(r)
		})
	}
	add := func(text string) func(CallResult) (Change[CallResult], error) {
		return func(r CallResult) (Change[CallResult], error) {
			r.Result += text
			return Replace(r), nil
		}
	}
	keep := func(CallResult) (Change[CallResult], error) { return Keep[CallResult](), nil }
	done := func(t *testing.T, raw CallResult, opts *LifecycleOptions, defs ...Definition) CallResult {
		t.Helper()
		tr, _ := trackerOf(t, composed(t, opts, defs...))
		r, err := tr.Done(ctx, call, raw)
		require.NoError(t, err)
		return r
	}
	t.Run("5.3: keep is the current value, a result replaces", func(t *testing.T) {
		require.Equal(t, "x", done(t, SuccessResult("x"), nil, after(AfterToolCallSuccess, "k", keep)).Result)
		require.Equal(t, "x12", done(t, SuccessResult("x"), nil, after(AfterToolCallSuccess, "a", add("1")),
			after(AfterToolCallSuccess, "k", keep), after(AfterToolCallSuccess, "b", add("2"))).Result)
	})
	t.Run("5.4: recovery, chosen by the raw status", func(t *testing.T) {
		ran := 0
		r := done(t, ErrorResult("x"), nil,
			after(AfterToolCallFailure, "recovers", func(CallResult) (Change[CallResult], error) { return Replace(SuccessResult("recovered")), nil }),
			after(AfterToolCallFailure, "too", func(r CallResult) (Change[CallResult], error) { ran++; return Keep[CallResult](), nil }),
			after(AfterToolCallSuccess, "not", func(CallResult) (Change[CallResult], error) { ran += 10; return Keep[CallResult](), nil }),
		)
		require.Equal(t, SuccessResult("recovered"), r)
		require.Equal(t, 1, ran)
	})
	t.Run("an error is reported, the last good value stays", func(t *testing.T) {
		var rec recorder
		r := done(t, SuccessResult("x"), rec.options(), after(AfterToolCallSuccess, "a", add("1")),
			after(AfterToolCallSuccess, "fails", func(r CallResult) (Change[CallResult], error) {
				return Replace(SuccessResult("lost")), errors.New("no")
			}),
			after(AfterToolCallSuccess, "b", add("2")))
		require.Equal(t, "x12", r.Result)
		require.Equal(t, []string{"after_tool_call_success/fails error"}, rec.failures())
	})
	t.Run("a result without a status is not usable", func(t *testing.T) {
		var rec recorder
		r := done(t, SuccessResult("x"), rec.options(), after(AfterToolCallSuccess, "zero", func(CallResult) (Change[CallResult], error) {
			return Replace(CallResult{Result: "y"}), nil
		}))
		require.Equal(t, "x", r.Result)
		require.Len(t, rec.failed, 1)
	})
	t.Run("6.3: attachments are preserved or replaced deliberately", func(t *testing.T) {
		raw := SuccessResult("x")
		raw.Attachments = []Attachment{AttachmentRef{Path: "/a"}}
		forget := after(AfterToolCallSuccess, "forget", func(CallResult) (Change[CallResult], error) { return Replace(SuccessResult("y")), nil })
		require.Equal(t, raw.Attachments, done(t, raw, nil, forget).Attachments)
		drop := after(AfterToolCallSuccess, "drop", func(r CallResult) (Change[CallResult], error) {
			r.Attachments = []Attachment{}
			return Replace(r), nil
		})
		require.Empty(t, done(t, raw, nil, drop, forget).Attachments)
		more := after(AfterToolCallSuccess, "more", func(r CallResult) (Change[CallResult], error) {
			r.Attachments = append(r.Attachments, ToolAttachment{Name: "b"})
			return Replace(r), nil
		})
		require.Len(t, done(t, raw, nil, more).Attachments, 2)
	})
	t.Run("5.5: tool_call_done cannot modify and sees the raw result", func(t *testing.T) {
		var saw string
		r := done(t, SuccessResult("raw"), nil, after(AfterToolCallSuccess, "a", add("!")),
			Define(ToolCallDone, "d", func(_ context.Context, _ ThreadState, _ ToolCall, r CallResult, _ HookContext) error {
				saw, r.Result = r.Result, "changed"
				return errors.New("ignored")
			}))
		require.Equal(t, []string{"raw", "raw!"}, []string{saw, r.Result})
	})
	t.Run("5.2: the stored result", func(t *testing.T) {
		var rec recorder
		tr, th := trackerOf(t, composed(t, rec.options(),
			store("redacts", func(r CallResult) (CallResult, error) {
				r.Result = strings.ReplaceAll(r.Result, "4111", "****")
				return r, r.SetExtra("redacted", true)
			}),
			store("fails", func(r CallResult) (CallResult, error) { return SuccessResult("lost"), errors.New("no") }),
		))
		m, err := tr.Store(ctx, call, SuccessResult("card 4111"))
		require.NoError(t, err)
		require.Equal(t, "card ****", m.Text())
		require.Equal(t, "true", string(m.Extra["redacted"]))
		require.Equal(t, []string{"before_store_tool_result/fails error"}, rec.failures())
		ms, _ := th.Messages(ctx)
		require.Equal(t, []Message{m}, ms)
	})
	t.Run("Withhold stores an error result instead", func(t *testing.T) {
		var rec recorder
		opts := rec.options()
		opts.Withhold = true
		raw := SuccessResult("card 4111")
		raw.Attachments = []Attachment{AttachmentRef{Path: "/secret"}}
		tr, _ := trackerOf(t, composed(t, opts,
			store("redactor", func(CallResult) (CallResult, error) { panic("bug") }),
			store("not_reached", func(CallResult) (CallResult, error) { return SuccessResult("back again"), nil }),
		))
		m, err := tr.Store(ctx, call, raw)
		require.NoError(t, err)
		require.Equal(t, Withheld, m.Text())
		require.Empty(t, m.Extra)
		require.Equal(t, []string{"before_store_tool_result/redactor panic"}, rec.failures())
	})
}
