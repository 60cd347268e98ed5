package story

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookruntime/hooks"
	"github.com/hookruntime/hooks/internal/wire"
)

// DefaultTimeout bounds one story in one conduct.
const DefaultTimeout = time.Minute

// Result is what became of one story in one conduct.
type Result struct {
	Story   *Story
	Conduct hooks.Conduct
	// Skipped says why the story was not run; empty when it was.
	Skipped string
	// Differences says what is not as wanted; none is a passed story.
	Differences []string
	// Explain is the explanation of every event, for people.
	Explain string
	Took    time.Duration

	got []*got // by event
}

// Failed reports whether something is not as wanted.
func (r *Result) Failed() bool { return len(r.Differences) > 0 }

// Run runs the story in one conduct, with real processes in an empty temporary
// folder. A timeout of zero is [DefaultTimeout].
func (s *Story) Run(ctx context.Context, conduct hooks.Conduct, timeout time.Duration) *Result {
	r := &Result{Story: s, Conduct: conduct}
	if r.Skipped = s.missing(); r.Skipped != "" {
		return r
	}
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	dir, err := os.MkdirTemp("", "story-")
	if err != nil {
		r.Differences = []string{err.Error()}
		return r
	}
	defer os.RemoveAll(dir)
	r.run(ctx, dir)
	r.Took = time.Since(start)
	return r
}

// missing names a program that the story needs and this machine does not have.
func (s *Story) missing() string {
	for _, name := range s.Needs {
		_, err := exec.LookPath(name)
		if name == "bash" || name == "python3" {
			_, err = (&hooks.Local{}).Interpreter(name)
		}
		if err != nil {
			return "needs " + name
		}
	}
	return ""
}

func (r *Result) run(ctx context.Context, dir string) {
	all, warnings, loadErr := r.Story.load()
	tag(all)
	t := &telling{conduct: r.Conduct, dialect: r.Story.dialect, dir: dir, hooks: all, loadErr: loadErr, warnings: warnings}
	for i, e := range r.Story.Events {
		g := t.tell(ctx, e)
		r.got = append(r.got, g)
		label := ""
		if len(r.Story.Events) > 1 {
			label = fmt.Sprintf("event %d (line %d): ", i+1, e.Line)
		}
		for _, d := range e.differences(r.Conduct, g) {
			r.Differences = append(r.Differences, label+d)
		}
		r.Explain += g.explain()
		if g.loadErr != nil {
			return
		}
		if ctx.Err() != nil {
			r.Differences = append(r.Differences, label+"the story did not end in time")
			return
		}
	}
}

// telling is a story while it is told: what one event leaves to the next.
type telling struct {
	conduct  hooks.Conduct
	dialect  hooks.Dialect
	dir      string
	hooks    []hooks.Hook
	warnings []hooks.Diagnostic
	loadErr  error

	call    hooks.Carried // of the last PreToolUse
	stopped bool
	stop    hooks.StopState // after the last Stop
}

func (t *telling) tell(ctx context.Context, e *Event) *got {
	g := &got{warnings: t.warnings, loadErr: t.loadErr}
	if g.loadErr != nil {
		return g
	}
	model := &script{answers: e.answers}
	sandbox := &recorder{Local: &hooks.Local{Dir: t.dir}, inputs: map[string][]json.RawMessage{}}
	opts := &hooks.Options{Conduct: t.conduct, Sandbox: sandbox, Model: model, DefaultModel: "default", Budget: e.with.budget, Limits: e.with.limits}
	if e.noModel {
		opts.Model = nil
	}
	if e.with.validInput != nil {
		opts.ValidateInput = e.with.validate
	}
	opts.Trust = func(h *hooks.Hook) error {
		if slices.Contains(e.with.untrusted, h.Name) {
			return errors.New("the story does not trust it")
		}
		return nil
	}
	rt, err := hooks.New(t.hooks, opts)
	if err != nil {
		g.loadErr = err
		return g
	}
	if e.payload == nil {
		g.err = errors.New("the story has no payload")
		return g
	}
	ev, err := t.dialect.ParseEvent(e.payload)
	if err != nil {
		g.err = err
		return g
	}
	ev = t.prepare(ev, e)
	if g.plan, g.err = rt.Plan(ev); g.err != nil {
		return g
	}
	g.decision, g.err = rt.Evaluate(ctx, ev)
	g.questions, g.inputs = model.questions(), sandbox.inputs
	switch ev.(type) {
	case *hooks.PreToolUse:
		t.call = g.decision.Carry()
	case *hooks.Stop:
		t.stop, t.stopped = g.decision.NextStop(), true
	case *hooks.SubagentStop:
		t.stop, t.stopped = g.decision.NextStop(), true
	}
	return g
}

