package hooks_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/hookruntime/hooks"
)

// lastTwo is a history limiter.
var lastTwo = hooks.Define(hooks.FilterMessages, "last_two",
	func(_ context.Context, _ hooks.ThreadState, msgs []hooks.Message, _ hooks.HookContext) ([]hooks.Message, error) {
		return msgs[max(0, len(msgs)-2):], nil
	})

// compose returns the composition of a prompt that lists the hooks.
func compose(opts *hooks.LifecycleOptions, defs ...hooks.Definition) *hooks.Composition {
	reg, err := hooks.NewRegistry([]hooks.Namespace{{Hooks: defs}}, opts)
	if err != nil {
		panic(err)
	}
	prompt := hooks.PromptDef{Name: "support"}
	for _, d := range defs {
		prompt.Hooks = append(prompt.Hooks, d.ID())
	}
	c, err := reg.Compose(context.Background(), hooks.Parent{Agent: hooks.AgentDef{Name: "agent"}, Prompt: &prompt})
	if err != nil {
		panic(err)
	}
	return c
}

// say adds a message to a thread.
func say(th *hooks.MemoryThread, role hooks.Role, text string) {
	if _, err := th.InjectMessage(context.Background(), hooks.Message{Role: role, Content: &text}); err != nil {
		fmt.Println(err)
	}
}

// The right signature for a point; any other does not compile.
func ExampleDefine() {
	d := hooks.Define(hooks.AfterToolCallFailure, "explain_timeouts",
		func(_ context.Context, _ hooks.ThreadState, c hooks.ToolCall, r hooks.CallResult, _ hooks.HookContext) (hooks.Change[hooks.CallResult], error) {
			if !strings.Contains(r.Error, "deadline") {
				return hooks.Keep[hooks.CallResult](), nil
			}
			r.Error = c.Function.Name + " took too long; try a smaller question"
			return hooks.Replace(r), nil
		})
	p := d.Point()
	fmt.Println(d.ID(), p.Name, p.Kind, p.Flow, p.MayVeto())
	// Output: explain_timeouts after_tool_call_failure transform waterfall false
}

func ExamplePoints() {
	for _, p := range hooks.Points() {
		if p.MayVeto() {
			fmt.Println(p.Name, p.Veto)
		}
	}
	// Output:
	// prefilter_llm_history block
	// before_create_message error
	// before_update_message error
}

func ExampleNewRegistry() {
	_, err := hooks.NewRegistry([]hooks.Namespace{{Hooks: []hooks.Definition{
		hooks.Define(hooks.FilterMessages, "Last-Two", nil),
	}}}, nil)
	fmt.Println(err)
	// Output:
	// hooks: error: hook "Last-Two": the id is not snake_case: lower-case words of letters and digits, beginning with a letter, joined by one underscore
	// error: hook "Last-Two": its function is nil
}

