package hooks

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// threadHook is a hook of after_thread_created that does nothing.
func threadHook(id string) Definition {
	return Define(AfterThreadCreated, id, func(context.Context, ThreadState, HookContext) error { return nil })
}

func userHook(id string) Definition {
	return Define(UserValueChanged, id, func(context.Context, UserState, string) error { return nil })
}

func hooksOf(c *Composition) []string {
	var out []string
	for h := range c.Hooks() {
		out = append(out, fmt.Sprintf("%s (%s)", h.ID, h.Source))
	}
	return out
}

func compose(t *testing.T, opts *LifecycleOptions, p Parent, spaces ...Namespace) (*Composition, error) {
	t.Helper()
	reg, err := NewRegistry(spaces, opts)
	require.NoError(t, err)
	return reg.Compose(t.Context(), p)
}

// Seed 1.3 and lifecycle.md, Rules: composition.
func TestComposition(t *testing.T) {
	global := Namespace{Hooks: []Definition{threadHook("one"), threadHook("two"), threadHook("free"), userHook("user")}}
	shop := Namespace{Package: "acme/shop", Hooks: []Definition{threadHook("one"), threadHook("before"), threadHook("after"), threadHook("late")}}
	child := AgentDef{Name: "shop", Package: "acme/shop", ParentHooks: []ChildHook{
		{Hook: "after", Reason: "r"}, {Hook: "before", Reason: "r", Stage: StageBeforeParent}, {Hook: "late", Reason: "r", Stage: StageAfterParent},
	}}
	free := AgentDef{Name: "free", ParentHooks: []ChildHook{{Hook: "free", Reason: "r", Stage: StageBeforeParent}}}
	agent := AgentDef{Name: "a", Hooks: []string{"two"}}
	prompt := func(ids ...string) *PromptDef { return &PromptDef{Name: "p", Hooks: ids} }
	rels := func(r ...Relationship) []Relationship { return r }

	for name, c := range map[string]struct {
		parent Parent
		opts   *LifecycleOptions
		want   []string
	}{
		"before hooks, prompt hooks, after hooks": {
			Parent{Agent: agent, Prompt: prompt("two", "one"), Relationships: rels(Relationship{Agent: child}, Relationship{Agent: free})}, nil,
			[]string{
				"before (child shop of acme/shop)", "free (child free)", "two (prompt p)", "one (prompt p)",
				"after (child shop of acme/shop)", "late (child shop of acme/shop)",
			},
		},
		"the prompt's hooks, never both":              {Parent{Agent: agent, Prompt: prompt("one")}, nil, []string{"one (prompt p)"}},
		"the agent's when the prompt has none":        {Parent{Agent: agent, Prompt: &PromptDef{Name: "p"}}, nil, []string{"two (agent a)"}},
		"an empty list is none":                       {Parent{Agent: agent, Prompt: &PromptDef{Name: "p", Hooks: []string{}}}, nil, []string{"two (agent a)"}},
		"no source declares it: nothing runs":         {Parent{Agent: AgentDef{Name: "a"}, Prompt: prompt()}, nil, nil},
		"packages are never a global source":          {Parent{Agent: AgentDef{Name: "a", Hooks: []string{"one"}}}, nil, []string{"one (agent a)"}},
		"hidden children count":                       {Parent{Prompt: prompt(), Relationships: rels(Relationship{Agent: free, Hidden: true})}, nil, []string{"free (child free)"}},
		"disabled children do not":                    {Parent{Prompt: prompt(), Relationships: rels(Relationship{Agent: free, Disabled: true})}, nil, nil},
		"only the active side":                        {Parent{Prompt: prompt(), Side: SideA, Relationships: rels(Relationship{Agent: free, Side: SideB})}, nil, nil},
		"the active side":                             {Parent{Prompt: prompt(), Side: SideA, Relationships: rels(Relationship{Agent: free, Side: SideA})}, nil, []string{"free (child free)"}},
		"only entry agents":                           {Parent{Prompt: prompt(), Relationships: rels(Relationship{Agent: AgentDef{Name: "in", Inner: true, ParentHooks: free.ParentHooks}})}, nil, nil},
		"one child in two relationships twice":        {Parent{Prompt: prompt(), Relationships: rels(Relationship{Agent: free}, Relationship{As: "again", Agent: free})}, nil, []string{"free (child free)", "free (child again (agent free))"}},
		"at rest: the agent's hooks only":             {Parent{Agent: agent, Relationships: rels(Relationship{Agent: child})}, nil, []string{"two (agent a)"}},
		"at rest with the option: children too":       {Parent{Agent: agent, Relationships: rels(Relationship{Agent: free})}, &LifecycleOptions{ChildrenAtRest: true}, []string{"free (child free)", "two (agent a)"}},
		"the parent's own ids resolve in its package": {Parent{Agent: AgentDef{Name: "a", Package: "acme/shop", Hooks: []string{"late"}}}, nil, []string{"late (agent a)"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := compose(t, c.opts, c.parent, global, shop)
			require.NoError(t, err)
			require.Empty(t, got.Warnings())
			require.Equal(t, c.want, hooksOf(got))
		})
	}
}

