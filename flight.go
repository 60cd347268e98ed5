package hooks

import (
	"context"
	"fmt"
	"time"
)

// flight is one hook that has been started. Its answer is read when its turn
// comes: hooks that run together are committed in chain order.
type flight struct {
	c      *compiled
	in     invocation
	step   *Step
	ctx    context.Context
	cancel context.CancelFunc
	begun  time.Time
	done   chan struct{} // closed at the end of a hook that runs beside others
	ended  bool          // nothing of the hook runs, and this is its:
	answer answer
}

// start starts a hook: its time begins, its trajectory is placed, and if it may
// run beside others it runs.
func (e *evaluation) start(c *compiled) *flight {
	f := &e.flight
	if f.c != nil { // taken
		f = &flight{step: new(Step)}
	} else {
		f.step = &e.step[0]
	}
	f.c, f.begun = c, time.Now()
	*f.step = c.step()
	f.step.Fate = FateRan
	if e.rt.opts.Observe != nil {
		e.observe(StartedRecord{
			HookName: f.step.Hook.Name, HookType: f.step.Type, HookEventType: f.step.On, Dialect: f.step.Dialect,
			Tier: f.step.Hook.Tier, ToolName: e.trace.facts.tool, AgentName: e.trace.facts.agent,
		})
	}
	f.ctx, f.cancel = context.WithTimeout(e.ctx, c.hook.timeout())
	f.in = invocation{event: e.event, hook: c.hook, payload: e.payloads[c.hook.Dialect], cannotAsk: e.trace.facts.cannotAsk}
	if failure := e.prepare(f); failure != nil {
		f.answer.failure = failure
		f.end()
		return f
	}
	if c.hook.Independent && e.rt.opts.Parallel > 1 {
		f.done = make(chan struct{})
		go func() { defer close(f.done); e.execute(f) }()
	}
	return f
}

// prepare gives the hook its trajectory, unless its time is already used up.
func (e *evaluation) prepare(f *flight) *Failure {
	if err := e.host.Err(); err != nil {
		return &Failure{Kind: FailureTimeout, Message: "the evaluation was over before it began", Err: err}
	}
	if err := f.ctx.Err(); err != nil {
		return &Failure{Kind: FailureTimeout, Message: "the event's budget was used up before it began", Err: err}
	}
	if e.place != nil {
		f.in.trajectory = e.place.writer(f.ctx)
	}
	if _, ok := f.c.hook.Run.(Func); ok || f.c.terms.beginning {
		return nil
	}
	if e.place == nil {
		f.in.summary = e.event.common().literalSummary()
		return nil
	}
	sandbox := e.rt.sandbox
	if f.c.isPrompt() {
		sandbox = e.rt.local
	}
	var failure *Failure
	summaries := f.c.hook.Dialect.facts().summaries
	if f.in.summary, failure = e.place.place(f.ctx, sandbox, summaries); failure != nil {
		if summaries && e.rt.opts.Conduct == Hardened || f.ctx.Err() != nil { // SUM-1
			return failure
		}
		e.note(f.c, f.in.payload.key, failure.Message)
	}
	return nil
}

// execute runs the hook to its end. What it calls may be the host's: a panic
// or runtime.Goexit there is a failure of the hook, since nobody could recover
// it in another goroutine.
func (e *evaluation) execute(f *flight) {
	returned := false
	defer func() {
		if p := recover(); p != nil {
			f.answer = answer{failure: panicked(p)}
		} else if !returned {
			f.answer = answer{failure: goexited()}
		}
		if e.place != nil && f.c.isPrompt() {
			if err := e.place.remove(f.ctx, f.in.summary); err != nil {
				f.answer.notes = append(f.answer.notes, note{f.in.payload.key, err.Error()})
			}
		}
		f.end()
	}()
	f.c.executor.run(f.ctx, &f.in, &f.answer)
	returned = true
}

func (f *flight) end() { f.ended, f.step.Duration = true, time.Since(f.begun) }

// wait returns when nothing of the hook runs any more. The deadline's clock is
// let go also when the host's sandbox ends this goroutine.
func (e *evaluation) wait(f *flight) {
	defer f.cancel()
	switch {
	case f.done != nil:
		<-f.done
	case !f.ended:
		e.execute(f)
	}
}

// commit hears what a hook that has ended says, and applies its fail mode.
func (e *evaluation) commit(f *flight) {
	rt, conduct := e.rt, e.rt.opts.Conduct
	a, s, c := &f.answer, f.step, f.c
	s.ExitCode, s.Signal, s.Stdout, s.Stderr = a.exitCode, a.signal, a.stdout, a.stderr
	for _, n := range a.notes {
		e.note(c, n.key, n.message)
	}
	mode := FailUnset
	switch s.Failure = a.failure; {
	case a.failure == nil || a.holds:
		s.hear(c.row, conduct, &a.result)
		e.checkInput(c, s)
	case e.host.Err() != nil:
		s.cancelled()
	default:
		mode = conduct.failMode(c.hook)
		s.settle(c.row, conduct, mode)
		if s.Dialect.facts().warns {
			e.note(c, "", a.failure.warning())
		}
	}
	s.Why = s.why(c.row, mode)
	if n := e.trace.selection.notes[c.index]; n != "" {
		s.Why += "; the matcher " + n
	}
	if r, ok := executionRecord(s, &e.trace.facts, rt.opts.CutReasons); ok {
		e.observe(r)
	}
	e.trace.ran = append(e.trace.ran, *s)
}

// abort tells of a hook that was cancelled, and has ended, because the chain
// ended before it. Its answer is not read and does not count.
func (e *evaluation) abort(f *flight) {
	a, s := &f.answer, f.step
	s.ExitCode, s.Signal = a.exitCode, a.signal
	s.Failure = a.failure
	s.cancelled()
	s.Why = "cancelled with the evaluation"
	if by := e.trace.endedBy; by != nil {
		s.Why = fmt.Sprintf("cancelled: %s ended the chain with %s", by.Hook, by.Decision)
	}
	e.trace.ran = append(e.trace.ran, *s)
}

// checkInput drops a new tool input that is not acceptable.
func (e *evaluation) checkInput(c *compiled, s *Step) {
	const key = "hookSpecificOutput.updatedInput"
	if s.UpdatedInput == nil {
		return
	}
	input, note, err := e.rt.acceptInput(e.trace.facts.tool, s.UpdatedInput)
	if s.UpdatedInput = input; err != nil {
		e.note(c, key, "updatedInput is dropped: "+err.Error())
	} else if note != "" {
		e.note(c, key, note)
	}
}

func (e *evaluation) note(c *compiled, key, message string) {
	e.Diagnostics = append(e.Diagnostics, Diagnostic{Hook: c.hook.Name, Key: key, Message: message})
}
