package hooks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hookruntime/hooks"
)

// on returns a hook of the system tier that always says the same.
func on(event hooks.EventName, name string, says hooks.Result) hooks.Hook {
	return hooks.Hook{
		Name: name, On: event, Tier: hooks.TierSystem, Matcher: "*",
		Run: hooks.Func(func(context.Context, hooks.Call) (hooks.Result, error) { return says, nil }),
	}
}

// decide evaluates one event with these hooks.
func decide(ev hooks.Event, hs ...hooks.Hook) hooks.Decision {
	rt, err := hooks.New(hs, nil)
	if err != nil {
		panic(err)
	}
	d, err := rt.Evaluate(context.Background(), ev)
	if err != nil {
		panic(err)
	}
	return d
}

// readNotes is a tool call.
func readNotes() *hooks.PreToolUse {
	return &hooks.PreToolUse{
		ToolName:  "ReadFile",
		ToolInput: json.RawMessage(`{"filePath":"notes.md"}`),
		CallID:    "call-1",
	}
}

func ExampleNew() {
	guard := hooks.Hook{
		Name: "guard", Tier: hooks.TierSystem, On: hooks.OnPreToolUse, Matcher: "RunInTerminal",
		FailMode: hooks.FailBlock,
		Run:      hooks.Command{Line: `! grep -q 'rm -rf' || { echo "Nothing is deleted here." >&2; exit 2; }`},
	}
	_, err := hooks.New([]hooks.Hook{guard}, &hooks.Options{Conduct: hooks.Hardened})
	fmt.Println(err)

	// All that is wrong is told at once.
	guard.Tier, guard.On = 0, "BeforeTool"
	_, err = hooks.New([]hooks.Hook{guard}, nil)
	fmt.Println(err)
	// Output:
	// <nil>
	// hooks: error: hook "guard": tier is not set; it must be TierSystem, TierAgent or TierUserGlobal
	// error: hook "guard": unknown event "BeforeTool"; the events are Start, PreToolUse, PostToolUse and Stop
}

