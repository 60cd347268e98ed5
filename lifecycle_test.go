package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The functions of some points, for tests that pass them around.
type (
	observeMessageFunc = func(context.Context, ThreadState, Message, HookContext) error
	createFunc         = func(context.Context, ThreadState, Message, HookContext) (Message, error)
	filterFunc         = func(context.Context, ThreadState, []Message, HookContext) ([]Message, error)
	prefilterFunc      = func(context.Context, ThreadState, []LLMMessage, HookContext) ([]LLMMessage, error)
	afterCallFunc      = func(context.Context, ThreadState, ToolCall, CallResult, HookContext) (Change[CallResult], error)
)

// recorder collects records and failures; it is safe for concurrent use.
type recorder struct {
	mu      sync.Mutex
	records []Record
	failed  []*HookError
}

func (r *recorder) options() *LifecycleOptions {
	return &LifecycleOptions{
		Observe: func(_ context.Context, rec Record) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.records = append(r.records, rec)
		},
		Failed: func(_ context.Context, err *HookError) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.failed = append(r.failed, err)
		},
	}
}

// failures returns the runs of hooks that failed, as "point/id kind".
func (r *recorder) failures() []string {
	var out []string
	for _, rec := range r.records {
		if l, ok := rec.(LifecycleRecord); ok && l.Failure != "" {
			out = append(out, string(l.Point)+"/"+l.HookID+" "+string(l.Failure))
		}
	}
	return out
}

// composed returns a composition of a prompt that lists these hooks.
func composed(t testing.TB, opts *LifecycleOptions, defs ...Definition) *Composition {
	t.Helper()
	reg, err := NewRegistry([]Namespace{{Hooks: defs}}, opts)
	require.NoError(t, err)
	prompt := &PromptDef{Name: "p"}
	for _, d := range defs {
		prompt.Hooks = append(prompt.Hooks, d.ID())
	}
	c, err := reg.Compose(t.Context(), Parent{Agent: AgentDef{Name: "a"}, Prompt: prompt})
	require.NoError(t, err)
	require.Empty(t, c.Warnings())
	return c
}

// threadOf returns a thread whose messages run the hooks of c.
func threadOf(c *Composition) *MemoryThread {
	return &MemoryThread{ID: "t1", Agent: "a", User: "u1", Compose: func(context.Context) (*Composition, error) { return c, nil }}
}

func textMessage(role Role, text string) Message { return Message{Role: role, Content: &text} }

func texts(ms []Message) []string {
	var out []string
	for i := range ms {
		out = append(out, ms[i].Text())
	}
	return out
}

func llmTexts(ms []LLMMessage) []string {
	var out []string
	for i := range ms {
		out = append(out, ms[i].Text())
	}
	return out
}

