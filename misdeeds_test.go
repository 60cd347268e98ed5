package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// deed is what a hook does, at whatever point: who is its thread or user, v
// points to what it got and may change, nil where it got nothing.
type deed func(ctx context.Context, who string, v any) error

// everywhere defines one hook for each of the points.
func everywhere(prefix string, do deed) []Definition {
	thread := func(ctx context.Context, st ThreadState, _ HookContext) error { return do(ctx, st.ThreadID(), nil) }
	message := func(ctx context.Context, st ThreadState, m Message, _ HookContext) error {
		return do(ctx, st.ThreadID(), &m)
	}
	after := func(ctx context.Context, st ThreadState, _ ToolCall, r CallResult, _ HookContext) (Change[CallResult], error) {
		err := do(ctx, st.ThreadID(), &r)
		return Replace(r), err
	}
	client := func(ctx context.Context, u UserState, c UserClient) error { return do(ctx, u.UserID(), &c) }
	return []Definition{
		hookAt(AfterThreadCreated, prefix, thread),
		hookAt(AfterSubagentCreated, prefix, func(ctx context.Context, st, _ ThreadState, hc HookContext) error { return thread(ctx, st, hc) }),
		hookAt(AfterSystemMessage, prefix, func(ctx context.Context, st ThreadState, s string, _ HookContext) (Change[string], error) {
			err := do(ctx, st.ThreadID(), &s)
			return Replace(s), err
		}),
		hookAt(FilterMessages, prefix, func(ctx context.Context, st ThreadState, ms []Message, _ HookContext) ([]Message, error) {
			err := do(ctx, st.ThreadID(), &ms)
			return ms, err
		}),
		hookAt(PrefilterLLMHistory, prefix, func(ctx context.Context, st ThreadState, ms []LLMMessage, _ HookContext) ([]LLMMessage, error) {
			err := do(ctx, st.ThreadID(), &ms)
			return ms, err
		}),
		hookAt(BeforeCreateMessage, prefix, func(ctx context.Context, st ThreadState, m Message, _ HookContext) (Message, error) {
			err := do(ctx, st.ThreadID(), &m)
			return m, err
		}),
		hookAt(AfterCreateMessage, prefix, message),
		hookAt(BeforeUpdateMessage, prefix, func(ctx context.Context, st ThreadState, _ string, u MessageUpdate, _ HookContext) (MessageUpdate, error) {
			err := do(ctx, st.ThreadID(), &u)
			return u, err
		}),
		hookAt(AfterUpdateMessage, prefix, message),
		hookAt(ToolCallStarted, prefix, func(ctx context.Context, st ThreadState, _ ToolCall, progress *string, _ HookContext) error {
			return do(ctx, st.ThreadID(), progress)
		}),
		hookAt(BeforeStoreToolResult, prefix, func(ctx context.Context, st ThreadState, _ ToolCall, r CallResult, _ HookContext) (CallResult, error) {
			err := do(ctx, st.ThreadID(), &r)
			return r, err
		}),
		hookAt(AfterToolCallSuccess, prefix, after),
		hookAt(AfterToolCallFailure, prefix, after),
		hookAt(ToolCallDone, prefix, func(ctx context.Context, st ThreadState, _ ToolCall, r CallResult, _ HookContext) error {
			return do(ctx, st.ThreadID(), &r)
		}),
		hookAt(UserClientAttached, prefix, client),
		hookAt(UserClientDetached, prefix, client),
		hookAt(UserValueChanged, prefix, func(ctx context.Context, u UserState, _ string) error { return do(ctx, u.UserID(), nil) }),
	}
}

func hookAt[F any](p Point[F], prefix string, fn F) Definition {
	return Define(p, prefix+"_"+string(p.Info().Name), fn)
}

// rewrite puts f of what stands there into all that v holds, in place.
func rewrite(v any, f func(string) string) {
	extra := func(e map[string]json.RawMessage) {
		if e != nil {
			e["k"] = json.RawMessage(strconv.Quote(f("")))
		}
	}
	switch v := v.(type) {
	case *string:
		if v != nil {
			*v = f(*v)
		}
	case *Message:
		rewrite(v.Content, f)
		extra(v.Extra)
	case *[]Message:
		for i := range *v {
			rewrite(&(*v)[i], f)
		}
	case *[]LLMMessage:
		for i := range *v {
			rewrite((*v)[i].Content, f)
		}
	case *MessageUpdate:
		content, _ := v.Content.Value()
		rewrite(content, f)
		extra(v.Extra)
	case *CallResult:
		if v.Status == StatusSuccess {
			v.Result = f(v.Result)
		} else {
			v.Error = f(v.Error)
		}
		for i := range v.Attachments {
			v.Attachments[i] = AttachmentRef{Path: f("")}
		}
		extra(v.Extra)
	case *UserClient:
		extra(v.Extra)
	}
}

// noFailure is the kind of a hook that did its work.
const noFailure = FailureKind("")

// misdeeds are the ways of misdo, and the failures that come of them.
var misdeeds = map[string]FailureKind{
	"error": FailureError, "block": FailureError, "panic": FailurePanic, "goexit": FailurePanic,
	"late": FailureTimeout, "stuck": FailureTimeout, "invalid": FailureError, "mutate": noFailure,
}

// misdo writes text into all that the hook got, and fails. One that is stuck
// ignores its context, and writes when it is let go.
func misdo(ctx context.Context, way, text string, v any, release <-chan struct{}) error {
	if way == "stuck" {
		<-release
	}
	rewrite(v, func(string) string { return text })
	switch way {
	case "error":
		return errors.New(text)
	case "block":
		return &BlockError{Reason: text}
	case "panic":
		panic(text)
	case "goexit":
		runtime.Goexit()
	case "late":
		<-ctx.Done()
		return fmt.Errorf("%s: %w", text, ctx.Err())
	case "invalid":
		switch v := v.(type) {
		case *CallResult:
			v.Status = CallStatus(text)
		case *[]Message:
			(*v)[0].ToolCalls = text
		}
	}
	return nil
}

// lifecycleOf returns a registry of these hooks, a parent that lists those of
// thread scope, and its composition.
func lifecycleOf(t testing.TB, opts *LifecycleOptions, defs ...Definition) (*Registry, Parent, *Composition) {
	t.Helper()
	reg, err := NewRegistry([]Namespace{{Hooks: defs}}, opts)
	require.NoError(t, err)
	prompt := &PromptDef{Name: "p"}
	for _, d := range defs {
		if d.Point().Scope == ScopeThread {
			prompt.Hooks = append(prompt.Hooks, d.ID())
		}
	}
	parent := Parent{Agent: AgentDef{Name: "a"}, Prompt: prompt}
	c, err := reg.Compose(t.Context(), parent)
	require.NoError(t, err)
	require.Empty(t, c.Warnings())
	return reg, parent, c
}

// someUser is a UserState that has an id.
type someUser string

func (u someUser) UserID() string                                          { return string(u) }
func (u someUser) Value(context.Context, string) (json.RawMessage, error)  { return nil, nil }
func (u someUser) SetValue(context.Context, string, json.RawMessage) error { return nil }
