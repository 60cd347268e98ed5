// Package hooks is a hook runtime for agent loops. Hooks — scripts, prompts
// judged by a model, or Go functions — may observe, add context to, ask about
// or block what an agent is about to do.
//
// A host gives [New] a list of [Hook] values and the few outside things they
// need: where commands run ([Sandbox]), which model judges prompts ([Model]),
// who watches. New compiles everything and may refuse; after it nothing can
// fail by configuration. At the points of its loop the host builds an event
// ([Start], [PreToolUse], [PostToolUse], [Stop]) and calls [Runtime.Evaluate],
// which plans (which hooks, in which order, and why not the others), runs the
// planned hooks, folds what they said and returns one [Decision] that explains
// itself.
//
// A Runtime is immutable, safe for concurrent use and keeps no memory between
// calls. What must travel from one event to a later one travels in plain
// values that marshal to JSON: [Carried], [StopState], [Switches].
//
// Hooks speak a [Dialect]: the hook data contract, or that of another product.
//
// Hooks are policy, not isolation: a command hook runs as the user of the
// host, and what a tool does inside a shell is not seen by any hook.
//
// # Lifecycle hooks
//
// Beside these there are the typed, in-process hooks of the Standard Agents
// specification. They observe, filter or transform the turns of a thread, and
// a failure of one does not end the turn. A hook is a function, given to
// [Define] with its point: [FilterMessages], [BeforeStoreToolResult] and 15
// more, which "go doc FilterMessages" lists with their signatures. A
// [Registry] holds the definitions; an agent or prompt names by id those that
// it wants, and [Registry.Compose] makes a [Composition] of them. The host runs
// them through three owners that keep the order and miss no hook:
// [Composition.Assemble] for the context of a request, a [Gateway] for
// messages, and a [Tracker] for tool calls, where both kinds of hooks meet.
package hooks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Hook is one hook: what it listens to, who configured it, and what runs. It
// is data; a Runtime copies it in [New], so it may be reused and changed
// afterwards. Its zero value is refused.
type Hook struct {
	// Dialect is the contract that the hook speaks; zero is [HookContract].
	Dialect Dialect
	// Name is the durable identity for telemetry, explanations and trust.
	// It is required, holds no control characters, and is unique in its tier
	// (in TierAgent: for its Agent). Names beginning with "system__" are
	// reserved for TierSystem (CFG-4).
	Name string
	// On is the event the hook listens to; it must exist in the Dialect.
	On EventName
	// Tier says who configured the hook; the zero value is refused (CFG-3).
	Tier Tier
	// Agent is, in TierAgent, the agent_name of the loop that owns the hook;
	// empty means every loop. It is refused in the other tiers.
	Agent string
	// Matcher selects tool names on tool events (MAT-2): "*" is every tool,
	// empty is none, anything else is a .NET regular expression over the
	// whole name. Start and Stop ignore it, and so does [VSCode], whose hooks
	// run for every tool.
	Matcher string
	// Sources limits a Start hook to these thread sources, compared without
	// regard to case; empty means every source (ST-3).
	Sources []string
	// OnDemand hooks run only in threads whose [Switches] activate them.
	OnDemand bool
	// Timeout bounds one run of the hook. Zero means 30 seconds.
	Timeout time.Duration
	// FailMode says what a failure of the hook means. FailUnset follows the
	// conduct (QRK-10); in [VSCode] it is FailAllow in both conducts.
	FailMode FailMode
	// Independent says that the hook neither needs nor disturbs its neighbours
	// in the chain: those of them that are marked too may run at the same time,
	// up to Options.Parallel. The decision is the same as one by one, unless
	// Options.Budget runs out, of which one by one needs more. The price: a hook
	// may have started although an earlier one then ends the chain; it is
	// cancelled, and has fate cancelled.
	Independent bool
	// Run is what runs: a [Command], a [Prompt] or a [Func], by value.
	Run Body
}

// DefaultTimeout bounds a hook whose Timeout is zero.
const DefaultTimeout = 30 * time.Second

// MaxScript is the largest accepted Command.Script, in bytes (CFG-4).
const MaxScript = 64 << 10

// maxLine is the longest Command.Line: what Linux takes as one argument
// (MAX_ARG_STRLEN) without the NUL. A hook with a longer one would load, and
// then fail in every event.
const maxLine = 128<<10 - 1

// FailMode says what a failure of a hook (a crash, a timeout, an unusable
// answer) means for the event.
type FailMode int

// The fail modes.
const (
	FailUnset FailMode = iota // follows the conduct (QRK-10)
	FailAllow                 // the failure is recorded and decides nothing (AGG-11)
	FailBlock                 // the failure rejects, with a fixed text (CMD-7)
)

