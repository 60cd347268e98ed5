package hooks

import (
	"context"
	"slices"
	"time"
)

// Evaluate runs the hooks of an event and folds what they said into one
// Decision. The three possible returns: a decided Decision and nil; an
// undecided one, with the steps so far, and ctx's error; an undecided one and
// an [*EventError] when the event cannot be given to hooks (IN-10), in which
// case none has run. What goes wrong in a hook is never an error here: it is in
// the hook's step, and its fail mode decides.
//
// A context that is done before the first hook runs none (a host that wants
// Stop hooks after a cancellation passes a context of its own). The payload is
// looked at only when a hook runs. Evaluate may be called concurrently; it
// reads ev while it runs and does not keep it.
func (rt *Runtime) Evaluate(ctx context.Context, ev Event) (Decision, error) {
	if err := checkEvent(ev); err != nil {
		return Decision{}, err
	}
	d := Decision{Event: ev.EventName(), trace: rt.trace(ev)}
	f, sel := &d.trace.facts, d.trace.selection
	switch e := ev.(type) {
	case *Stop:
		d.stop = e.StopState
	case *SubagentStop:
		d.stop = e.StopState
	}
	if err := ctx.Err(); err != nil {
		return d, err
	}
	for i, c := range sel.hooks {
		if f.fate(c, sel) == FatePlanned {
			return rt.run(ctx, ev, d, sel.hooks[i:])
		}
	}
	d.Outcome = OutcomePass
	return d, nil
}

// run is apart from Evaluate so that an event without hooks does not allocate.
func (rt *Runtime) run(ctx context.Context, ev Event, d Decision, hooks []*compiled) (Decision, error) {
	e := &evaluation{rt: rt, host: ctx, event: ev, facts: &d.trace.facts, selection: d.trace.selection, decision: &d}
	err := e.run(hooks)
	return d, err
}

// Plan tells what Evaluate would run for the event, without running anything.
// It needs no model and looks at no payload beyond the names that decide. The
// error is an [*EventError] when the event itself is malformed.
func (rt *Runtime) Plan(ev Event) (Plan, error) {
	if err := checkEvent(ev); err != nil {
		return Plan{}, err
	}
	return Plan{Event: ev.EventName(), trace: rt.trace(ev)}, nil
}

// trace begins the story of an event: what decides about its hooks.
func (rt *Runtime) trace(ev Event) trace {
	ch := rt.registry.chainOf(ev.EventName().row())
	f := factsOf(ev, ch)
	return trace{registry: rt.registry, conduct: rt.opts.Conduct, facts: f, selection: ch.selectFor(f.tool)}
}

// evaluation is one event on its way through the chain.
type evaluation struct {
	rt        *Runtime
	host      context.Context // whose end is an error, not a failure of a hook
	event     Event
	facts     *facts
	selection *selection
	decision  *Decision

	payloads [dialectCount]*encoded // of the hooks that run
	place    *placement
}

// run runs the planned ones of hooks and fills the decision.
func (e *evaluation) run(hooks []*compiled) error {
	rt, d := e.rt, e.decision
	if err := e.encode(hooks); err != nil {
		d.trace.refused = true
		return err
	}
	e.place = &placement{common: e.event.common(), conduct: rt.opts.Conduct, abandoned: rt.abandoned}
	defer func() {
		if err := e.place.close(e.host); err != nil {
			d.Diagnostics = append(d.Diagnostics, Diagnostic{Message: err.Error()})
		}
	}()
	ctx := e.host
	if rt.opts.Budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, rt.opts.Budget)
		defer cancel()
	}

	// Stop has two chains (AGG-10): both run, and are told of separately.
	begin, since := 0, time.Now()
	for _, c := range hooks {
		if e.facts.fate(c, e.selection) != FatePlanned {
			continue
		}
		if e.facts.row.promptsFirst && !c.isPrompt() && begin == 0 && len(d.trace.ran) > 0 && d.trace.ran[0].Type == "prompt" {
			e.tell(d.trace.ran, since)
			begin, since = len(d.trace.ran), time.Now()
		}
		s := e.runHook(ctx, c)
		d.trace.ran = append(d.trace.ran, s)
		if err := e.host.Err(); err != nil && s.Decision == OutcomeUndecided {
			return err
		}
		if s.ends {
			d.trace.endedBy = &s
			break
		}
	}
	fold(d, e.facts.row, rt.opts.Conduct, rt.opts.Limits, e.facts.cannotAsk, d.trace.ran)
	e.tell(d.trace.ran[begin:], since)
	return nil
}

// encode encodes the event for every dialect of the hooks that will run, so
// that an event with a mistake runs none (IN-10).
func (e *evaluation) encode(hooks []*compiled) error {
	for _, c := range hooks {
		dialect := c.hook.Dialect
		if e.payloads[dialect] != nil || e.facts.fate(c, e.selection) != FatePlanned {
			continue
		}
		enc, err := manners[dialect].encode(e.event, e.rt.opts.Conduct, e.rt.opts.Limits)
		if err != nil {
			return err
		}
		e.payloads[dialect] = enc
		for _, n := range enc.notes {
			if !slices.Contains(e.decision.Diagnostics, n) { // dialects share fields
				e.decision.Diagnostics = append(e.decision.Diagnostics, n)
			}
		}
	}
	return nil
}

