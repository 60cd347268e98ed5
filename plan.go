package hooks

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// registry is the hooks of a runtime, ready to run. It does not change.
type registry struct {
	hooks  []*compiled // in registration order
	chains [len(eventRows)]chain
}

// compiled is a hook that is ready to run.
type compiled struct {
	hook      *Hook
	row       *eventRow
	terms     *eventTerms // of the row, in the hook's dialect
	matcher   *matcher
	executor  executor
	untrusted error
	index     int // in its chain
}

// executor runs one hook once and fills in its answer, which is zero before. An
// error of its own is a failure in the answer; it returns soon after ctx is done.
type executor interface {
	run(ctx context.Context, in *invocation, a *answer)
}

// chain is all hooks of one event, in the order in which they run (AGG-1,
// AGG-10), and what their matchers said of the tools seen so far.
type chain struct {
	row   *eventRow
	hooks []*compiled

	mu    sync.Mutex // serializes writers of seen
	seen  atomic.Pointer[map[string]*selection]
	every *selection // of an event without tools
}

// maxSeen bounds the remembered tool names: a model can invent any number.
const maxSeen = 1024

func (ch *chain) init(row *eventRow, all []*compiled) {
	ch.row = row
	for _, c := range all {
		if c.row == row {
			ch.hooks = append(ch.hooks, c)
		}
	}
	slices.SortStableFunc(ch.hooks, func(a, b *compiled) int {
		if row.promptsFirst && a.isPrompt() != b.isPrompt() {
			if a.isPrompt() {
				return -1
			}
			return 1
		}
		return int(a.hook.Tier) - int(b.hook.Tier)
	})
	for i, c := range ch.hooks {
		c.index = i
	}
	ch.every = &selection{hooks: ch.hooks}
}

func (c *compiled) isPrompt() bool {
	_, ok := c.hook.Run.(Prompt)
	return ok
}

// selection is what the matchers of a chain said of one tool name. Everything
// else that decides about a hook is looked at per call: a cached plan would
// hand one agent's hooks to another.
type selection struct {
	hooks []*compiled
	notes map[int]string // by index: matchers that went an unusual way
}

func (s *selection) has(c *compiled) bool {
	_, ok := slices.BinarySearchFunc(s.hooks, c.index, func(o *compiled, index int) int { return o.index - index })
	return ok
}

// selectFor returns the selection for a tool name, from memory if it can.
func (ch *chain) selectFor(tool string) *selection {
	if !ch.row.tool {
		return ch.every
	}
	if seen := ch.seen.Load(); seen != nil {
		if s := (*seen)[tool]; s != nil {
			return s
		}
	}
	s := &selection{}
	late := false
	for _, c := range ch.hooks {
		ok, note := c.matcher.match(tool)
		if ok {
			s.hooks = append(s.hooks, c)
		}
		if note != "" {
			if s.notes == nil {
				s.notes = map[int]string{}
			}
			s.notes[c.index] = note
			late = late || c.matcher.broken == nil
		}
	}
	if !late { // a match that timed out on a busy machine is not remembered
		ch.remember(tool, s)
	}
	return s
}

func (ch *chain) remember(tool string, s *selection) {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	next := map[string]*selection{}
	if old := ch.seen.Load(); old != nil && len(*old) < maxSeen {
		for k, v := range *old {
			next[k] = v
		}
	}
	next[strings.Clone(tool)] = s
	ch.seen.Store(&next)
}

// facts is what decides, beside the matchers, whether a hook runs.
type facts struct {
	row       *eventRow
	agent     string
	child     bool
	cannotAsk bool
	failed    bool // the tool
	refused   bool // the event could not be given to hooks (IN-10)
	switches  Switches
	source    string
	tool      string
	stop      StopState
	limit     int // of prompt Stop hooks; 0: none
}

// gather fills in the facts of an event, in place: they are a part of every
// decision, also of one that nothing was run for.
func (f *facts) gather(ev Event, c *Common, ch *chain) {
	f.row, f.agent, f.child, f.cannotAsk = ch.row, c.Agent, c.Child, c.Child || c.CannotAsk
	if len(c.Switches.Activated)+len(c.Switches.Deactivated) > 0 {
		f.switches = Switches{slices.Clone(c.Switches.Activated), slices.Clone(c.Switches.Deactivated)}
	}
	switch e := ev.(type) {
	case *PreToolUse:
		f.tool = e.ToolName
	case *PostToolUse:
		f.tool, f.failed = e.ToolName, !e.ToolSucceeded
	case *Start:
		if e.ThreadSource != nil {
			f.source = *e.ThreadSource
		}
	case *Stop:
		f.stop = e.StopState
	case *SubagentStop:
		f.stop = e.StopState
	}
	if f.row.promptsFirst {
		// The largest limit of the hooks that would run applies (SP-3). It is
		// set behind the loop: fate looks at it.
		limit := 0
		for _, h := range ch.hooks {
			if p, ok := h.hook.Run.(Prompt); ok && f.fate(h, ch.every) == FatePlanned {
				limit = max(limit, p.maxRejections())
			}
		}
		f.limit = limit
	}
}

