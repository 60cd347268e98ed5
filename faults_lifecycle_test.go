package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLifecycleFailuresTellNothing is F33 and F50 for lifecycle hooks: whatever
// one does wrong at whatever point, no record holds what it said or what it
// was given, and nothing that is stored or sent holds what it said, or a
// result that was withheld because of it.
func TestLifecycleFailuresTellNothing(t *testing.T) {
	for _, p := range Points() {
		for way, kind := range misdeeds {
			// Elsewhere nothing that a hook returns is invalid.
			judged := p.Name == "filter_messages" || p.Withholds || strings.HasPrefix(string(p.Name), "after_tool_call")
			if kind != noFailure && (way != "invalid" || judged) {
				t.Run(string(p.Name)+"/"+way, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { lifecycleTellsNothing(t, p, way, kind) })
				})
			}
		}
	}
}

func lifecycleTellsNothing(t *testing.T, p PointInfo, way string, kind FailureKind) {
	const payload = "p4yl04d"
	var rec recorder
	opts := rec.options()
	opts.Timeout, opts.Withhold, opts.DropOrphans = time.Second, true, true
	opts.ProgressArgument = func(string) string { return "path" }
	opts.Sink = func(_ context.Context, e ToolEvent) error {
		if e.Event == ToolCallDone.Info().Name {
			panic(canary)
		}
		return errors.New(canary)
	}
	release := make(chan struct{})
	all := everywhere("h", func(ctx context.Context, _ string, v any) error { return misdo(ctx, way, canary, v, release) })
	reg, _, c := lifecycleOf(t, opts, slices.DeleteFunc(all, func(d Definition) bool { return d.Point() != p })...)
	th, ctx := threadOf(c), t.Context()
	var returned []error
	note := func(err error) {
		if err != nil {
			returned = append(returned, err)
		}
	}
	extra := func() map[string]json.RawMessage {
		return map[string]json.RawMessage{"k": json.RawMessage(`"` + payload + `"`)}
	}
	for _, m := range []Message{
		{ID: "first", Role: RoleUser, Content: text(payload), Extra: extra()},
		{Role: RoleAssistant, Content: text(payload), ToolCalls: FormatToolCalls([]ToolCall{NewToolCall("c1", "f", payload), NewToolCall("c2", "f", payload)})},
		{Role: RoleTool, ToolCallID: "orphan", Content: text(payload)},
	} {
		_, err := th.store.Insert(ctx, m)
		require.NoError(t, err)
	}

	client := UserClient{ID: "c", Extra: extra()}
	note(reg.UserClientAttached(ctx, someUser("u"), client))
	note(reg.UserValueChanged(ctx, someUser("u"), payload))
	note(reg.UserClientDetached(ctx, someUser("u"), client))
	note(c.AfterThreadCreated(ctx, th))
	note(c.AfterSubagentCreated(ctx, th, &MemoryThread{ID: "child"}))
	_, err := th.InjectMessage(ctx, Message{Role: RoleUser, Content: text(payload), Extra: extra()})
	note(err)
	update := MessageUpdate{Extra: extra()}
	update.SetText(payload)
	_, err = th.UpdateMessage(ctx, "first", update)
	note(err)
	tr := c.Tracker(c.Gateway(th, &th.store))
	result := CallResult{Result: payload, Attachments: []Attachment{AttachmentRef{Path: payload}}, Extra: extra()}
	if p.Withholds {
		rewrite(&result, func(string) string { return canary })
		result.Result = canary
	}
	for id, failed := range map[string]error{"c1": nil, "c2": errors.New(result.Result)} {
		_, err = tr.Run(ctx, NewToolCall(id, "f", `{"path":"`+payload+`"}`), CallSteps{
			Execute: func(context.Context, ToolCall) (CallResult, error) { return result.clone(), failed },
		})
		note(err)
	}
	req, err := c.Assemble(ctx, th, payload)
	note(err)
	close(release)
	synctest.Wait() // those that were stuck have written what they could

	told, stored := fmt.Sprintf("%+v", rec.records), th.store.Messages()
	assert.NotContains(t, told, canary)
	assert.NotContains(t, told, payload)
	data, err := json.Marshal([]any{stored, req})
	require.NoError(t, err)
	assert.NotContains(t, string(data), canary)

	// And it did go wrong, with a canary that could have been told.
	assert.Contains(t, string(data), payload)
	assert.Equal(t, 4, strings.Count(told, "CallID:"), "the sink failed for both events of both calls")
	refused := way == "block" && p.Veto == VetoBlock || way == "invalid" && p.Name == "filter_messages"
	assert.Equal(t, refused, req.Messages == nil)
	if way == "invalid" && refused { // it is the provider's form that fails
		assert.EqualError(t, returned[0], `hooks: provider form: tool_calls of message "first" is not JSON`)
		return
	}
	assert.Contains(t, told, "Dropped:1")
	require.NotEmpty(t, rec.failures())
	for _, f := range rec.failures() {
		assert.Equal(t, fmt.Sprintf("%s/h_%[1]s %s", p.Name, kind), f)
	}
	assert.Equal(t, refused || p.Veto == VetoError, len(returned) > 0, "%v", returned)
	for _, err := range returned {
		var failed *HookError
		require.ErrorAs(t, err, &failed)
		rec.failed = append(rec.failed, failed)
	}
	for _, failed := range rec.failed {
		assert.Equal(t, way != "goexit" && way != "stuck", strings.Contains(fmt.Sprint(failed, failed.Failure.Err), canary), "%v", failed)
	}
	if p.Withholds {
		assert.Equal(t, []string{Withheld, Withheld}, texts(stored[len(stored)-2:]))
	}
}

