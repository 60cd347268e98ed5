package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

// Options holds what a Runtime needs from outside. The zero value, and nil,
// are ready: Contract conduct, commands on this machine, no model, no limit
// for an event as a whole.
type Options struct {
	// Conduct chooses between the documented behaviour and the hardened one.
	Conduct Conduct
	// Sandbox is where command hooks run; nil means &Local{}.
	Sandbox Sandbox
	// Model judges prompt hooks; without one New refuses them (PRM-7).
	Model Model
	// DefaultModel is the name passed for prompt hooks that name no model.
	DefaultModel string
	// PromptFolders are folders that the tools of prompt hooks may read beside
	// the trajectory (PRM-5). None by default.
	PromptFolders []string
	// Budget bounds one event, all hooks together; 0 means no bound. A hook
	// that the budget does not reach counts as timed out, so its fail mode
	// decides.
	Budget time.Duration
	// Limits bounds input and output; zero fields mean the defaults.
	Limits Limits
	// Trust, if set, is asked once per hook in New, with a copy. A hook it
	// returns an error for stays in every plan, with fate untrusted, and never
	// runs; a system hook it refuses makes New fail.
	Trust func(h *Hook) error
	// Observe, if set, gets telemetry records with the context of the
	// evaluation. It is called from Evaluate and must be safe for concurrent
	// use; it should return quickly.
	Observe func(ctx context.Context, r Record)
	// ValidateInput, if set, says why the input of a tool that a hook of
	// [VSCode] wants in place of the real one does not fit the tool; nil when
	// it does. The input is one JSON object within the Limits. Without it any
	// object is accepted, with a diagnostic. It is called from Evaluate, and
	// must be safe for concurrent use.
	ValidateInput func(tool string, input json.RawMessage) error
	// CutReasons cuts reasons in records at 256 characters (TEL-4).
	CutReasons bool
}

// Runtime runs hooks. It is immutable and safe for concurrent use; the zero
// value is not usable, see [New].
type Runtime struct {
	opts      Options
	sandbox   Sandbox
	local     Sandbox // where the files of prompt hooks are
	registry  *registry
	warnings  []Diagnostic
	abandoned *atomic.Int64
}

// New checks and compiles the hooks. nil options mean the zero Options. All
// findings are reported at once, as a [*ConfigError]; the hooks are copied. In
// a process that was started by hooks inside hooks, [MaxDepth] deep, command
// hooks are refused with a [*DepthError]. It may be called concurrently.
func New(hooks []Hook, opts *Options) (*Runtime, error) {
	rt := &Runtime{abandoned: new(atomic.Int64)}
	if opts != nil {
		rt.opts = *opts
		rt.opts.PromptFolders = slices.Clone(opts.PromptFolders)
	}
	return rt.ready(hooks)
}

// With returns a Runtime that has these hooks too. A hook replaces, as a
// whole, the one of the same tier, agent and name (CFG-7); the others are
// added behind. Evaluations in flight keep the old Runtime. Errors are as in
// New.
func (rt *Runtime) With(hooks ...Hook) (*Runtime, error) {
	all := make([]Hook, len(rt.registry.hooks), len(rt.registry.hooks)+len(hooks))
	for i, c := range rt.registry.hooks {
		all[i] = *c.hook
	}
	for _, h := range hooks {
		if i := slices.IndexFunc(all, func(o Hook) bool { return o.Ref() == h.Ref() }); i >= 0 {
			all[i] = h
		} else {
			all = append(all, h)
		}
	}
	next := &Runtime{opts: rt.opts, abandoned: rt.abandoned}
	return next.ready(all)
}

// Hooks returns copies of the hooks in registration order.
func (rt *Runtime) Hooks() []Hook {
	all := make([]Hook, len(rt.registry.hooks))
	for i, c := range rt.registry.hooks {
		all[i] = *c.hook.clone()
	}
	return all
}

// CheckSwitches tells which names in the switches of a thread have no effect,
// as a [*ConfigError]: names that no hook has, an always hook activated, a
// system hook deactivated (CFG-6). Evaluate ignores such names, since hooks
// come and go while a thread lives; a host asks when somebody switches.
func (rt *Runtime) CheckSwitches(s Switches) error {
	var ds []Diagnostic
	check := func(names []string, switchable func(*Hook) bool, problem string) {
		for _, name := range names {
			known, works := false, false
			for _, c := range rt.registry.hooks {
				if c.hook.Name == name {
					known, works = true, works || switchable(c.hook)
				}
			}
			d := Diagnostic{Severity: SeverityError, Hook: name, Message: problem}
			if !known {
				d.Message = "no hook has this name"
			}
			if !works {
				ds = append(ds, d)
			}
		}
	}
	check(s.Activated, func(h *Hook) bool { return h.OnDemand }, "is always active; only on-demand hooks can be activated")
	check(s.Deactivated, func(h *Hook) bool { return h.Tier != TierSystem }, "is a system hook, which cannot be switched off")
	if ds != nil {
		return &ConfigError{Diagnostics: ds}
	}
	return nil
}

// Warnings returns what [Lint] says of the hooks: those that can never fire,
// matchers that are compared exactly, and the like.
func (rt *Runtime) Warnings() []Diagnostic { return slices.Clone(rt.warnings) }

// Abandoned returns how many calls of Func hooks, models and trajectory
// writers were given up at their deadline and have not returned yet. Nothing
// else of an evaluation outlives it. Runtimes made by With share the count.
func (rt *Runtime) Abandoned() int { return int(rt.abandoned.Load()) }