// Seed 1.1: the specification defines the following hooks; lifecycle.md, the
// points.
func TestPointTable(t *testing.T) {
	want := []PointInfo{
		{"after_thread_created", "thread", "observe", "all", "none", false, false},
		{"after_subagent_created", "thread", "observe", "all", "none", false, false},
		{"after_system_message", "thread", "transform", "waterfall", "none", false, false},
		{"filter_messages", "thread", "transform", "waterfall", "none", false, false},
		{"prefilter_llm_history", "thread", "transform", "waterfall", "block", false, false},
		{"before_create_message", "thread", "transform", "waterfall", "error", false, false},
		{"after_create_message", "thread", "observe", "all", "none", false, false},
		{"before_update_message", "thread", "transform", "waterfall", "error", false, false},
		{"after_update_message", "thread", "observe", "all", "none", false, false},
		{"tool_call_started", "thread", "observe", "all", "none", true, false},
		{"before_store_tool_result", "thread", "transform", "waterfall", "none", false, true},
		{"after_tool_call_success", "thread", "transform", "waterfall", "none", false, false},
		{"after_tool_call_failure", "thread", "transform", "waterfall", "none", false, false},
		{"tool_call_done", "thread", "observe", "all", "none", true, false},
		{"user_client_attached", "user", "observe", "all", "none", false, false},
		{"user_client_detached", "user", "observe", "all", "none", false, false},
		{"user_value_changed", "user", "observe", "all", "none", false, false},
	}
	require.Equal(t, want, Points())
	for _, p := range Points() {
		require.Equal(t, p.Veto != VetoNone, p.MayVeto(), p.Name)
		require.Equal(t, p.Kind == KindTransform, p.Flow == FlowWaterfall, "%s: transforms are waterfalls", p.Name)
		require.False(t, p.MayVeto() && p.Kind == KindObserve, "%s: an observer cannot prevent", p.Name)
		require.True(t, isSnakeCase(string(p.Name)))
	}
	Points()[0].Name = "changed"
	require.Equal(t, PointName("after_thread_created"), Points()[0].Name, "the table is copied")

	names := map[PointName]bool{}
	for _, p := range []PointInfo{
		AfterThreadCreated.Info(), AfterSubagentCreated.Info(), AfterSystemMessage.Info(), FilterMessages.Info(), PrefilterLLMHistory.Info(),
		BeforeCreateMessage.Info(), AfterCreateMessage.Info(), BeforeUpdateMessage.Info(), AfterUpdateMessage.Info(),
		ToolCallStarted.Info(), BeforeStoreToolResult.Info(), AfterToolCallSuccess.Info(), AfterToolCallFailure.Info(), ToolCallDone.Info(),
		UserClientAttached.Info(), UserClientDetached.Info(), UserValueChanged.Info(),
	} {
		names[p.Name] = true
	}
	require.Len(t, names, len(Points()), "one variable for each point")
	require.Zero(t, Point[int]{}.Info())
}

// Seed 1.2: the requirements of a definition.
func TestDefine(t *testing.T) {
	keep := func(_ context.Context, _ ThreadState, ms []Message, _ HookContext) ([]Message, error) { return ms, nil }
	refused := func(t *testing.T, want string, defs ...Definition) {
		t.Helper()
		_, err := NewRegistry([]Namespace{{Package: "acme/x", Hooks: defs}}, nil)
		var config *ConfigError
		require.ErrorAs(t, err, &config)
		require.ErrorContains(t, err, want)
	}
	t.Run("the id follows snake_case", func(t *testing.T) {
		rule := regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
		for _, id := range []string{
			"a", "a1", "limit_to_20_messages", "a_1", "", "A", "1a", "_a", "a_", "a__b", "a-b", "aB", "é", "a b", "a_\n", "Z", "`", "{a",
		} {
			require.Equal(t, rule.MatchString(id), isSnakeCase(id), "%q", id)
			if !rule.MatchString(id) {
				refused(t, "snake_case", Define(FilterMessages, id, keep))
			}
		}
	})
	t.Run("the id is unique", func(t *testing.T) {
		refused(t, "twice", Define(FilterMessages, "same", keep),
			Define(AfterThreadCreated, "same", func(context.Context, ThreadState, HookContext) error { return nil }))
	})
	t.Run("child packages may repeat an id", func(t *testing.T) {
		d := []Definition{Define(FilterMessages, "same", keep)}
		_, err := NewRegistry([]Namespace{{Hooks: d}, {Package: "a", Hooks: d}, {Package: "b", Hooks: d}}, nil)
		require.NoError(t, err)
		_, err = NewRegistry([]Namespace{{Package: "a"}, {Package: "a"}}, nil)
		require.ErrorContains(t, err, `"a" is given twice`)
	})
	t.Run("nil functions are refused", func(t *testing.T) {
		refused(t, "nil", Define(FilterMessages, "x", nil))
		refused(t, "nil", Define(FilterMessages, "x", filterFunc(nil)))
	})
	t.Run("the hook property references one of the types", func(t *testing.T) {
		refused(t, "zero Point", Definition{}, Define(Point[filterFunc]{}, "x", keep))
		d := Define(FilterMessages, "x", keep)
		require.Equal(t, "x", d.ID())
		require.Equal(t, PointName("filter_messages"), d.Point().Name)
	})
	t.Run("all findings at once", func(t *testing.T) {
		_, err := NewRegistry([]Namespace{{Hooks: []Definition{Define(FilterMessages, "X", nil)}}}, &LifecycleOptions{Timeout: -1})
		var config *ConfigError
		require.ErrorAs(t, err, &config)
		require.Len(t, config.Diagnostics, 3)
	})
	t.Run("multiple hooks of the same type", func(t *testing.T) {
		c := composed(t, nil, Define(FilterMessages, "one", keep), Define(FilterMessages, "two", keep))
		require.Len(t, c.points[filterMessages], 2)
	})
}