// TestOneCompositionForAll is F28, F38, F46, F52 and F53 for lifecycle hooks: 64
// goroutines use one Registry and one Composition, half of them composing anew, each time
// with a thread of its own, while hooks fail in every way, write to what they
// got, inject messages, and are cancelled in flight. Every caller gets its own
// results; the race detector watches what they share. Time stands still while
// anything can run: only those that do block are late.
func TestOneCompositionForAll(t *testing.T) {
	ways := []string{"ok", "mutate", "inject", "recurse", "cancelled", "error", "panic", "goexit", "late", "stuck"}
	synctest.Test(t, func(t *testing.T) {
		const callers = 64
		var rec recorder
		opts := rec.options()
		opts.Timeout = time.Second
		v := visitors{release: make(chan struct{}), ended: map[*MemoryThread][]string{}}
		mark := func(_ context.Context, who string, v any) error {
			rewrite(v, func(s string) string { return s + "." + who })
			return nil
		}
		defs := slices.Concat(everywhere("first", mark), everywhere("bad", v.do), everywhere("last", mark))
		v.registry, v.parent, v.composition = lifecycleOf(t, opts, append(defs, injectors()...)...)
		v.content = Message{Role: RoleUser, Content: text("x"), Extra: map[string]json.RawMessage{"k": json.RawMessage("1")}}
		v.update = MessageUpdate{Content: Replace(text("u")), Extra: map[string]json.RawMessage{"k": json.RawMessage("2")}}
		v.result = CallResult{Result: "r", Attachments: []Attachment{AttachmentRef{Path: "/a"}}, Extra: map[string]json.RawMessage{"k": json.RawMessage("3")}}
		v.client = UserClient{ID: "c", Extra: map[string]json.RawMessage{"k": json.RawMessage("4")}}
		before := fmt.Sprintf("%+v %s", v.update.Extra, []any{v.content.Extra, v.result, v.client})

		var all sync.WaitGroup
		for worker := range callers {
			all.Go(func() {
				for round := range ways {
					v.visit(t, ways[(worker+round)%len(ways)], worker, round)
				}
			})
		}
		all.Wait()
		const points = 11 // at which a hook failed in one visit
		assert.Equal(t, callers*points, v.registry.Abandoned(), "those that are stuck are counted")
		close(v.release)
		synctest.Wait()
		assert.Zero(t, v.registry.Abandoned())
		assert.Equal(t, before, fmt.Sprintf("%+v %s", v.update.Extra, []any{v.content.Extra, v.result, v.client}), "what the callers share")
		assert.Equal(t, []string{"x", "u"}, []string{v.content.Text(), *v.update.Content.or(nil)})
		assert.Len(t, v.ended, callers*len(ways))
		for th, want := range v.ended {
			assert.Equal(t, want, texts(th.store.Messages()), th.ID)
		}
		failed := map[string]int{}
		for _, r := range rec.records {
			l := r.(LifecycleRecord)
			way, _, _ := strings.Cut(l.ThreadID+l.UserID, "-")
			if l.Failure == noFailure {
				continue
			}
			failed[way]++
			want := misdeeds[way]
			if way == "cancelled" {
				want = FailureCancelled
			}
			assert.True(t, l.Failure == want && strings.HasPrefix(l.HookID, "bad_"), "%+v", l)
		}
		n := callers * points
		assert.Equal(t, map[string]int{"error": n, "panic": n, "goexit": n, "late": n, "stuck": n, "cancelled": callers * 6}, failed)
		assert.Len(t, rec.failed, 5*(n-2*callers), "two of the points return the failure to the caller")
	})
}

// cancelKey is where a context keeps what cancels it.
type cancelKey struct{}

// visitors are the callers of TestOneCompositionForAll, and what they share.
type visitors struct {
	registry    *Registry
	parent      Parent
	composition *Composition
	release     chan struct{}
	content     Message
	update      MessageUpdate
	result      CallResult
	client      UserClient

	mu    sync.Mutex
	ended map[*MemoryThread][]string // the texts that each ended with
}

