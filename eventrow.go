package hooks

import (
	"fmt"
	"strings"
)

// effect is what an event makes of one thing that a hook can say.
type effect uint8

const (
	deaf     effect = iota // said, but the event does not hear it
	heard                  // decides as it says
	asReject               // counts as a plain rejection
	asDeny                 // is a deny
	mutes                  // decides nothing, but suppresses the event's context (ST-2)
)

// eventRow is what the engine knows of an event. There is no other place where
// one event is treated differently from another.
type eventRow struct {
	name  EventName
	index int          // in eventRows
	blank func() Event // a new one, to be read into

	tool         bool // has a tool name, which matchers select by (MAT-1)
	inherited    bool // a child runs the system and user-global hooks (SUB-1)
	promptsFirst bool // two chains: prompts, then the others (AGG-10)
	ending       bool // a rejection keeps a loop running; a stop lets it end
	toUser       bool // a block is told to the user, not to the model

	wrap         [2]string // by Conduct: stands before a block's reason (TXT-1, TXT-2, QRK-7)
	askInChild   string    // TXT-4: stands for reason and text of an ask that cannot be asked
	marksAllower bool      // an allow leaves its hook's name in the metadata (MD-4)

	terms [dialectCount]eventTerms // zero: the event does not exist in the dialect
}

// eventTerms is what an event is in one dialect.
type eventTerms struct {
	spelled string   // in payloads, files and answers
	aliases []string // other spellings in files

	matcherRequired bool // a hook without a matcher is refused (CFG-4)
	sources         bool // hooks may be limited to thread sources (ST-3)
	guarded         bool // FailUnset blocks in Hardened conduct (QRK-10)
	beginning       bool // no turn and no trajectory yet: written as 0 and null (IN-2)
	successOnly     bool // hooks run only after a tool that succeeded

	reject, deny, ask, allow effect

	needsReason bool // a rejection without a reason is ignored
	joinReasons bool // the reasons of all rejections, each once; else the first
	resultStays bool // a rejection is a note beside the tool's result

	context, metadata, input bool // whether the event delivers context and metadata, and takes another tool input
}

func (t *eventTerms) exists() bool { return t.spelled != "" }

// The places of the events in eventRows.
const (
	rowStart = iota
	rowUserPromptSubmit
	rowPreToolUse
	rowPostToolUse
	rowPreCompact
	rowSubagentStart
	rowSubagentStop
	rowStop
)