// Issue 6: a wrong signature does not compile.
func TestWrongSignatureDoesNotCompile(t *testing.T) {
	for dir, fails := range map[string]bool{"right": false, "wrong": true, "otherpoint": true} {
		t.Run(dir, func(t *testing.T) {
			// Packages of the root module, which ./... passes over: with a go.mod
			// of their own, the go command would look for modules that a fresh
			// machine has never downloaded.
			cmd := exec.Command("go", "build", "-buildvcs=false", "-o", os.DevNull, "./testdata/badsignature/"+dir)
			cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOPROXY=off")
			out, err := cmd.CombinedOutput()
			if !fails {
				require.NoError(t, err, "%s", out)
				return
			}
			require.Error(t, err, "it compiles")
			require.Regexp(t, `does not match|cannot use|in call to hooks\.Define`, string(out))
		})
	}
}

// Seed 1.2, 3.3, 5.4: what only the author of a hook can do is said where
// authors read.
func TestAuthorDutiesAreDocumented(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "lifecycle.go", nil, parser.ParseComments)
	require.NoError(t, err)
	var doc strings.Builder
	for _, c := range f.Comments {
		doc.WriteString(strings.Join(strings.Fields(c.Text()), " ") + "\n")
	}
	for _, duty := range []string{
		"SHOULD be idempotent",
		"SHOULD NOT block longer than its timeout",
		"MUST NOT put sensitive data into logs or error messages",
		"MUST handle failures of services it calls",
		"MUST validate its input against the expected schema",
		"nil attachments keep the old ones, an empty slice drops them",
		"is a handler, not a hook",
		"it is not the way to build a side without a model",
		"Keep keeps the current one, which for the first hook is the original",
		"come from the reference runtime, not from the specification",
		"st.Execution() is nil",
	} {
		require.Contains(t, doc.String(), duty)
	}
}

// lifecycle.md: Change, the zero value is Keep, nil is never a signal.
func TestChange(t *testing.T) {
	_, replaces := Change[string]{}.Value()
	require.False(t, replaces)
	require.Equal(t, Change[string]{}, Keep[string]())
	v, replaces := Replace("").Value()
	require.True(t, replaces)
	require.Empty(t, v)
	p, replaces := Replace[[]Message](nil).Value()
	require.True(t, replaces)
	require.Nil(t, p)
}

// Seed 6.1 and 6.4; lifecycle.md: tool_calls stays a JSON string, an Extra map
// keeps unknown keys of a message.
func TestMessageJSON(t *testing.T) {
	calls := FormatToolCalls([]ToolCall{NewToolCall("c1", "f", `{"a":"<&>"}`)})
	require.Equal(t, `[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":\"<&>\"}"}}]`, calls)
	for name, text := range map[string]string{
		"all":     `{"id":"m","role":"assistant","content":null,"name":"n","tool_calls":"[1]","tool_call_id":"c","created_at":1700000000000,"parent_id":"p","depth":2,"silent":true,"big":12345678901234567890,"metadata":{"a":"&"}}`,
		"least":   `{"id":"m","role":"user","content":"","created_at":0}`,
		"folding": `{"id":"m","role":"user","content":"real","created_at":0,"Content":"shadow"}`,
	} {
		t.Run(name, func(t *testing.T) {
			var m Message
			require.NoError(t, json.Unmarshal([]byte(text), &m))
			out, err := m.MarshalJSON()
			require.NoError(t, err)
			require.Equal(t, text, string(out))
			m.Extra = map[string]json.RawMessage{"content": json.RawMessage(`"no"`)}
			out, err = m.MarshalJSON()
			require.NoError(t, err)
			require.NotContains(t, string(out), "no\"", "a field's key in Extra is not written")
		})
	}
	var m Message
	require.NoError(t, json.Unmarshal([]byte(`{"id":null,"name":null,"content":null}`), &m))
	require.Equal(t, Message{}, m)
	require.Error(t, json.Unmarshal([]byte(`{"created_at":"x"}`), &m))
	require.Error(t, json.Unmarshal([]byte(`[]`), &m))
	require.Error(t, m.SetExtra("k", func() {}))
	m = Message{Extra: map[string]json.RawMessage{"k": json.RawMessage("{")}}
	_, err := m.MarshalJSON()
	require.Error(t, err)

	l := `{"role":"assistant","content":null,"tool_calls":[{"id":"c1"}],"tool_call_id":"c","name":"n","cache":true}`
	var lm LLMMessage
	require.NoError(t, json.Unmarshal([]byte(l), &lm))
	out, err := lm.MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, l, string(out))
	require.Equal(t, "", lm.Text())
	lm.SetText("x")
	require.Equal(t, "x", lm.Text())
}