// String returns "", "allow" or "block", the spellings of the configuration.
func (m FailMode) String() string {
	switch m {
	case FailUnset:
		return ""
	case FailAllow:
		return "allow"
	case FailBlock:
		return "block"
	}
	return fmt.Sprintf("FailMode(%d)", int(m))
}

// Body is what a hook runs: a [Command], a [Prompt] or a [Func], by value. The
// set is closed.
type Body interface {
	// bodyType is the type as configuration and telemetry spell it.
	bodyType() string
}

// Command is a hook that is a process: it gets the event as one line of JSON
// on stdin and answers with its exit code, stdout and stderr (CMD-1 to
// CMD-17). Exactly one of Line and Script is set.
type Command struct {
	// Line is one command line for bash -c; of a hook of [VSCode] on Windows,
	// for PowerShell.
	Line string
	// Script is a whole script, at most MaxScript bytes, that begins with
	// "#!/bin/bash" (arguments allowed) or "#!/usr/bin/env python3".
	Script string
	// Dir is the working folder; empty means the sandbox's own. Of a hook of
	// [VSCode] it may begin with "~", the home folder ([Homes]), a relative one
	// starts from [Common.Workspace], and empty means that folder.
	Dir string
	// Env holds "KEY=value" entries added to the sandbox's environment. An
	// entry given here always passes, also one the sandbox would withhold.
	Env []string
}

// Prompt is a hook that a model judges (PRM-1 to PRM-8).
type Prompt struct {
	// Text is the policy. Every $ARGUMENTS in it is replaced by the event's
	// JSON; without one the JSON is appended.
	Text string
	// Model overrides the runtime's model name; it is opaque to the runtime.
	Model string
	// MaxRejections, 1 to 25, bounds how often prompt Stop hooks may keep the
	// loop running (SP-3). Zero means DefaultMaxRejections.
	MaxRejections int
}

// DefaultMaxRejections is the limit of a prompt Stop hook that sets none (SP-3).
const DefaultMaxRejections = 3

// maxRejections returns the limit with the default filled in.
func (p Prompt) maxRejections() int {
	if p.MaxRejections == 0 {
		return DefaultMaxRejections
	}
	return p.MaxRejections
}

// Func is an in-process hook. It must return soon after ctx is done: one that
// does not is abandoned at its deadline, its answer discarded, and its
// goroutine counted by [Runtime.Abandoned] until it returns. A Func may be
// called concurrently. A panic or an error is a failure of the hook, governed
// by its FailMode.
type Func func(ctx context.Context, c Call) (Result, error)

// Call is what a Func is told. The event is the Func's own copy: changing it
// changes nothing for the host or for other hooks.
type Call struct {
	Event Event
	Hook  HookRef
	// CannotAsk tells that an ask will be turned into a deny, because the
	// loop is a child or its host cannot ask (SUB-4).
	CannotAsk bool
}

func (Command) bodyType() string { return "command" }
func (Prompt) bodyType() string  { return "prompt" }
func (Func) bodyType() string    { return "func" }

// HookRef names a hook in decisions and telemetry.
type HookRef struct {
	Name  string `json:"name"`
	Tier  Tier   `json:"tier"`
	Agent string `json:"agent,omitempty"`
}

// Ref returns the hook's name, tier and agent.
func (h *Hook) Ref() HookRef { return HookRef{Name: h.Name, Tier: h.Tier, Agent: h.Agent} }

// String returns the name, preceded by the agent where there is one.
func (r HookRef) String() string {
	if r.Agent == "" || strings.HasPrefix(r.Name, r.Agent+"/") {
		return r.Name
	}
	return r.Agent + ":" + r.Name
}

// problem is one reason why a hook is refused. Its key is spelled as in the
// YAML shape, so that the loader can point at the place.
type problem struct{ key, message string }

