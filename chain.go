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
			e := &evaluation{rt: rt, host: ctx, event: ev}
			e.Decision = d
			err = e.run(sel.hooks[i:])
			d = e.Decision
			e.forget()
			return d, err
		}
	}
	d.Outcome = OutcomePass
	return d, nil
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

// evaluation is one event on its way through the chain. It is not on the stack,
// which in a thousand events in flight costs more.
type evaluation struct {
	rt       *Runtime
	host     context.Context // whose end is an error, not a failure of a hook
	ctx      context.Context // host's, bounded by the budget
	event    Event
	Decision // as far as it has come

	payloads [dialectCount]*encoded // of the hooks that run
	place    *placement             // nil without a trajectory

	begin int       // where the steps of the chain that runs begin
	since time.Time // when it began

	// What most events need one of, so that they need no allocation for it.
	step   [1]Step
	room   [1]*flight
	flight flight
	writer fieldWriter
}

func (e *evaluation) fate(c *compiled) Fate { return e.trace.facts.fate(c, e.trace.selection) }

// forget drops all but the step, with which e lives as long as the decision.
func (e *evaluation) forget() {
	e.host, e.ctx, e.event, e.place = nil, nil, nil, nil
	e.Decision = Decision{}
	e.payloads = [dialectCount]*encoded{}
	e.flight, e.room[0] = flight{}, nil
	e.writer = fieldWriter{}
}

// run runs the planned ones of hooks and fills the decision.
func (e *evaluation) run(hooks []*compiled) error {
	rt := e.rt
	if err := e.encode(hooks); err != nil {
		e.trace.facts.refused = true
		return err
	}
	e.ctx = e.host
	if rt.opts.Budget > 0 {
		var cancel context.CancelFunc
		e.ctx, cancel = context.WithTimeout(e.host, rt.opts.Budget)
		defer cancel()
	}
	if c := e.event.common(); c.Trajectory != nil {
		e.place = newPlacement(e.ctx, c, rt.opts.Conduct, rt.abandoned)
		defer func() {
			if err := e.place.close(e.host); err != nil {
				e.Diagnostics = append(e.Diagnostics, Diagnostic{Message: err.Error()})
			}
		}()
	}
	e.since = time.Now()
	committed, err := e.runAll(hooks)
	if err != nil {
		return err
	}
	steps := e.trace.ran[:committed]
	e.conclude(steps)
	e.tell(steps[e.begin:], e.since)
	return nil
}

// conclude folds the steps that count into the decision.
func (e *evaluation) conclude(steps []Step) {
	d := fold(e.trace.facts.row, e.rt.opts.Conduct, e.rt.opts.Limits, e.trace.facts.cannotAsk, steps)
	d.Event, d.trace = e.Event, e.trace
	d.Diagnostics = append(e.Diagnostics, d.Diagnostics...)
	e.Decision = d
}

// runAll runs hooks and commits their steps in chain order, until one ends the
// chain. It returns how many steps count; those behind them were cancelled.
func (e *evaluation) runAll(hooks []*compiled) (committed int, err error) {
	ran := &e.trace.ran
	*ran = e.step[:0]
	together := e.room[:0] // started and not committed yet, in chain order
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
			if e.fate(c) == FatePlanned {
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
		e.wait(f)
		e.commit(f)
		if f.step.Decision == OutcomeUndecided {
			err = e.host.Err()
		}
		if err != nil || f.step.ends {
			committed = len(*ran)
			if f.step.ends {
				e.trace.endedBy = f.step
			}
			for _, f := range together {
				f.cancel()
			}
			for _, f := range together {
				e.wait(f)
				e.abort(f)
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
		(c.isPrompt() == last.isPrompt() || !e.trace.facts.row.promptsFirst)
}

// turn tells of the first of the two chains of Stop when the second is about to
// begin (AGG-10).
func (e *evaluation) turn(c *compiled) {
	ran := e.trace.ran
	if e.trace.facts.row.promptsFirst && !c.isPrompt() && e.begin == 0 && len(ran) > 0 && ran[0].Type == "prompt" {
		e.tell(ran, e.since)
		e.begin, e.since = len(ran), time.Now()
	}
}

// encode encodes the event for every dialect of the hooks that will run, so
// that an event with a mistake runs none (IN-10).
func (e *evaluation) encode(hooks []*compiled) error {
	for _, c := range hooks {
		dialect := c.hook.Dialect
		if e.payloads[dialect] != nil || e.fate(c) != FatePlanned {
			continue
		}
		f := &e.writer
		if f.event != "" {
			f = new(fieldWriter)
		}
		enc, err := manners[dialect].encode(f, e.event, e.rt.opts.Conduct, e.rt.opts.Limits)
		if err != nil {
			return err
		}
		e.payloads[dialect] = enc
		for _, n := range enc.notes {
			if !slices.Contains(e.Diagnostics, n) { // dialects share fields
				e.Diagnostics = append(e.Diagnostics, n)
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
	part := fold(e.trace.facts.row, e.rt.opts.Conduct, e.rt.opts.Limits, e.trace.facts.cannotAsk, steps)
	allowing := ""
	if part.Outcome == OutcomeAllow {
		allowing = part.By
	}
	configured := len(e.rt.registry.chainOf(e.trace.facts.row).hooks)
	e.observe(evaluationRecord(&e.trace.facts, configured, steps, part.Outcome, allowing, time.Since(since)))
}