// ready returns rt filled, or nil: a caller who drops the error must not
// hold a Runtime with fewer hooks than were configured.
func (rt *Runtime) ready(hooks []Hook) (*Runtime, error) {
	if err := rt.compile(hooks); err != nil {
		return nil, err
	}
	return rt, nil
}

// compile fills rt, whose options are set.
func (rt *Runtime) compile(hooks []Hook) error {
	if err := checkDepth(hooks); err != nil {
		return err
	}
	rt.opts.Limits = rt.opts.Limits.withDefaults()
	if rt.sandbox = rt.opts.Sandbox; rt.sandbox == nil {
		rt.sandbox = &Local{}
	}
	rt.local = &Local{}
	rt.registry = &registry{}
	errs := rt.opts.problems()
	names := make(map[HookRef]int, len(hooks))
	for i := range hooks {
		h := hooks[i].clone()
		label := h.Name
		if label == "" {
			label = fmt.Sprintf("#%d", i+1)
		}
		refuse := func(key, message string) {
			errs = append(errs, Diagnostic{Severity: SeverityError, Hook: label, Key: key, Message: message})
		}
		ps := h.problems()
		for _, p := range ps {
			refuse(p.key, p.message)
		}
		if first, ok := names[h.Ref()]; ok && h.Name != "" {
			refuse("name", fmt.Sprintf("hooks #%d and #%d of tier %s have the same name", first+1, i+1, h.Tier))
		}
		names[h.Ref()] = i
		if len(ps) > 0 {
			continue
		}
		findings := Lint([]Hook{*h})
		for _, f := range findings {
			if f.Severity == SeverityError {
				refuse(f.Key, f.Message)
			}
		}
		rt.warnings = append(rt.warnings, findings...)
		c, problem := rt.compileHook(h)
		if problem != nil {
			refuse(problem.key, problem.message)
			continue
		}
		rt.registry.hooks = append(rt.registry.hooks, c)
	}
	if len(errs) > 0 {
		return &ConfigError{Diagnostics: errs}
	}
	for i := range rt.registry.chains {
		rt.registry.chains[i].init(&eventRows[i], rt.registry.hooks)
	}
	return nil
}

func (o *Options) problems() []Diagnostic {
	var ds []Diagnostic
	add := func(key, format string, args ...any) {
		ds = append(ds, Diagnostic{Severity: SeverityError, Key: key, Message: fmt.Sprintf(format, args...)})
	}
	if !o.Conduct.valid() {
		add("Options.Conduct", "Options.Conduct %d is unknown; it must be Contract or Hardened", int(o.Conduct))
		o.Conduct = Hardened // so that the hooks can be checked all the same
	}
	if o.Budget < 0 {
		add("Options.Budget", "Options.Budget %v is negative; it must be positive, or zero for no bound", o.Budget)
	}
	if l := o.Limits; min(l.Depth, l.Number, l.Stdout, l.Stderr, l.Text) < 0 {
		add("Options.Limits", "a field of Options.Limits is negative; it must be positive, or zero for the default")
	}
	return ds
}

// compileHook compiles a valid hook.
func (rt *Runtime) compileHook(h *Hook) (*compiled, *problem) {
	row, conduct := h.On.row(), rt.opts.Conduct
	c := &compiled{hook: h, row: row, terms: h.terms()}
	switch {
	case row.tool && !h.Dialect.facts().matchers:
		c.matcher = compileMatcher("*", conduct)
	case row.tool:
		c.matcher = compileMatcher(h.Matcher, conduct)
		if conduct == Hardened && h.Matcher == "" { // QRK-13
			return nil, &problem{"matcher", fmt.Sprintf(`matcher is missing: a %s hook without one never fires ("*" matches every tool)`, h.On)}
		}
		if conduct == Hardened && c.matcher.broken != nil { // QRK-3
			return nil, &problem{"matcher", fmt.Sprintf("matcher %s does not compile: %s", quotePattern(h.Matcher), regexpReason(c.matcher.broken))}
		}
	}
	reader := answerReader{conduct: conduct, lim: rt.opts.Limits}
	switch b := h.Run.(type) {
	case Command:
		does := &manners[h.Dialect]
		runner, err := newCommandRunner(b, rt.sandbox, rt.opts.Limits, does.line, does.exits(row, conduct, rt.opts.Limits))
		if err != nil {
			return nil, &problem{"command", err.Error()}
		}
		if h.Dialect.facts().folders {
			home, err := homeFor(b.Dir, rt.sandbox)
			if err != nil {
				return nil, &problem{"cwd", err.Error()}
			}
			runner.folder = func(workspace string) string { return folderOf(b.Dir, workspace, home, runtime.GOOS) }
		}
		c.executor = runner
	case Prompt:
		if rt.opts.Model == nil {
			return nil, &problem{"type", "it is a prompt hook, and Options.Model is not set"}
		}
		name := b.Model
		if name == "" {
			name = rt.opts.DefaultModel
		}
		c.executor = &promptRunner{
			prompt: b, model: rt.opts.Model, name: name, folders: rt.opts.PromptFolders,
			abandoned: rt.abandoned, reader: reader,
		}
	case Func:
		c.executor = &funcRunner{fn: b, abandoned: rt.abandoned, reader: reader}
	}
	if rt.opts.Trust != nil {
		if c.untrusted = rt.opts.Trust(h.clone()); c.untrusted != nil && h.Tier == TierSystem {
			return nil, &problem{"", fmt.Sprintf("the system hook is not trusted: %v", c.untrusted)}
		}
	}
	return c, nil
}