// eventRows is the table of the events. It is never written to.
var eventRows = [...]eventRow{
	{
		name: OnStart, index: rowStart, blank: func() Event { return &Start{} },
		terms: [dialectCount]eventTerms{
			HookContract: {spelled: "Start", sources: true, beginning: true, deny: mutes, ask: mutes, allow: mutes, context: true},
			VSCode:       {spelled: "SessionStart", aliases: []string{"sessionStart"}, context: true},
		},
	},
	{
		name: OnUserPromptSubmit, index: rowUserPromptSubmit, blank: func() Event { return &UserPromptSubmit{} },
		inherited: true, toUser: true,
		terms: [dialectCount]eventTerms{
			VSCode: {spelled: "UserPromptSubmit", aliases: []string{"userPromptSubmitted"}, reject: heard, deny: asReject},
		},
	},
	{
		name: OnPreToolUse, index: rowPreToolUse, blank: func() Event { return &PreToolUse{} }, tool: true, inherited: true,
		wrap:         [2]string{"[Tool execution blocked] ", "[Tool execution blocked] "},
		marksAllower: true,
		terms: [dialectCount]eventTerms{
			HookContract: {spelled: "PreToolUse", guarded: true, reject: heard, deny: heard, ask: heard, allow: heard, context: true, metadata: true},
			VSCode:       {spelled: "PreToolUse", aliases: []string{"preToolUse"}, reject: asDeny, deny: heard, ask: heard, allow: heard, context: true, input: true},
		},
	},
	{
		name: OnPostToolUse, index: rowPostToolUse, blank: func() Event { return &PostToolUse{} }, tool: true, inherited: true,
		wrap: [2]string{
			"[Tool result blocked by hook] [Hook Blocked Tool Result] ",
			"[Tool result blocked by hook] ",
		},
		askInChild: "Tool executed, but its output was withheld as it needs user approval. Try to find an alternative approach.",
		terms: [dialectCount]eventTerms{
			HookContract: {spelled: "PostToolUse", matcherRequired: true, guarded: true, reject: heard, deny: heard, ask: heard, allow: heard, context: true, metadata: true},
			VSCode:       {spelled: "PostToolUse", aliases: []string{"postToolUse"}, successOnly: true, reject: heard, deny: asReject, resultStays: true, context: true},
		},
	},
	{
		name: OnPreCompact, index: rowPreCompact, blank: func() Event { return &PreCompact{} }, inherited: true,
		terms: [dialectCount]eventTerms{
			VSCode: {spelled: "PreCompact"},
		},
	},
	{
		name: OnSubagentStart, index: rowSubagentStart, blank: func() Event { return &SubagentStart{} }, inherited: true,
		terms: [dialectCount]eventTerms{
			VSCode: {spelled: "SubagentStart", context: true},
		},
	},
	{
		name: OnSubagentStop, index: rowSubagentStop, blank: func() Event { return &SubagentStop{} }, inherited: true, ending: true,
		terms: [dialectCount]eventTerms{
			VSCode: {spelled: "SubagentStop", aliases: []string{"subagentStop"}, reject: heard, deny: asReject, needsReason: true, joinReasons: true},
		},
	},
	{
		name: OnStop, index: rowStop, blank: func() Event { return &Stop{} }, promptsFirst: true, ending: true,
		terms: [dialectCount]eventTerms{
			HookContract: {spelled: "Stop", reject: heard, deny: asReject},
			VSCode:       {spelled: "Stop", aliases: []string{"agentStop"}, reject: heard, deny: asReject, needsReason: true, joinReasons: true},
		},
	},
}

// row returns the event's row, nil for an unknown name. The name is exact.
func (n EventName) row() *eventRow {
	for i := range eventRows {
		if eventRows[i].name == n {
			return &eventRows[i]
		}
	}
	return nil
}

// terms returns what the hook's event is in its dialect; nil when the dialect
// does not have it.
func (h *Hook) terms() *eventTerms {
	row := h.On.row()
	if row == nil || !h.Dialect.valid() || !row.terms[h.Dialect].exists() {
		return nil
	}
	return &row.terms[h.Dialect]
}

// eventProblems reports what does not fit between the hook, its event and its
// dialect.
func (h *Hook) eventProblems(add func(key, format string, args ...any)) {
	terms := h.terms()
	switch {
	case !h.Dialect.valid():
		add("dialect", "dialect %d is unknown; the dialects are %s", int(h.Dialect), dialectNames())
	case terms == nil:
		add("eventType", "%v", unknownEvent(string(h.On), h.Dialect))
	case terms.matcherRequired && h.Matcher == "":
		add("matcher", `matcher is missing: a %s hook needs one ("*" matches every tool)`, h.On)
	}
	if terms != nil && len(h.Sources) > 0 && !terms.sources {
		add("sources", "sources is set on a %s hook; only Start hooks have sources", h.On)
	}
}

// permission returns what a permission says, and what the event makes of it.
func (t *eventTerms) permission(p Permission) (Outcome, effect) {
	switch p {
	case PermissionAllow:
		return OutcomeAllow, t.allow
	case PermissionAsk:
		return OutcomeAsk, t.ask
	}
	return OutcomeDeny, t.deny
}

// ParseEventName reads the name of an event of the hook data contract without
// regard to case, as configuration does (EV-1). Any other value is an error
// that lists the four.
func ParseEventName(s string) (EventName, error) {
	for i := range eventRows {
		if t := &eventRows[i].terms[HookContract]; t.exists() && strings.EqualFold(s, t.spelled) {
			return eventRows[i].name, nil
		}
	}
	return "", unknownEvent(s, HookContract)
}

func unknownEvent(s string, d Dialect) error {
	names, of := d.spellings(), ""
	if d != HookContract {
		of = " of " + d.String()
	}
	last := len(names) - 1
	return fmt.Errorf("unknown event %q; the events%s are %s and %s", s, of, strings.Join(names[:last], ", "), names[last])
}
