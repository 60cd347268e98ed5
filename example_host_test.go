package hooks_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hookruntime/hooks"
)

// verdict is what a host makes of a call.
type verdict string

const (
	run   verdict = "run it"
	pause verdict = "pause and ask the user"
	block verdict = "do not run it"
)

// permit joins the decision of the PreToolUse hooks with the rule that the host
// itself has for the call. A hook's deny, reject and ask come first. An allow
// takes the place of the host's rule only if it came from a tier that the host
// trusts that far; any other is a pass, and a pass leaves the call to the rule.
func permit(d *hooks.Decision, rule verdict) verdict {
	switch d.Outcome {
	case hooks.OutcomeAsk: // never in a child, where it is a deny
		return pause
	case hooks.OutcomeAllow:
		if slices.ContainsFunc(d.Allows, func(h hooks.HookRef) bool { return h.Tier == hooks.TierSystem }) {
			return run
		}
		return rule
	case hooks.OutcomePass:
		return rule
	}
	return block // also undecided, which is the Decision beside an error
}

// The order of precedence between hooks and a host's own permission rules.
func ExampleDecision_permission() {
	byUser := on(hooks.OnPreToolUse, "mine", hooks.Allow())
	byUser.Tier = hooks.TierUserGlobal
	for _, c := range []struct {
		hook hooks.Hook
		rule verdict
	}{
		{on(hooks.OnPreToolUse, "guard", hooks.Deny("Not here.")), run},
		{on(hooks.OnPreToolUse, "guard", hooks.Reject("Not yet.")), run},
		{on(hooks.OnPreToolUse, "careful", hooks.Ask("Sure?")), block},
		{on(hooks.OnPreToolUse, "platform", hooks.Allow()), pause},
		{byUser, pause},
		{on(hooks.OnPreToolUse, "quiet", hooks.Pass()), block},
	} {
		d := decide(readNotes(), c.hook)
		fmt.Printf("%s by %s, rule %q: %s\n", d.Outcome, c.hook.Tier, c.rule, permit(&d, c.rule))
	}
	fmt.Printf("an error: %s\n", permit(new(hooks.Decision), run))
	// Output:
	// deny by system, rule "run it": do not run it
	// reject by system, rule "run it": do not run it
	// ask by system, rule "do not run it": pause and ask the user
	// allow by system, rule "pause and ask the user": run it
	// allow by user-global, rule "pause and ask the user": pause and ask the user
	// pass by system, rule "do not run it": do not run it
	// an error: do not run it
}

// A call that waited for the user goes on with Resumed: its PreToolUse hooks do
// not run again, and what they handed on is gone. The host stores the call and
// the thread's switches; a call that did not wait goes on with Returned and
// what Carry gave.
func ExamplePreToolUse_Resumed_afterAsk() {
	careful := on(hooks.OnPreToolUse, "careful", hooks.Ask("Read it?"))
	call := readNotes()
	d := decide(call, careful)
	stored, err := hooks.EncodeEvent(call)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Outcome, d.Question, len(d.Carry().Metadata))

	// Later, perhaps in another process, the user agrees and the tool runs.
	ev, err := hooks.ParseEvent(stored)
	if err != nil {
		fmt.Println(err)
		return
	}
	post := ev.(*hooks.PreToolUse).Resumed(hooks.ToolResult{Result: json.RawMessage(`"# Notes"`), Succeeded: true})
	d = decide(post, careful, on(hooks.OnPostToolUse, "after", hooks.Pass().WithContext("The user agreed to this.")))
	fmt.Println(d.Outcome, d.Context)
	// Output:
	// ask Read it? 0
	// pass The user agreed to this.
}

// A child's loop says so in every event. It runs the hooks of the system and of
// the user on tool events, and its own; nobody answers its questions. A result
// that would need approval is withheld: the model is told only that.
func ExampleDecision_inChild() {
	careful := on(hooks.OnPostToolUse, "careful", hooks.Ask("Show it?").WithContext("It holds names."))
	parents := on(hooks.OnPostToolUse, "parents", hooks.Deny("Of the parent only."))
	parents.Tier, parents.Agent = hooks.TierAgent, "parent"

	call := readNotes()
	call.Agent, call.Child = "helper", true
	d := decide(call.Returned(hooks.ToolResult{Result: json.RawMessage(`"# Notes"`), Succeeded: true}, hooks.Carried{}), parents, careful)
	fmt.Println(d.Outcome, d.By, d.Withheld, d.Context == "")
	fmt.Println(d.ForModel())
	// Output:
	// deny careful true true
	// Tool executed, but its output was withheld as it needs user approval. Try to find an alternative approach.
}