// problems returns why New and the loaders refuse the hook (CFG-4). Matchers
// that do not compile are judged by matcher.go, by conduct and tier.
func (h *Hook) problems() []problem {
	var ps []problem
	add := func(key, format string, args ...any) {
		ps = append(ps, problem{key, fmt.Sprintf(format, args...)})
	}
	switch {
	case h.Name == "":
		add("name", "name is missing")
	case !utf8.ValidString(h.Name) || strings.ContainsFunc(h.Name, unicode.IsControl):
		add("name", "name %.60q holds control characters or is not UTF-8", h.Name)
	case strings.HasPrefix(h.Name, "system__") && h.Tier != TierSystem:
		add("name", `name %.60q begins with "system__", which is reserved for the system tier`, h.Name)
	}
	if h.Tier < TierSystem || h.Tier > TierUserGlobal {
		add("tier", "tier is not set; it must be TierSystem, TierAgent or TierUserGlobal")
	}
	if h.Agent != "" && h.Tier != TierAgent {
		add("agent", "agent %.60q is set on a hook of tier %s; only hooks of the agent tier belong to an agent", h.Agent, h.Tier)
	}
	h.eventProblems(add)
	if strings.ContainsFunc(h.Matcher, unicode.IsControl) {
		add("matcher", `matcher %.60q holds a control character (in YAML double quotes "\b" is a backspace: use single quotes)`, h.Matcher)
	}
	if h.Timeout < 0 {
		add("timeout", "timeout %v is negative; it must be positive, or zero for %v", h.Timeout, DefaultTimeout)
	}
	if h.FailMode < FailUnset || h.FailMode > FailBlock {
		add("failMode", "failMode %d is unknown; it must be allow or block", int(h.FailMode))
	}
	switch b := h.Run.(type) {
	case Command:
		b.problems(add)
	case Prompt:
		if h.Dialect.valid() && !h.Dialect.facts().prompts {
			add("type", "it is a prompt hook, and %s has none", h.Dialect)
		}
		if strings.TrimSpace(b.Text) == "" {
			add("prompt", "prompt is missing: a prompt hook needs its text")
		}
		if b.MaxRejections < 0 || b.MaxRejections > 25 {
			add("maxRejections", "maxRejections %d is outside 1 to 25", b.MaxRejections)
		}
	case Func:
		if b == nil {
			add("type", "the hook's Func is nil")
		}
	default:
		add("type", "type is missing or unknown: Run must be a Command, a Prompt or a Func, by value, not %T", h.Run)
	}
	return ps
}

func (c Command) problems(add func(key, format string, args ...any)) {
	hasLine, hasScript := strings.TrimSpace(c.Line) != "", strings.TrimSpace(c.Script) != ""
	switch {
	case hasLine && hasScript:
		add("command", "both command and script are given; a command hook needs exactly one of them")
	case !hasLine && !hasScript:
		add("command", "neither command nor script is given; a command hook needs exactly one of them")
	case hasScript:
		if len(c.Script) > MaxScript {
			add("script", "script has %d bytes; at most %d are allowed", len(c.Script), MaxScript)
		}
		if _, _, err := interpreterOf(c.Script); err != nil {
			add("script", "%v", err)
		}
	}
	if len(c.Line) > maxLine {
		add("command", "command has %d bytes; at most %d are allowed, since Linux starts nothing with more: put it into a file and call that", len(c.Line), maxLine)
	}
	if strings.ContainsRune(c.Line, 0) {
		add("command", "command holds a NUL character")
	}
	if strings.ContainsRune(c.Script, 0) {
		add("script", "script holds a NUL character")
	}
	for _, e := range c.Env {
		if i := strings.IndexByte(e, '='); i < 1 || strings.ContainsRune(e, 0) {
			// The entry itself may be a secret, so it is not quoted.
			add("env", `an entry of Env is not of the form KEY=value`)
			break
		}
	}
}

// timeout returns the hook's deadline with the default filled in.
func (h *Hook) timeout() time.Duration {
	if h.Timeout == 0 {
		return DefaultTimeout
	}
	return h.Timeout
}

// clone returns a copy that shares nothing mutable with h.
func (h *Hook) clone() *Hook {
	c := *h
	c.Sources = slices.Clone(h.Sources)
	if b, ok := h.Run.(Command); ok {
		b.Env = slices.Clone(b.Env)
		c.Run = b
	}
	return &c
}

// interpreterOf reads the first line of a script (CMD-17): which interpreter
// runs it, and with which arguments.
func interpreterOf(script string) (name string, args []string, err error) {
	line, _, _ := strings.Cut(script, "\n")
	line = strings.TrimSuffix(line, "\r")
	fields := strings.Fields(line)
	switch {
	case len(fields) > 0 && fields[0] == "#!/bin/bash" && strings.HasPrefix(line, "#!"):
		return "bash", fields[1:], nil
	case len(fields) == 2 && fields[0] == "#!/usr/bin/env" && fields[1] == "python3" && strings.HasPrefix(line, "#!"):
		return "python3", nil, nil
	}
	// Of the script, which may hold secrets, only the interpreter is quoted.
	begins := "does not begin with #!"
	if strings.HasPrefix(line, "#!") {
		begins = fmt.Sprintf("begins with %.40q", fields[0])
		if len(fields) > 1 {
			begins += " and more"
		}
	}
	return "", nil, fmt.Errorf("script %s; it must begin with #!/bin/bash (arguments allowed) or #!/usr/bin/env python3", begins)
}
