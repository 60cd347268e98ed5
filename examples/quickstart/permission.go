package main

import (
	"slices"

	"github.com/hookruntime/hooks"
)

// leave is whether a call may run.
type leave int

const (
	refused    leave = iota
	atOnce           // without a pause
	afterPause       // the user was asked and agreed
)

// permit joins what the hooks decided with the host's own rules. The order is
// what makes hooks worth having: a block of theirs holds whatever the host's
// rules say, then their question, and only then an allow, which spares the
// call the host's rules if it came from a tier that the host trusts that far.
// The text is what the model is told of a
// refusal.
func (l *loop) permit(d *hooks.Decision, t *tool) (leave, string) {
	switch d.Outcome {
	case hooks.OutcomeAsk: // never in a child, where it is a deny
		return l.ask(d.Question)
	case hooks.OutcomeAllow:
		if slices.ContainsFunc(d.Allows, trusted) {
			l.transcript.line("the host's own rule is not applied: %s allows the call", d.By)
			return atOnce, ""
		}
		l.transcript.line("the allow of %s counts as a pass: the host trusts only the system tier", d.By)
	case hooks.OutcomePass:
	default:
		return refused, d.ForModel()
	}

	// The host's own rules: here, some tools need approval.
	switch {
	case !t.needsApproval:
		return atOnce, ""
	case !l.child:
		return l.ask("Run this command?")
	case l.mode == "Autonomous":
		return atOnce, ""
	}
	return refused, "This call needs approval, which a sub-agent cannot get."
}

func trusted(h hooks.HookRef) bool { return h.Tier == hooks.TierSystem }

func (l *loop) ask(question string) (leave, string) {
	if l.user(question) {
		return afterPause, ""
	}
	return refused, "The user declined this call."
}