func TestMessageUpdate(t *testing.T) {
	m := textMessage(RoleUser, "old")
	require.NoError(t, m.SetExtra("a", 1))
	require.NoError(t, m.SetExtra("b", 1))
	var u MessageUpdate
	require.Equal(t, m, u.Apply(m), "the zero update changes nothing")
	_, ok := u.Text()
	require.False(t, ok)
	u.SetText("")
	u.Silent, u.Name, u.ToolCallID = Replace(true), Replace("n"), Replace("c")
	u.Extra = map[string]json.RawMessage{"a": nil, "c": json.RawMessage("3")}
	n := u.Apply(m)
	require.Equal(t, "", n.Text())
	require.True(t, n.Silent)
	require.Equal(t, map[string]json.RawMessage{"b": json.RawMessage("1"), "c": json.RawMessage("3")}, n.Extra)
	require.Equal(t, "old", m.Text(), "the message itself is left as it is")
	require.Len(t, m.Extra, 2)
	u = MessageUpdate{Content: Replace[*string](nil)}
	n = u.Apply(m)
	require.Nil(t, n.Content)
	require.NoError(t, u.SetExtra("new", "v"))
	empty := u.Apply(Message{})
	require.Len(t, empty.Extra, 1)
}

func TestToolResultForms(t *testing.T) {
	r := SuccessResult(`a "text"`)
	require.Equal(t, ToolResult{Result: json.RawMessage(`"a \"text\""`), Succeeded: true}, r.ToolResult())
	r = ErrorResult("broken")
	r.Stack = "secret stack"
	require.Equal(t, ToolResult{Result: json.RawMessage(`"broken"`)}, r.ToolResult())
	require.NoError(t, r.SetExtra("took", 3))
	r.Attachments = []Attachment{ToolAttachment{Name: "a.txt", Data: "\x00\xff"}, AttachmentRef{Path: "/b"}}
	m, err := ToolMessage(NewToolCall("c1", "f", "{}"), r)
	require.NoError(t, err)
	out, err := m.MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, `{"id":"","role":"tool","content":"broken","name":"f","tool_call_id":"c1","created_at":0,`+
		`"attachments":[{"name":"a.txt","data":"AP8="},{"path":"/b"}],"took":3}`, string(out))
	calls, err := ParseToolCalls("")
	require.NoError(t, err)
	require.Empty(t, calls)
	require.Empty(t, FormatToolCalls(nil))
	_, err = ParseToolCalls("{")
	require.Error(t, err)
	calls, err = ParseToolCalls(FormatToolCalls([]ToolCall{NewToolCall("c1", "f", "{}")}))
	require.NoError(t, err)
	require.Equal(t, []ToolCall{NewToolCall("c1", "f", "{}")}, calls)
}