func ExampleRuntime_Evaluate() {
	rt, err := hooks.New([]hooks.Hook{{
		Name: "guard", Tier: hooks.TierSystem, On: hooks.OnPreToolUse, Matcher: "RunInTerminal",
		Run: hooks.Command{Line: `! grep -q 'rm -rf' || { echo "Nothing is deleted here." >&2; exit 2; }`},
	}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, input := range []string{`{"command":"ls"}`, `{"command":"rm -rf ."}`} {
		d, err := rt.Evaluate(context.Background(), &hooks.PreToolUse{ToolName: "RunInTerminal", ToolInput: json.RawMessage(input)})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %s %q\n", input, d.Outcome, d.Reason)
	}
	// Output:
	// {"command":"ls"}: pass ""
	// {"command":"rm -rf ."}: reject "Nothing is deleted here."
}

// A plan runs nothing. It tells what would run, and why the rest would not.
func ExampleRuntime_Plan() {
	terminal := on(hooks.OnPreToolUse, "terminal", hooks.Pass())
	terminal.Matcher = "RunInTerminal"
	rt, err := hooks.New([]hooks.Hook{
		on(hooks.OnPreToolUse, "everything", hooks.Pass()),
		terminal,
		on(hooks.OnStop, "farewell", hooks.Pass()),
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := rt.Plan(readNotes())
	if err != nil {
		fmt.Println(err)
		return
	}
	for s := range plan.Steps() {
		fmt.Printf("%s: %s, %s\n", s.Hook, s.Fate, s.Why)
	}
	// Output:
	// everything: planned, would run
	// terminal: no-match, matcher "RunInTerminal" does not match "ReadFile"
	// farewell: other-event, listens to Stop
}

// A hook under an existing name replaces the old one as a whole.
func ExampleRuntime_With() {
	before, err := hooks.New([]hooks.Hook{on(hooks.OnPreToolUse, "guard", hooks.Deny("closed"))}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	after, err := before.With(on(hooks.OnPreToolUse, "guard", hooks.Pass()))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, rt := range []*hooks.Runtime{before, after} {
		d, err := rt.Evaluate(context.Background(), readNotes())
		fmt.Println(len(rt.Hooks()), d.Outcome, err)
	}
	// Output:
	// 1 deny <nil>
	// 1 pass <nil>
}

// Captured input can be replayed, to try a policy on what really happened.
func ExampleParseEvent() {
	captured := `{"hook_event_name":"PostToolUse","agent_name":"meta_agent","current_turn":3,"max_turns":250,
		"execution_summary":null,"tool_name":"ReadFile","tool_input":{"filePath":"notes.md"},
		"tool_result":"# Notes","tool_succeeded":true,"call_id":"call-1","contoso_class":"reference"}`
	ev, err := hooks.ParseEvent([]byte(captured))
	if err != nil {
		fmt.Println(err)
		return
	}
	post := ev.(*hooks.PostToolUse)
	fmt.Println(post.Agent, post.Turn, post.ToolName, string(post.ToolInput))
	fmt.Println(string(post.Metadata.Get("contoso_class")))
	// Output:
	// meta_agent 3 ReadFile {"filePath":"notes.md"}
	// "reference"
}

// EncodeEvent shows what a command hook reads on stdin.
func ExampleEncodeEvent() {
	input, err := hooks.EncodeEvent(&hooks.Stop{Common: hooks.Common{Agent: "meta_agent", Turn: 4, MaxTurns: 250}})
	fmt.Print(string(input), err)
	// Output:
	// {"hook_event_name":"Stop","agent_name":"meta_agent","current_turn":4,"max_turns":250,"execution_summary":null,"stop_hook_active":false,"stop_rejection_count":0,"final_output":null}
	// <nil>
}

// Explain answers "why did my hook not fire?".
func ExampleDecision_Explain() {
	terminal := on(hooks.OnPreToolUse, "terminal", hooks.Pass())
	terminal.Matcher = "RunInTerminal"
	helpers := on(hooks.OnPreToolUse, "helpers", hooks.Pass())
	helpers.Tier, helpers.Agent = hooks.TierAgent, "helper"
	strict := on(hooks.OnPreToolUse, "strict", hooks.Pass())
	strict.Tier, strict.OnDemand = hooks.TierUserGlobal, true

	d := decide(readNotes(), terminal, helpers, strict)
	fmt.Print(d.Explain())
	// Output:
	// PreToolUse ReadFile: pass
	//   HOOK            TIER         TYPE  FATE          SAID  TIME  WHY
	//   terminal        system       func  no-match      -           matcher "RunInTerminal" does not match "ReadFile"
	//   helper:helpers  agent        func  out-of-scope  -           belongs to agent "helper"; this loop is ""
	//   strict          user-global  func  inactive      -           on demand, and not activated in this thread
}

// What the model is told in place of a result, or as a reason to go on.
func ExampleDecision_ForModel() {
	deny := hooks.Deny("Not here.")
	for _, d := range []hooks.Decision{
		decide(readNotes(), on(hooks.OnPreToolUse, "guard", deny)),
		decide(readNotes().Returned(hooks.ToolResult{Succeeded: true}, hooks.Carried{}), on(hooks.OnPostToolUse, "guard", deny)),
		decide(&hooks.Stop{}, on(hooks.OnStop, "guard", deny)),
		decide(readNotes(), on(hooks.OnPreToolUse, "guard", hooks.Pass())),
	} {
		fmt.Printf("%s %s: %q\n", d.Event, d.Outcome, d.ForModel())
	}
	// Output:
	// PreToolUse deny: "[Tool execution blocked] Not here."
	// PostToolUse deny: "[Tool result blocked by hook] [Hook Blocked Tool Result] Not here."
	// Stop reject: "Not here."
	// PreToolUse pass: ""
}

// Metadata of a PreToolUse hook reaches the PostToolUse hooks of the same call.
// What travels is plain JSON.
func ExampleDecision_Carry() {
	classified := hooks.Pass()
	if err := classified.Metadata.Add("contoso_class", "reference"); err != nil {
		fmt.Println(err)
		return
	}
	before := decide(readNotes(), on(hooks.OnPreToolUse, "classify", classified))

	stored, _ := json.Marshal(before.Carry())
	var carried hooks.Carried
	if err := json.Unmarshal(stored, &carried); err != nil {
		fmt.Println(err)
		return
	}
	post := readNotes().Returned(hooks.ToolResult{Result: json.RawMessage(`"# Notes"`), Succeeded: true}, carried)
	input, _ := hooks.EncodeEvent(post)
	_, ours, _ := strings.Cut(string(input), `"call_id":"call-1",`)
	fmt.Print(ours)
	// Output:
	// "contoso_class":"reference"}
}

func ExamplePreToolUse_Returned() {
	result := hooks.ToolResult{Result: json.RawMessage(`"# Notes"`), Succeeded: true}
	post := readNotes().Returned(result, hooks.Carried{})
	fmt.Println(post.ToolName, post.CallID, string(post.ToolResult), post.ToolSucceeded)
	// Output:
	// ReadFile call-1 "# Notes" true
}

// A call that was paused for the user's approval goes on without PreToolUse
// hooks and without their metadata. In Contract conduct the turn is unknown.
func ExamplePreToolUse_Resumed() {
	paused := readNotes()
	paused.Turn, paused.MaxTurns = 7, 50
	post := paused.Resumed(hooks.ToolResult{Result: json.RawMessage(`"# Notes"`), Succeeded: true})
	input, err := hooks.EncodeEvent(post)
	fmt.Print(string(input), err)
	// Output:
	// {"hook_event_name":"PostToolUse","agent_name":"","current_turn":0,"max_turns":250,"execution_summary":null,"tool_name":"ReadFile","tool_input":{"filePath":"notes.md"},"tool_result":"# Notes","tool_succeeded":true,"call_id":"call-1"}
	// <nil>
}

// strictJudge is a model that is never content.
type strictJudge struct{}

func (strictJudge) Answer(context.Context, hooks.ModelRequest) (hooks.ModelAnswer, error) {
	return hooks.ModelAnswer{Text: `{"ok": false, "reason": "Say more."}`}, nil
}

// The state goes from one Stop event of a run to the next, so that prompt hooks
// cannot keep the agent running for ever.
func ExampleDecision_NextStop() {
	rt, err := hooks.New([]hooks.Hook{{
		Name: "judge", Tier: hooks.TierSystem, On: hooks.OnStop,
		Run: hooks.Prompt{Text: `Is final_output complete? Answer {"ok": true} or {"ok": false, "reason": "…"}. $ARGUMENTS`, MaxRejections: 2},
	}}, &hooks.Options{Model: strictJudge{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var state hooks.StopState
	for {
		d, err := rt.Evaluate(context.Background(), &hooks.Stop{StopState: state})
		if err != nil {
			fmt.Println(err)
			return
		}
		state = d.NextStop()
		fmt.Printf("%s %+v\n", d.Outcome, state)
		if !d.Blocks() {
			return
		}
	}
	// Output:
	// reject {Active:true RejectionCount:1}
	// reject {Active:true RejectionCount:2}
	// pass {Active:true RejectionCount:2}
}

// Pass is "no objection": the host's own permission rules still apply.
func ExamplePass() {
	d := decide(readNotes(), on(hooks.OnPreToolUse, "notes", hooks.Pass().WithContext("Notes are reference material.")))
	fmt.Println(d.Outcome, d.Blocks(), d.Context)
	// Output:
	// pass false Notes are reference material.
}

// Rejections add up. They do not end the chain; in Contract conduct a later ask
// even takes their place.
func ExampleReject() {
	d := decide(readNotes(),
		on(hooks.OnPreToolUse, "first", hooks.Reject("Too early.")),
		on(hooks.OnPreToolUse, "second", hooks.Reject("Too large.")))
	fmt.Printf("%s by %s: %q\n", d.Outcome, d.By, d.Reason)

	d = decide(readNotes(),
		on(hooks.OnPreToolUse, "first", hooks.Reject("Too early.")),
		on(hooks.OnPreToolUse, "second", hooks.Ask("Read it all the same?")))
	fmt.Printf("%s by %s: %q\n", d.Outcome, d.By, d.Question)
	// Output:
	// reject by first: "Too early.\nToo large."
	// ask by second: "Read it all the same?"
}

// A deny holds: it ends the chain, so nothing behind it can soften it.
func ExampleDeny() {
	d := decide(readNotes(),
		on(hooks.OnPreToolUse, "guard", hooks.Deny("Not here.")),
		on(hooks.OnPreToolUse, "eager", hooks.Ask("Read it all the same?")))
	for s := range d.Steps() {
		fmt.Printf("%s: %s, %s\n", s.Hook, s.Fate, s.Why)
	}
	// Output:
	// guard: ran, decided deny
	// eager: not-reached, not reached: guard ended the chain with deny
}

// An ask blocks until somebody has answered. Where nobody can, it is a deny.
func ExampleAsk() {
	ask := on(hooks.OnPreToolUse, "careful", hooks.Ask("Read it?"))
	d := decide(readNotes(), ask)
	fmt.Println(d.Outcome, d.Question, d.Blocks())

	inChild := readNotes()
	inChild.Child = true
	d = decide(inChild, ask)
	fmt.Println(d.Outcome, d.Reason, d.Blocks())
	// Output:
	// ask Read it? true
	// deny Read it? true
}

// An allow lets a host skip its own permission rules. Whose allow is worth that
// much is for the host to say: the tiers are listed.
func ExampleAllow() {
	byUser := on(hooks.OnPreToolUse, "mine", hooks.Allow())
	byUser.Tier = hooks.TierUserGlobal
	d := decide(readNotes(), byUser)
	trusted := false
	for _, h := range d.Allows {
		trusted = trusted || h.Tier == hooks.TierSystem
	}
	fmt.Println(d.Outcome, d.Allows[0].Tier, trusted)
	// Output:
	// allow user-global false
}

// Records tell of hooks, not of what the agent does: none holds tool input,
// tool result or prompt.
func ExampleOptions_observe() {
	rt, err := hooks.New([]hooks.Hook{on(hooks.OnPreToolUse, "guard", hooks.Deny("Not here."))}, &hooks.Options{
		Observe: func(_ context.Context, r hooks.Record) {
			switch r := r.(type) {
			case hooks.StartedRecord:
				fmt.Println("started:", r.HookName, r.Tier, r.ToolName)
			case hooks.ExecutionRecord:
				fmt.Println("execution:", r.HookName, r.Decision, r.Reason)
			case hooks.EvaluationRecord:
				fmt.Println("evaluation:", r.HookEventType, r.FinalDecision, r.HooksRun)
			}
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := rt.Evaluate(context.Background(), readNotes()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// started: guard system ReadFile
	// execution: guard deny Not here.
	// evaluation: PreToolUse deny 1
}

// Hooks that a user configured run only when they are trusted; they stay
// visible all the same.
func ExampleOptions_trust() {
	found := on(hooks.OnPreToolUse, "from-repository", hooks.Allow())
	found.Tier = hooks.TierUserGlobal
	rt, err := hooks.New([]hooks.Hook{found}, &hooks.Options{
		Trust: func(h *hooks.Hook) error {
			if h.Tier == hooks.TierUserGlobal {
				return errors.New("nobody has looked at it yet")
			}
			return nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := rt.Evaluate(context.Background(), readNotes())
	if err != nil {
		fmt.Println(err)
		return
	}
	for s := range d.Steps() {
		fmt.Println(d.Outcome, s.Hook, s.Fate, s.Why)
	}
	// Output:
	// pass from-repository untrusted not trusted: nobody has looked at it yet
}