// lifecycle.md: a required child hook that is missing, fails to load, has
// another id, no function, or user scope fails the composition; the reason
// must not be blank, the stage known, no id twice. The same faults in a
// prompt's or agent's own list are warnings; strict makes them errors.
func TestCompositionFaults(t *testing.T) {
	broken := errors.New("disk on fire")
	pkg := Namespace{
		Package: "acme/shop", Hooks: []Definition{threadHook("good"), userHook("user")},
		Load: func(_ context.Context, id string) (Definition, error) {
			switch id {
			case "loaded":
				return threadHook(id), nil
			case "broken":
				return Definition{}, broken
			case "panics":
				panic("no")
			case "other_id":
				return threadHook("another"), nil
			case "no_function":
				return Define(AfterThreadCreated, id, nil), nil
			case "no_point":
				return Definition{id: id}, nil
			}
			return Definition{}, fmt.Errorf("%q: %w", id, CauseMissing)
		},
	}
	require1 := func(h ...ChildHook) Parent {
		return Parent{Prompt: &PromptDef{Name: "p"}, Relationships: []Relationship{{As: "rel", Agent: AgentDef{Name: "shop", Package: "acme/shop", ParentHooks: h}}}}
	}
	for id, cause := range map[string]Cause{
		"missing": CauseMissing, "broken": CauseLoad, "panics": CauseLoad, "other_id": CauseID,
		"no_function": CauseFunc, "no_point": CauseFunc, "user": CauseScope,
	} {
		t.Run(id, func(t *testing.T) {
			c, err := compose(t, nil, require1(ChildHook{Hook: id, Reason: "r"}), pkg)
			require.Nil(t, c)
			require.ErrorIs(t, err, cause)
			var all *CompositionError
			require.ErrorAs(t, err, &all)
			require.Len(t, all.Faults, 1)
			require.Equal(t, ChildSource{"rel", "shop", "acme/shop"}, all.Faults[0].Source)
			require.ErrorContains(t, err, fmt.Sprintf("hook %q of child rel (agent shop) of acme/shop", id))
			if id == "broken" {
				require.ErrorIs(t, err, broken)
			}

			own := Parent{Agent: AgentDef{Name: "a", Package: "acme/shop", Hooks: []string{id, "good"}}}
			c, err = compose(t, nil, own, pkg)
			require.NoError(t, err, "in the parent's own list it is a warning")
			require.Len(t, c.Warnings(), 1)
			w := c.Warnings()[0]
			require.Equal(t, []any{cause, id, AgentSource{"a"}}, []any{w.Cause, w.Hook, w.Source})
			require.Equal(t, []string{"good (agent a)"}, hooksOf(c))
			_, err = compose(t, &LifecycleOptions{Strict: true}, own, pkg)
			require.ErrorIs(t, err, cause, "strict makes it an error")
		})
	}
	t.Run("declarations", func(t *testing.T) {
		_, err := compose(t, nil, require1(
			ChildHook{Hook: "good", Reason: " \t"}, ChildHook{Hook: "loaded", Reason: "r", Stage: "during"}, ChildHook{Hook: "good", Reason: "r"},
		), pkg)
		var all *CompositionError
		require.ErrorAs(t, err, &all)
		require.Len(t, all.Faults, 3, "all at once")
		for i, cause := range []Cause{CauseReason, CauseStage, CauseTwice} {
			require.Equal(t, cause, all.Faults[i].Cause)
		}
	})
	t.Run("an id twice in the own list", func(t *testing.T) {
		c, err := compose(t, nil, Parent{Agent: AgentDef{Name: "a", Package: "acme/shop", Hooks: []string{"good", "good"}}}, pkg)
		require.NoError(t, err)
		require.Equal(t, CauseTwice, c.Warnings()[0].Cause)
		require.Len(t, hooksOf(c), 1)
	})
	t.Run("child ids resolve only in the child's package", func(t *testing.T) {
		global := Namespace{Hooks: []Definition{threadHook("only_global")}}
		_, err := compose(t, nil, require1(ChildHook{Hook: "only_global", Reason: "r"}), global, Namespace{Package: "acme/shop"})
		require.ErrorIs(t, err, CauseMissing)
		_, err = compose(t, nil, require1(ChildHook{Hook: "only_global", Reason: "r"}), global)
		require.ErrorContains(t, err, `no namespace "acme/shop"`)
		p := require1(ChildHook{Hook: "only_global", Reason: "r"})
		p.Relationships[0].Agent.Package = ""
		_, err = compose(t, nil, p, global)
		require.NoError(t, err, "an unpackaged child uses the global set")
	})
	t.Run("loaded once, eagerly", func(t *testing.T) {
		loads := 0
		ns := Namespace{Load: func(_ context.Context, id string) (Definition, error) { loads++; return threadHook(id), nil }}
		child := AgentDef{Name: "c", ParentHooks: []ChildHook{{Hook: "x", Reason: "r"}}}
		c, err := compose(t, nil, Parent{Prompt: &PromptDef{}, Relationships: []Relationship{{Agent: child}, {As: "b", Agent: child}}}, ns)
		require.NoError(t, err)
		require.Equal(t, 1, loads)
		require.NoError(t, c.AfterThreadCreated(t.Context(), &MemoryThread{}))
		require.Equal(t, 1, loads)
	})
	t.Run("a cancelled Compose", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		reg, err := NewRegistry([]Namespace{pkg}, nil)
		require.NoError(t, err)
		c, err := reg.Compose(ctx, require1(ChildHook{Hook: "loaded", Reason: "r"}))
		require.Nil(t, c)
		require.ErrorIs(t, err, context.Canceled)
	})
}