// lifecycle.md, ThreadState and Execution; seed 2.1 and 2.2.
func TestThreadState(t *testing.T) {
	ctx := t.Context()
	created := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	th := &MemoryThread{
		ID: "t1", Agent: "a", User: "u", Created: created,
		Agents: map[string]AgentDef{"a": {Name: "a"}}, Prompts: map[string]PromptDef{"p": {Name: "p"}},
	}
	var st ThreadState = th
	require.Equal(t, []any{"t1", "a", "u", created}, []any{st.ThreadID(), st.AgentID(), st.UserID(), st.CreatedAt()})
	t.Run("loadAgent, loadPrompt", func(t *testing.T) {
		a, err := st.LoadAgent(ctx, st.AgentID())
		require.NoError(t, err)
		require.Equal(t, "a", a.Name)
		_, err = st.LoadAgent(ctx, "x")
		require.Error(t, err)
		_, err = st.LoadPrompt(ctx, "p")
		require.NoError(t, err)
		_, err = st.LoadPrompt(ctx, "x")
		require.Error(t, err)
	})
	t.Run("values and emit", func(t *testing.T) {
		require.NoError(t, st.SetValue(ctx, "k", json.RawMessage("1")))
		v, err := st.Value(ctx, "k")
		require.NoError(t, err)
		require.Equal(t, "1", string(v))
		require.Len(t, th.Values(), 1)
		require.NoError(t, st.SetValue(ctx, "k", nil))
		require.Empty(t, th.Values())
		require.NoError(t, st.Emit(ctx, "e", nil))
		require.Equal(t, []EmittedEvent{{Event: "e"}}, th.Emitted())
	})
	t.Run("messages", func(t *testing.T) {
		m, err := st.InjectMessage(ctx, textMessage(RoleUser, "x"))
		require.NoError(t, err)
		require.Equal(t, "m1", m.ID)
		u := MessageUpdate{}
		u.SetText("y")
		_, err = st.UpdateMessage(ctx, "m1", u)
		require.NoError(t, err)
		_, err = st.UpdateMessage(ctx, "m9", u)
		require.Error(t, err)
		_, err = st.InjectMessage(ctx, Message{ID: "m1"})
		require.Error(t, err)
		ms, err := st.Messages(ctx)
		require.NoError(t, err)
		require.Equal(t, []string{"y"}, texts(ms))
		ms[0].SetText("z")
		ms, _ = st.Messages(ctx)
		require.Equal(t, []string{"y"}, texts(ms), "the caller may change what it gets")
	})
	t.Run("execution is nil at rest", func(t *testing.T) {
		require.Nil(t, st.Execution())
		require.True(t, st.Execution() == nil)
	})
	t.Run("execution", func(t *testing.T) {
		abort, cancel := context.WithCancel(ctx)
		x := &MemoryExecution{Flow: "f", Side: SideA, History: []Message{textMessage(RoleUser, "h")}, Prompts: []string{"p"}, Ctx: abort}
		require.Equal(t, context.Background(), (&MemoryExecution{}).Context())
		th.Begin(x)
		e := st.Execution()
		x.Step()
		x.Step()
		e.ForceTurn(SideB)
		x.Step()
		require.Equal(t, []any{"f", SideB, 3, 2, 1}, []any{e.FlowID(), e.CurrentSide(), e.StepCount(), e.SideStepCount(SideA), e.SideStepCount(SideB)})
		h := e.MessageHistory()
		h[0].SetText("changed")
		require.Equal(t, []string{"h"}, texts(e.MessageHistory()), "messageHistory gives fresh copies")
		require.Equal(t, []string{"p"}, e.PromptPath())
		require.False(t, e.Stopped())
		e.Stop()
		e.ForceTurn(SideA)
		e.Stop()
		require.True(t, e.Stopped())
		require.Equal(t, SideB, e.StoppedBy())
		require.NoError(t, e.Context().Err())
		cancel()
		require.Error(t, e.Context().Err(), "the abort signal")
		th.Begin(nil)
		require.True(t, st.Execution() == nil)
	})
}

// lifecycle.md: errors of hooks go to the caller wrapped with point and id.
func TestHookError(t *testing.T) {
	cause := errors.New("cause")
	err := &HookError{Point: "p", ID: "i", Failure: &Failure{Kind: FailureError, Message: "cause", Err: cause}}
	require.EqualError(t, err, `hooks: p hook "i": error: cause`)
	require.ErrorIs(t, err, cause)
	require.EqualError(t, &BlockError{Reason: "r"}, "blocked: r")
}