// do misbehaves in the way that the thread or user is named after. Messages of
// tools it lets pass, so that results get stored.
func (v *visitors) do(ctx context.Context, who string, got any) error {
	way, _, _ := strings.Cut(who, "-")
	if m, ok := got.(*Message); ok && m.Role == RoleTool {
		return nil
	}
	if way == "cancelled" {
		go ctx.Value(cancelKey{}).(context.CancelFunc)()
		<-ctx.Done()
		return ctx.Err()
	}
	if _, ok := misdeeds[way]; !ok {
		return nil
	}
	return misdo(ctx, way, "wrong "+who, got, v.release)
}

// injectors inject into threads that are named after it: a note before the
// snapshot, or a message about every message.
func injectors() []Definition {
	inject := func(ctx context.Context, st ThreadState, way, text string) {
		if strings.HasPrefix(st.ThreadID(), way) {
			_, _ = st.InjectMessage(ctx, textMessage(RoleUser, text)) // its error ends the recursion
		}
	}
	return []Definition{
		Define(AfterSystemMessage, "inject", func(ctx context.Context, st ThreadState, _ string, _ HookContext) (Change[string], error) {
			inject(ctx, st, "inject", "note")
			return Keep[string](), nil
		}),
		Define(AfterCreateMessage, "recurse", func(ctx context.Context, st ThreadState, m Message, _ HookContext) error {
			if m.Role == RoleUser {
				inject(ctx, st, "recurse", "again")
			}
			return nil
		}),
	}
}

// visit takes a new thread through a turn, and holds what came of it.
func (v *visitors) visit(t *testing.T, way string, worker, round int) {
	who := fmt.Sprint(way, "-", worker, "-", round)
	th := threadOf(v.composition)
	th.ID = who
	if worker%2 == 1 {
		th.Compose = func(ctx context.Context) (*Composition, error) { return v.registry.Compose(ctx, v.parent) }
	}
	c, err := th.Compose(t.Context())
	assert.NoError(t, err)
	_, err = th.store.Insert(t.Context(), Message{ID: "seed", Role: RoleUser, Content: text("seed")})
	assert.NoError(t, err)

	var req Request
	var stored Message
	kind := misdeeds[way]
	for i, step := range []func(context.Context) error{
		func(ctx context.Context) error { return v.registry.UserClientAttached(ctx, someUser(who), v.client) },
		func(ctx context.Context) error { return c.AfterThreadCreated(ctx, th) },
		func(ctx context.Context) error { _, err := th.UpdateMessage(ctx, "seed", v.update); return err },
		func(ctx context.Context) error { _, err := th.InjectMessage(ctx, v.content); return err },
		func(ctx context.Context) (err error) { req, err = c.Assemble(ctx, th, "s"); return err },
		func(ctx context.Context) (err error) {
			run := func(context.Context, ToolCall) (CallResult, error) { return v.result, nil }
			stored, err = c.Tracker(c.Gateway(th, &th.store)).Run(ctx, NewToolCall(who, "f", "{}"), CallSteps{Execute: run})
			return err
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		err := step(context.WithValue(ctx, cancelKey{}, cancel))
		cancel()
		var failed *HookError
		switch vetoes := i == 2 || i == 3; {
		case way == "cancelled":
			assert.Equal(t, context.Canceled, err, "it is no failure of a hook")
		case kind == noFailure || !vetoes:
			assert.NoError(t, err, who)
		case assert.ErrorAs(t, err, &failed, who):
			assert.Equal(t, kind, failed.Failure.Kind)
			assert.Equal(t, way == "error" || way == "panic", strings.HasSuffix(failed.Error(), "wrong "+who))
		}
	}

	mark, wrong := "."+who, "wrong "+who
	marked := func(text string, points int) string { // what text is behind so many points
		if way == "mutate" {
			return wrong + mark
		}
		return text + strings.Repeat(mark, 2*points)
	}
	want, answer := []string{marked("u", 1), marked("x", 1)}, marked("r", 3)
	switch {
	case way == "mutate":
		answer += mark + mark // it lets before_create_message of a tool's message pass
	case way == "inject":
		want = append(want, marked("note", 1))
	case way == "recurse":
		want = append(want, slices.Repeat([]string{marked("again", 1)}, MaxRecursion-1)...)
	case kind != noFailure:
		want = []string{"seed"}
	case way == "cancelled":
		want = []string{"seed"}
	}
	if way != "cancelled" {
		sent := []string{marked("s", 2)}
		for _, text := range want {
			sent = append(sent, marked(text, 2))
		}
		assert.Equal(t, sent, llmTexts(req.Messages))
		assert.Equal(t, answer, stored.Text())
		assert.Equal(t, strconv.Quote(mark), string(stored.Extra["k"]))
		want = append(want, answer)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ended[th] = want
}