func ExampleRegistry_Compose() {
	note := func(id string) hooks.Definition {
		return hooks.Define(hooks.AfterThreadCreated, id, func(context.Context, hooks.ThreadState, hooks.HookContext) error { return nil })
	}
	reg, err := hooks.NewRegistry([]hooks.Namespace{
		{Hooks: []hooks.Definition{note("audit")}},
		{Package: "acme/billing", Hooks: []hooks.Definition{note("mask_cards"), note("bill")}},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	billing := hooks.AgentDef{Name: "billing", Package: "acme/billing", ParentHooks: []hooks.ChildHook{
		{Hook: "bill", Reason: "counts threads"},
		{Hook: "mask_cards", Reason: "cards stay out of threads", Stage: hooks.StageBeforeParent},
	}}
	c, err := reg.Compose(context.Background(), hooks.Parent{
		Agent:         hooks.AgentDef{Name: "support"},
		Prompt:        &hooks.PromptDef{Name: "main", Hooks: []string{"audit", "no_such_hook"}},
		Relationships: []hooks.Relationship{{As: "pay", Agent: billing, Hidden: true}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for h := range c.Hooks() {
		fmt.Println(h.Point, h.ID, "from", h.Source)
	}
	for _, w := range c.Warnings() {
		fmt.Println("warning:", &w)
	}
	// Output:
	// after_thread_created mask_cards from child pay (agent billing) of acme/billing
	// after_thread_created audit from prompt main
	// after_thread_created bill from child pay (agent billing) of acme/billing
	// warning: hook "no_such_hook" of prompt main: there is no such hook
}

func ExampleCompositionError() {
	reg, _ := hooks.NewRegistry([]hooks.Namespace{{Package: "acme/billing"}}, nil)
	child := hooks.AgentDef{Name: "billing", Package: "acme/billing", ParentHooks: []hooks.ChildHook{{Hook: "mask_cards", Reason: "no cards"}}}
	_, err := reg.Compose(context.Background(), hooks.Parent{
		Prompt: &hooks.PromptDef{Name: "main"}, Relationships: []hooks.Relationship{{Agent: child}},
	})
	fmt.Println(errors.Is(err, hooks.CauseMissing))
	fmt.Println(err)
	// Output:
	// true
	// hooks: hook "mask_cards" of child billing of acme/billing: there is no such hook
}

func ExampleComposition_Assemble() {
	th := &hooks.MemoryThread{ID: "t1"}
	say(th, hooks.RoleUser, "Hello")
	say(th, hooks.RoleAssistant, "Hello!")
	say(th, hooks.RoleUser, "What is new?")

	request, err := compose(nil, lastTwo).Assemble(context.Background(), th, "Be brief.")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range request.Messages {
		fmt.Printf("%s: %s\n", m.Role, m.Text())
	}
	// Output:
	// system: Be brief.
	// assistant: Hello!
	// user: What is new?
}

func ExampleBlockError() {
	gate := hooks.Define(hooks.PrefilterLLMHistory, "no_passwords",
		func(_ context.Context, _ hooks.ThreadState, msgs []hooks.LLMMessage, _ hooks.HookContext) ([]hooks.LLMMessage, error) {
			for _, m := range msgs {
				if strings.Contains(m.Text(), "password") {
					return nil, &hooks.BlockError{Reason: "a password must not leave the house"}
				}
			}
			return msgs, nil
		})
	th := &hooks.MemoryThread{ID: "t1"}
	say(th, hooks.RoleUser, "my password is 1234")
	_, err := compose(nil, gate).Assemble(context.Background(), th, "")
	var block *hooks.BlockError
	fmt.Println(errors.As(err, &block), block.Reason)
	// Output: true a password must not leave the house
}

func ExampleGateway_Create() {
	short := hooks.Define(hooks.BeforeCreateMessage, "short_messages",
		func(_ context.Context, _ hooks.ThreadState, m hooks.Message, _ hooks.HookContext) (hooks.Message, error) {
			if len(m.Text()) > 10 {
				return m, errors.New("too long")
			}
			m.SetText(strings.ToUpper(m.Text()))
			return m, nil
		})
	store := &hooks.MemoryStore{}
	gateway := compose(nil, short).Gateway(&hooks.MemoryThread{ID: "t1"}, store)
	for _, text := range []string{"hello", "a long message"} {
		m, err := gateway.Create(context.Background(), hooks.Message{Role: hooks.RoleUser, Content: &text})
		fmt.Println(m.ID, m.Text(), err)
	}
	// Output:
	// m1 HELLO <nil>
	//   hooks: before_create_message hook "short_messages": error: too long
}

func ExampleTracker_Run() {
	card := regexp.MustCompile(`\b\d{4}[-\s]?\d{4}[-\s]?\d{4}[-\s]?\d{4}\b`)
	redact := hooks.Define(hooks.BeforeStoreToolResult, "redact_credit_cards",
		func(_ context.Context, _ hooks.ThreadState, _ hooks.ToolCall, r hooks.CallResult, _ hooks.HookContext) (hooks.CallResult, error) {
			r.Result = card.ReplaceAllString(r.Result, "****-****-****-****")
			r.Error = card.ReplaceAllString(r.Error, "****-****-****-****")
			return r, nil
		})
	c := compose(&hooks.LifecycleOptions{Withhold: true}, redact)
	tracker := c.Tracker(c.Gateway(&hooks.MemoryThread{ID: "t1"}, &hooks.MemoryStore{}))

	call := hooks.NewToolCall("c1", "lookup", `{"customer":7}`)
	m, err := tracker.Run(context.Background(), call, hooks.CallSteps{
		Execute: func(context.Context, hooks.ToolCall) (hooks.CallResult, error) {
			return hooks.SuccessResult("paid with 4111-1111-1111-1111"), nil
		},
	})
	fmt.Println(m.Role, m.ToolCallID, m.Text(), err)
	_, err = tracker.Run(context.Background(), call, hooks.CallSteps{})
	fmt.Println(errors.Is(err, hooks.ErrCallDone))
	// Output:
	// tool c1 paid with ****-****-****-**** <nil>
	// true
}

func ExampleTracker_Stream() {
	show := hooks.Define(hooks.ToolCallStarted, "show",
		func(_ context.Context, _ hooks.ThreadState, c hooks.ToolCall, progress *string, _ hooks.HookContext) error {
			if progress != nil {
				fmt.Println(c.Function.Name, *progress)
			}
			return nil
		})
	c := compose(&hooks.LifecycleOptions{ProgressArgument: func(string) string { return "path" }}, show)
	tracker := c.Tracker(c.Gateway(&hooks.MemoryThread{ID: "t1"}, &hooks.MemoryStore{}))
	for _, piece := range []string{`{"path":"ind`, `ex.html","cont`, `ent":"<html>`} {
		fmt.Printf("%q\n", piece)
		if err := tracker.Stream(context.Background(), hooks.ToolCallDelta{ID: "c1", Name: "write", Arguments: piece}); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// "{\"path\":\"ind"
	// "ex.html\",\"cont"
	// write index.html
	// "ent\":\"<html>"
}

// A hook can be tested by itself, as the function it is.
func ExampleMemoryThread() {
	greet := func(ctx context.Context, st hooks.ThreadState, _ hooks.HookContext) error {
		text := "Welcome, " + st.UserID()
		_, err := st.InjectMessage(ctx, hooks.Message{Role: hooks.RoleAssistant, Content: &text})
		return err
	}
	th := &hooks.MemoryThread{ID: "t1", User: "ada"}
	err := greet(context.Background(), th, hooks.HookContext{Source: hooks.AgentSource{AgentName: "support"}})
	msgs, _ := th.Messages(context.Background())
	fmt.Println(msgs[0].Text(), err)
	// Output: Welcome, ada <nil>
}

func ExampleMessage_SetExtra() {
	m := hooks.Message{Role: hooks.RoleUser}
	m.SetText("hello")
	if err := m.SetExtra("metadata", map[string]int{"step": 3}); err != nil {
		fmt.Println(err)
	}
	data, err := m.MarshalJSON()
	fmt.Println(string(data), err)
	// Output: {"id":"","role":"user","content":"hello","created_at":0,"metadata":{"step":3}} <nil>
}
