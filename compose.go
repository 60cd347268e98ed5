package hooks

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"time"
)

// Registry holds the definitions of lifecycle hooks, by namespace. It is
// immutable and safe for concurrent use; make it with [NewRegistry].
type Registry struct {
	runner *runner
	spaces map[string]*space
	user   [pointCount][]bound // hooks of user scope
}

// Namespace is the definitions of one package, or the global ones.
type Namespace struct {
	// Package names the namespace; empty is the global one.
	Package string
	Hooks   []Definition
	// Load, if set, is asked for an id that Hooks does not have. It returns
	// [CauseMissing], alone or wrapped, when there is no such hook. It may be
	// called concurrently and is given the timeout of a hook.
	Load func(ctx context.Context, id string) (Definition, error)
}

// space is a Namespace that was checked.
type space struct {
	hooks map[string]Definition
	load  func(ctx context.Context, id string) (Definition, error)
}

// runner is what running a lifecycle hook needs.
type runner struct {
	opts      LifecycleOptions
	abandoned atomic.Int64
}

func (r *runner) timeout() time.Duration {
	if r.opts.Timeout == 0 {
		return DefaultTimeout
	}
	return r.opts.Timeout
}

// NewRegistry checks the definitions: snake_case ids, no id and no package
// twice, no nil function. All findings are reported at once, as a
// [*ConfigError]. nil options mean the zero ones.
func NewRegistry(spaces []Namespace, opts *LifecycleOptions) (*Registry, error) {
	r := &Registry{runner: &runner{}, spaces: map[string]*space{}}
	var ds []Diagnostic
	refuse := func(hook, format string, args ...any) {
		ds = append(ds, Diagnostic{Severity: SeverityError, Hook: hook, Message: fmt.Sprintf(format, args...)})
	}
	if opts != nil {
		r.runner.opts = *opts
	}
	if t := r.runner.opts.Timeout; t < 0 {
		refuse("", "LifecycleOptions.Timeout %v is negative; it must be positive, or zero for %v", t, DefaultTimeout)
	}
	for _, ns := range spaces {
		if r.spaces[ns.Package] != nil {
			refuse("", "the namespace %q is given twice", ns.Package)
			continue
		}
		s := &space{hooks: make(map[string]Definition, len(ns.Hooks)), load: ns.Load}
		r.spaces[ns.Package] = s
		for _, d := range ns.Hooks {
			if !isSnakeCase(d.id) {
				refuse(d.id, "the id is not snake_case: lower-case words of letters and digits, beginning with a letter, joined by one underscore")
			}
			if _, ok := s.hooks[d.id]; ok {
				refuse(d.id, "the id is defined twice in the namespace %q", ns.Package)
			}
			switch {
			case d.row == 0:
				refuse(d.id, "it is defined for the zero Point; use one of the package's variables, FilterMessages for instance")
			case d.fn == nil:
				refuse(d.id, "its function is nil")
			case ns.Package == "" && d.Point().Scope == ScopeUser:
				r.user[d.row-1] = append(r.user[d.row-1], bound{id: d.id, fn: d.fn})
			}
			s.hooks[d.id] = d
		}
	}
	if len(ds) > 0 {
		return nil, &ConfigError{Diagnostics: ds}
	}
	return r, nil
}

// Abandoned returns how many calls of hooks, loaders and sinks were given up
// at their deadline and have not returned yet.
func (r *Registry) Abandoned() int { return int(r.runner.abandoned.Load()) }

// isSnakeCase matches ^[a-z][a-z0-9]*(_[a-z0-9]+)*$.
func isSnakeCase(id string) bool {
	for i, word := range strings.Split(id, "_") {
		if word == "" || i == 0 && word[0] < 'a' {
			return false
		}
		for _, c := range []byte(word) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
				return false
			}
		}
	}
	return true
}

// Composition is the hooks that run for a thread, per point and in order. It
// is immutable and safe for concurrent use. The zero Composition has no hooks;
// a nil one, as an error of [Registry.Compose] leaves it, lets no message be
// created.
type Composition struct {
	runner   *runner // nil in the zero Composition
	points   [pointCount][]bound
	warnings []HookFault
}

// bound is a hook in its place.
type bound struct {
	id      string
	context HookContext
	fn      any
}

// ComposedHook is one hook of a composition.
type ComposedHook struct {
	Point  PointName
	ID     string
	Source Source
}

// Hooks yields the hooks, point by point in the order of [Points], each
// point's in the order in which they run.
func (c *Composition) Hooks() iter.Seq[ComposedHook] {
	return func(yield func(ComposedHook) bool) {
		for row, hooks := range c.points {
			for _, h := range hooks {
				if !yield(ComposedHook{pointRows[row].Name, h.id, h.context.Source}) {
					return
				}
			}
		}
	}
}

// Warnings returns the ids of the prompt's or agent's own list that name no
// usable hook; they were left out.
func (c *Composition) Warnings() []HookFault { return append([]HookFault(nil), c.warnings...) }