// runHook runs one hook: place the trajectory, run, hear, apply the fail mode.
func (e *evaluation) runHook(ctx context.Context, c *compiled) Step {
	rt, conduct := e.rt, e.rt.opts.Conduct
	s := c.step()
	s.Fate = FateRan
	e.observe(StartedRecord{
		HookName: s.Hook.Name, HookType: s.Type, HookEventType: s.On, Dialect: s.Dialect,
		Tier: s.Hook.Tier, ToolName: e.facts.tool, AgentName: e.facts.agent,
	})
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, c.hook.timeout())
	defer cancel()
	a := e.execute(ctx, c)
	s.Duration = time.Since(start)

	s.ExitCode, s.Signal, s.Stdout, s.Stderr = a.exitCode, a.signal, a.stdout, a.stderr
	for _, n := range a.notes {
		e.note(c, n.key, n.message)
	}
	mode := FailUnset
	switch s.Failure = a.failure; {
	case a.failure == nil || a.holds:
		s.hear(c.row, conduct, &a.result)
		e.checkInput(c, &s)
	case e.host.Err() != nil:
		a.failure.Kind = FailureCancelled
		s.Fate = FateCancelled
	default:
		mode = conduct.failMode(c.hook)
		s.settle(c.row, conduct, mode)
		if s.Dialect.facts().warns {
			e.note(c, "", "failed ("+string(a.failure.Kind)+"): "+a.failure.Message)
		}
	}
	s.Why = s.why(c.row, mode)
	if n := e.selection.notes[c.index]; n != "" {
		s.Why += "; the matcher " + n
	}
	if r, ok := executionRecord(&s, e.facts, rt.opts.CutReasons); ok {
		e.observe(r)
	}
	return s
}

// execute gives the hook its trajectory and runs it, unless its time is
// already used up.
func (e *evaluation) execute(ctx context.Context, c *compiled) answer {
	if err := e.host.Err(); err != nil {
		return failed(FailureTimeout, err, "the evaluation was over before it began")
	}
	if err := ctx.Err(); err != nil {
		return failed(FailureTimeout, err, "the event's budget was used up before it began")
	}
	in := &invocation{event: e.event, hook: c.hook, payload: e.payloads[c.hook.Dialect], cannotAsk: e.facts.cannotAsk}
	if e.event.common().Trajectory != nil {
		in.trajectory = e.place.writer(ctx)
	}
	if _, ok := c.hook.Run.(Func); !ok && !c.terms.beginning {
		sandbox := e.rt.sandbox
		if c.isPrompt() {
			sandbox = e.rt.local
		}
		var failure *Failure
		summaries := c.hook.Dialect.facts().summaries
		if in.summary, failure = e.place.place(ctx, sandbox, summaries); failure != nil {
			if summaries && e.rt.opts.Conduct == Hardened || ctx.Err() != nil { // SUM-1
				return answer{failure: failure}
			}
			e.note(c, in.payload.key, failure.Message)
		}
	}
	a := c.executor.run(ctx, in)
	if c.isPrompt() {
		if err := e.place.remove(ctx, in.summary); err != nil {
			e.note(c, in.payload.key, err.Error())
		}
	}
	return a
}

// checkInput drops a new tool input that is not acceptable.
func (e *evaluation) checkInput(c *compiled, s *Step) {
	const key = "hookSpecificOutput.updatedInput"
	if s.UpdatedInput == nil {
		return
	}
	input, note, err := e.rt.acceptInput(e.facts.tool, s.UpdatedInput)
	if s.UpdatedInput = input; err != nil {
		e.note(c, key, "updatedInput is dropped: "+err.Error())
	} else if note != "" {
		e.note(c, key, note)
	}
}

func (e *evaluation) note(c *compiled, key, message string) {
	e.decision.Diagnostics = append(e.decision.Diagnostics, Diagnostic{Hook: c.hook.Name, Key: key, Message: message})
}

func (e *evaluation) observe(r Record) {
	if e.rt.opts.Observe != nil {
		e.rt.opts.Observe(e.host, r)
	}
}

// tell reports one chain in which a hook ran.
func (e *evaluation) tell(steps []Step, since time.Time) {
	if e.rt.opts.Observe == nil || len(steps) == 0 {
		return
	}
	var part Decision
	fold(&part, e.facts.row, e.rt.opts.Conduct, e.rt.opts.Limits, e.facts.cannotAsk, steps)
	allowing := ""
	if part.Outcome == OutcomeAllow {
		allowing = part.By
	}
	configured := len(e.rt.registry.chainOf(e.facts.row).hooks)
	e.observe(evaluationRecord(e.facts, configured, steps, part.Outcome, allowing, time.Since(since)))
}