// prepare puts into a parsed event what the payload does not say, and what
// earlier events left to it.
func (t *telling) prepare(ev hooks.Event, e *Event) hooks.Event {
	switch x := ev.(type) {
	case *hooks.PostToolUse:
		ev = t.returned(x, e.with.resumed)
	case *hooks.Stop:
		if t.stopped && !e.says("stop_hook_active") && !e.says("stop_rejection_count") {
			x.StopState = t.stop
		}
	case *hooks.SubagentStop:
		if t.stopped && !e.says("stop_hook_active") {
			x.StopState = t.stop
		}
	}
	c := hooks.CommonOf(ev)
	if c.Workspace == "" {
		c.Workspace = t.dir
	}
	c.Child, c.CannotAsk, c.Switches, c.Trajectory = e.with.child, e.with.cannotAsk, e.with.switches, e.with.trajectory
	return ev
}

// returned hands the metadata of the PreToolUse event over, as a host does.
// What the payload holds beside its fields is the pipeline's.
func (t *telling) returned(post *hooks.PostToolUse, resumed bool) *hooks.PostToolUse {
	pre := &hooks.PreToolUse{Common: post.Common, ToolName: post.ToolName, ToolInput: post.ToolInput, CallID: post.CallID}
	pre.Metadata = nil // it is the pipeline's, which comes later
	result := hooks.ToolResult{Result: post.ToolResult, Succeeded: post.ToolSucceeded, Metadata: post.Metadata}
	call := t.call
	t.call = hooks.Carried{}
	switch {
	case resumed:
		return pre.Resumed(result)
	case len(call.Metadata) > 0:
		return pre.Returned(result, call)
	}
	// A payload without a PreToolUse event before it is replayed as it is.
	return post
}

// explain is the explanation of the event for people.
func (g *got) explain() string {
	var b strings.Builder
	switch {
	case g.loadErr != nil:
		fmt.Fprintf(&b, "the hooks were refused:\n%v\n", g.loadErr)
	case g.err != nil:
		fmt.Fprintf(&b, "the event was refused: %v\n", g.err)
	default:
		b.WriteString(g.decision.Explain())
	}
	for _, w := range g.warnings {
		fmt.Fprintf(&b, "  note: %s\n", w)
	}
	return b.String()
}

// says reports whether the payload itself has a key.
func (e *Event) says(key string) bool {
	members, err := wire.Members(e.payload)
	return err == nil && member(members, key) != ""
}

// RunAll runs stories in all their conducts, some at a time, and yields the
// results in order. Once ctx is done, no further story begins and no further
// result comes.
func RunAll(ctx context.Context, stories []*Story) iter.Seq[*Result] {
	return func(yield func(*Result) bool) {
		var running sync.WaitGroup
		defer running.Wait()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		slots := make(chan struct{}, runtime.GOMAXPROCS(0))
		var results []chan *Result
		for _, s := range stories {
			for _, c := range s.Conducts {
				result := make(chan *Result, 1)
				results = append(results, result)
				running.Go(func() {
					select {
					case slots <- struct{}{}:
						result <- s.Run(ctx, c, 0)
						<-slots
					case <-ctx.Done():
					}
				})
			}
		}
		for _, result := range results {
			select {
			case r := <-result:
				if !yield(r) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}