// Compose finds the hooks that run for a parent, once for all points: those
// that its children require before it, the prompt's own (or the agent's, when
// the prompt names none), and those that its children require after it. The
// children are the entry agents of the enabled direct relationships of the
// active side, in order. No other hook runs: a namespace that nobody names
// contributes nothing.
//
// A child's hook that cannot be had as required, and a child's declaration
// that is not valid, is an error that lists all of them, a
// [*CompositionError]; so are the ids of the parent's own list, which
// otherwise become [Composition.Warnings], with LifecycleOptions.Strict. An
// error leaves nothing to run hooks with, and so nothing to create messages
// with. ctx bounds the loading; when it is done its error is returned.
func (r *Registry) Compose(ctx context.Context, p Parent) (*Composition, error) {
	c := &composing{registry: r, ctx: ctx, composition: &Composition{runner: r.runner}, found: map[[2]string]found{}}
	own, ownSpace, source := p.Agent.Hooks, p.Agent.Package, Source(AgentSource{p.Agent.Name})
	if p.Prompt != nil && len(p.Prompt.Hooks) > 0 {
		own, ownSpace, source = p.Prompt.Hooks, p.Prompt.Package, PromptSource{p.Prompt.Name}
	}
	var children []*Relationship
	for i := range p.Relationships {
		if rel := &p.Relationships[i]; rel.contributes(&p, r.runner.opts.ChildrenAtRest) {
			children = append(children, rel)
			c.check(rel)
		}
	}
	c.children(children, StageBeforeParent)
	c.own(own, ownSpace, source)
	c.children(children, StageAfterParent)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(c.faults) > 0 {
		return nil, &CompositionError{Faults: c.faults}
	}
	return c.composition, nil
}

func (r *Relationship) contributes(p *Parent, atRest bool) bool {
	return (p.Prompt != nil || atRest) && !r.Disabled && !r.Agent.Inner && (r.Side == "" || r.Side == p.Side)
}

func (r *Relationship) source() ChildSource {
	return ChildSource{RelationshipName: r.name(), AgentName: r.Agent.Name, Package: r.Agent.Package}
}

// composing is one Compose on its way.
type composing struct {
	registry    *Registry
	ctx         context.Context
	composition *Composition
	faults      []HookFault
	found       map[[2]string]found // by package and id: everything is loaded once
}

type found struct {
	definition Definition
	cause      Cause
	err        error
}

// check judges what a child declares, apart from the hooks themselves.
func (c *composing) check(rel *Relationship) {
	seen := map[string]bool{}
	for _, h := range rel.Agent.ParentHooks {
		fault := func(cause Cause, err error) {
			c.faults = append(c.faults, HookFault{Cause: cause, Hook: h.Hook, Source: rel.source(), Err: err})
		}
		if strings.TrimSpace(h.Reason) == "" {
			fault(CauseReason, nil)
		}
		if h.Stage != "" && h.Stage != StageBeforeParent && h.Stage != StageAfterParent {
			fault(CauseStage, fmt.Errorf("%q is neither %s nor %s", h.Stage, StageBeforeParent, StageAfterParent))
		}
		if seen[h.Hook] {
			fault(CauseTwice, nil)
		}
		seen[h.Hook] = true
	}
}

// children adds what the children require at a stage.
func (c *composing) children(rels []*Relationship, stage Stage) {
	for _, rel := range rels {
		for _, h := range rel.Agent.ParentHooks {
			if h.Stage == stage || h.Stage == "" && stage == StageAfterParent {
				if fault := c.add(rel.Agent.Package, h.Hook, rel.source()); fault != nil {
					c.faults = append(c.faults, *fault)
				}
			}
		}
	}
}

// own adds the parent's own list.
func (c *composing) own(ids []string, space string, source Source) {
	seen := map[string]bool{}
	for _, id := range ids {
		fault := &HookFault{Cause: CauseTwice, Hook: id, Source: source}
		if !seen[id] {
			fault = c.add(space, id, source)
		}
		seen[id] = true
		switch {
		case fault == nil:
		case c.registry.runner.opts.Strict:
			c.faults = append(c.faults, *fault)
		default:
			c.composition.warnings = append(c.composition.warnings, *fault)
		}
	}
}

// add puts a hook behind the others of its point.
func (c *composing) add(space, id string, source Source) *HookFault {
	key := [2]string{space, id}
	f, ok := c.found[key]
	if !ok {
		f.definition, f.cause, f.err = c.registry.find(c.ctx, space, id)
		c.found[key] = f
	}
	if f.cause != "" {
		return &HookFault{Cause: f.cause, Hook: id, Source: source, Err: f.err}
	}
	hooks := &c.composition.points[f.definition.row-1]
	*hooks = append(*hooks, bound{id: id, context: HookContext{Source: source}, fn: f.definition.fn})
	return nil
}

// find returns the hook of thread scope with an id, or why there is none.
func (r *Registry) find(ctx context.Context, pkg, id string) (Definition, Cause, error) {
	s := r.spaces[pkg]
	if s == nil {
		return Definition{}, CauseMissing, fmt.Errorf("there is no namespace %q", pkg)
	}
	d, ok := s.hooks[id]
	if !ok {
		if s.load == nil {
			return d, CauseMissing, nil
		}
		ctx, cancel := context.WithTimeout(ctx, r.runner.timeout())
		defer cancel()
		var failure *Failure
		d, failure = guarded(ctx, &r.runner.abandoned, s.load, id)
		switch {
		case failure != nil && errors.Is(failure, CauseMissing):
			return d, CauseMissing, nil
		case failure != nil:
			return d, CauseLoad, failure
		}
	}
	switch {
	case d.id != id:
		return d, CauseID, fmt.Errorf("its id is %q", d.id)
	case d.row == 0 || d.fn == nil:
		return d, CauseFunc, nil
	case d.Point().Scope == ScopeUser:
		return d, CauseScope, fmt.Errorf("%s is of user scope", d.Point().Name)
	}
	return d, "", nil
}