// Seed 2.4: execution provenance.
func TestProvenance(t *testing.T) {
	var seen []Source
	var threads []string
	note := Define(AfterThreadCreated, "note", func(_ context.Context, st ThreadState, hc HookContext) error {
		seen, threads = append(seen, hc.Source), append(threads, st.ThreadID())
		return nil
	})
	child := AgentDef{Name: "worker", Package: "acme/w", ParentHooks: []ChildHook{{Hook: "note", Reason: "r"}}}
	spaces := []Namespace{{Hooks: []Definition{note}}, {Package: "acme/w", Hooks: []Definition{note}}}
	rels := []Relationship{{Agent: child}, {As: "helper", Agent: child}}
	c, err := compose(t, nil, Parent{Prompt: &PromptDef{Name: "p", Hooks: []string{"note"}}, Relationships: rels}, spaces...)
	require.NoError(t, err)
	st := &MemoryThread{ID: "parent", Agent: "liar"}
	require.NoError(t, c.AfterThreadCreated(t.Context(), st))
	c, err = compose(t, nil, Parent{Agent: AgentDef{Name: "a", Hooks: []string{"note"}}}, spaces...)
	require.NoError(t, err)
	require.NoError(t, c.AfterThreadCreated(t.Context(), st))
	require.Equal(t, []Source{
		PromptSource{"p"}, ChildSource{"worker", "worker", "acme/w"}, ChildSource{"helper", "worker", "acme/w"}, AgentSource{"a"},
	}, seen)
	require.Equal(t, []string{"parent", "parent", "parent", "parent"}, threads, "child hooks run with the parent's ThreadState")
	kinds := []string{}
	for _, s := range seen {
		kinds = append(kinds, s.Kind())
	}
	require.Equal(t, []string{"prompt", "child", "child", "agent"}, kinds)
}
