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
func (rt *Runtime) Evaluate(ctx context.Context, ev Event) (d Decision, err error) {
	// The decision is filled in place: copying it would cost more than all else
	// that an event without hooks takes.
	common, err := checkEvent(ev)
	if err != nil {
		return d, err
	}
	rt.begin(&d.trace, ev, common)
	d.Event = d.trace.facts.row.name
	if err := ctx.Err(); err != nil {
		return d, err
	}
	f, sel := &d.trace.facts, d.trace.selection
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
	e := &evaluation{rt: rt, host: ctx, event: ev, decision: d}
	e.facts, e.selection = &e.decision.trace.facts, d.trace.selection
	err := e.run(hooks)
	d = e.decision
	// The steps stand in e: nothing else may live as long as the decision.
	e.event, e.decision, e.facts, e.selection = nil, Decision{}, nil, nil
	e.payloads, e.writers, e.first = [dialectCount]*encoded{}, [dialectCount]fieldWriter{}, flight{}
	return d, err
}

// Plan tells what Evaluate would run for the event, without running anything.
// It needs no model and looks at no payload beyond the names that decide. The
// error is an [*EventError] when the event itself is malformed.
func (rt *Runtime) Plan(ev Event) (Plan, error) {
	common, err := checkEvent(ev)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Event: ev.EventName()}
	rt.begin(&p.trace, ev, common)
	return p, nil
}

// begin begins the story of an event: what decides about its hooks.
func (rt *Runtime) begin(t *trace, ev Event, c *Common) {
	ch := rt.registry.chainOf(ev.row())
	t.registry, t.conduct = rt.registry, rt.opts.Conduct
	t.facts.gather(ev, c, ch)
	t.selection = ch.selectFor(t.facts.tool)
}

// evaluation is one event on its way through the chain.
type evaluation struct {
	rt        *Runtime
	host      context.Context // whose end is an error, not a failure of a hook
	ctx       context.Context // host's, bounded by the budget
	event     Event
	facts     *facts
	selection *selection
	decision  Decision

	payloads [dialectCount]*encoded // of the hooks that run
	place    placement

	// What most events need one of, so that they need no allocation for it.
	writers [dialectCount]fieldWriter
	first   flight
	step    [1]Step

	begin int       // where the steps of the chain that runs begin
	since time.Time // when it began
}

// run runs the planned ones of hooks and fills the decision.
func (e *evaluation) run(hooks []*compiled) error {
	rt, d := e.rt, &e.decision
	if err := e.encode(hooks); err != nil {
		d.trace.refused = true
		return err
	}
	e.place.common, e.place.conduct, e.place.abandoned = e.event.common(), rt.opts.Conduct, rt.abandoned
	defer func() {
		if err := e.place.close(e.host); err != nil {
			d.Diagnostics = append(d.Diagnostics, Diagnostic{Message: err.Error()})
		}
	}()
	e.ctx = e.host
	if rt.opts.Budget > 0 {
		var cancel context.CancelFunc
		e.ctx, cancel = context.WithTimeout(e.host, rt.opts.Budget)
		defer cancel()
	}
	e.since = time.Now()
	committed, err := e.runAll(hooks)
	if err != nil {
		return err
	}
	steps := d.trace.ran[:committed]
	fold(d, e.facts.row, rt.opts.Conduct, rt.opts.Limits, e.facts.cannotAsk, steps)
	e.tell(steps[e.begin:], e.since)
	return nil
}

// runAll runs hooks and commits their steps in chain order, until one ends the
// chain. It returns how many steps count; those behind them were cancelled.
func (e *evaluation) runAll(hooks []*compiled) (committed int, err error) {
	ran := &e.decision.trace.ran
	*ran = e.step[:0]
	var room [DefaultParallel]*flight
	together := room[:0] // started and not committed yet, in chain order
	defer func() {
		// Empty but for a panic of the host's observer, which must not leave
		// hooks running either.
		for _, f := range together {
			f.cancel()
		}
		for _, f := range together {
			e.wait(f)
		}
	}()
	next := 0
	for {
		for next < len(hooks) {
			c := hooks[next]
			if e.facts.fate(c, e.selection) == FatePlanned {
				if e.host.Err() != nil || !e.mayStart(c, together) {
					break
				}
				e.turn(c)
				together = append(together, e.start(c))
			}
			next++
		}
		if len(together) == 0 {
			if next < len(hooks) {
				return len(*ran), e.host.Err()
			}
			return len(*ran), nil
		}
		f := together[0]
		together = together[1:]
		*ran = append(*ran, e.commit(f))
		s := &(*ran)[len(*ran)-1]
		err := e.host.Err()
		if err == nil || s.Decision != OutcomeUndecided {
			err = nil
		}
		if err != nil || s.ends {
			committed = len(*ran)
			if s.ends {
				ended := *s
				e.decision.trace.endedBy = &ended
			}
			for _, f := range together {
				f.cancel()
			}
			for _, f := range together {
				*ran = append(*ran, e.abort(f))
			}
			together = nil
			return committed, err
		}
	}
}

// mayStart reports whether a hook may start while others run: as a neighbour
// of hooks that, like itself, their author marked independent.
func (e *evaluation) mayStart(c *compiled, together []*flight) bool {
	if len(together) == 0 {
		return true
	}
	last := together[len(together)-1].c
	return c.hook.Independent && last.hook.Independent && len(together) < e.rt.opts.Parallel &&
		(c.isPrompt() == last.isPrompt() || !e.facts.row.promptsFirst)
}

// turn tells of the first of the two chains of Stop when the second is about to
// begin (AGG-10).
func (e *evaluation) turn(c *compiled) {
	ran := e.decision.trace.ran
	if e.facts.row.promptsFirst && !c.isPrompt() && e.begin == 0 && len(ran) > 0 && ran[0].Type == "prompt" {
		e.tell(ran, e.since)
		e.begin, e.since = len(ran), time.Now()
	}
}

// encode encodes the event for every dialect of the hooks that will run, so
// that an event with a mistake runs none (IN-10).
func (e *evaluation) encode(hooks []*compiled) error {
	for _, c := range hooks {
		dialect := c.hook.Dialect
		if e.payloads[dialect] != nil || e.facts.fate(c, e.selection) != FatePlanned {
			continue
		}
		enc, err := manners[dialect].encode(&e.writers[dialect], e.event, e.rt.opts.Conduct, e.rt.opts.Limits)
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