// fate returns the first reason why a hook does not run, or FatePlanned (WHY).
// It does not allocate.
func (f *facts) fate(c *compiled, sel *selection) Fate {
	h := c.hook
	switch {
	case !f.inScope(c):
		return FateOutOfScope
	case c.untrusted != nil:
		return FateUntrusted
	case !f.active(h):
		return FateInactive
	case len(h.Sources) > 0 && !slices.ContainsFunc(h.Sources, func(s string) bool { return strings.EqualFold(s, f.source) }):
		return FateSourceFiltered
	case f.row.tool && !sel.has(c), f.failed && c.terms.successOnly:
		return FateNoMatch
	case f.limit > 0 && f.stop.RejectionCount >= f.limit && c.isPrompt():
		return FateLimitReached
	}
	return FatePlanned
}

// inScope is SUB-1: an agent's hooks run in its own loop alone, also when it
// is a child; of the others a child runs those of inherited events.
func (f *facts) inScope(c *compiled) bool {
	if c.hook.Tier == TierAgent {
		return c.hook.Agent == "" || c.hook.Agent == f.agent
	}
	return !f.child || f.row.inherited
}

// active is CFG-6. A system hook cannot be switched off.
func (f *facts) active(h *Hook) bool {
	if slices.Contains(f.switches.Activated, h.Name) {
		return true
	}
	if h.OnDemand {
		return false
	}
	return h.Tier == TierSystem || !slices.Contains(f.switches.Deactivated, h.Name)
}

// why words a fate other than ran (WHY).
func (f *facts) why(c *compiled, fate Fate, sel *selection) string {
	h := c.hook
	note := ""
	if n := sel.notes[c.index]; n != "" {
		note = "; the matcher " + n
	}
	switch fate {
	case FateOutOfScope:
		if h.Tier == TierAgent {
			return fmt.Sprintf("belongs to agent %q; this loop is %q", h.Agent, f.agent)
		}
		return fmt.Sprintf("a child does not run %s hooks of tier %s", c.terms.spelled, h.Tier)
	case FateUntrusted:
		return fmt.Sprintf("not trusted: %v", c.untrusted)
	case FateInactive:
		if h.OnDemand {
			return "on demand, and not activated in this thread"
		}
		return "switched off in this thread"
	case FateSourceFiltered:
		return fmt.Sprintf("source %q is none of %s", f.source, strings.Join(h.Sources, ", "))
	case FateNoMatch:
		switch {
		case f.failed && c.terms.successOnly:
			return fmt.Sprintf("tool failed: %s hooks of %s run only after a success", c.terms.spelled, h.Dialect)
		case h.Matcher == "":
			return "has no matcher: it matches no tool"
		}
		return fmt.Sprintf("matcher %q does not match %q%s", h.Matcher, f.tool, note)
	case FateLimitReached:
		return fmt.Sprintf("prompt hooks have rejected %d times; the limit is %d", f.stop.RejectionCount, f.limit)
	case FatePlanned:
		return "would run" + note
	}
	return ""
}

// Plan is what an event would fire, and why not the rest: a dry run.
type Plan struct {
	Event EventName
	// Diagnostics are findings that the host wants to be shown with the plan,
	// those of loading for example. [Runtime.Plan] has none of its own.
	Diagnostics []Diagnostic
	trace       trace
}

// Steps yields a step for every registered hook: those of the event in chain
// order, with fate planned or the reason why not, then those of other events.
func (p *Plan) Steps() iter.Seq[Step] { return p.trace.steps(true) }

// trace is what a decision remembers to explain itself. It is small, so that
// an event without hooks costs nothing; steps are made when they are asked for.
type trace struct {
	registry  *registry
	conduct   Conduct
	facts     facts
	selection *selection
	ran       []Step // in chain order
	endedBy   *Step
}

// steps yields a step for every hook of the event, and of other events too for
// a plan.
func (t *trace) steps(plan bool) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		if t.registry == nil {
			return
		}
		ran := t.ran
		for _, c := range t.registry.chainOf(t.facts.row).hooks {
			if len(ran) > 0 && ran[0].index == c.index {
				if !yield(ran[0]) {
					return
				}
				ran = ran[1:]
				continue
			}
			s := c.step()
			s.Fate = t.facts.fate(c, t.selection)
			s.Why = t.facts.why(c, s.Fate, t.selection)
			if s.Fate == FatePlanned && !plan {
				s.Fate, s.Why = FateNotReached, "not reached: the evaluation was cancelled"
				if t.facts.refused {
					s.Why = "not reached: the event was refused"
				} else if t.endedBy != nil {
					s.Why = fmt.Sprintf("not reached: %s ended the chain with %s", t.endedBy.Hook, t.endedBy.Decision)
				}
			}
			if !yield(s) {
				return
			}
		}
		if !plan {
			return
		}
		for _, c := range t.registry.hooks {
			if c.row == t.facts.row {
				continue
			}
			s := c.step()
			s.Fate, s.Why = FateOtherEvent, fmt.Sprintf("listens to %s", c.row.name)
			if !yield(s) {
				return
			}
		}
	}
}

// step begins the step of a hook.
func (c *compiled) step() Step {
	return Step{Hook: c.hook.Ref(), On: c.hook.On, Dialect: c.hook.Dialect, Type: c.hook.Run.bodyType(), index: c.index}
}

func (r *registry) chainOf(row *eventRow) *chain { return &r.chains[row.index] }
