package hooks

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// brokenStore refuses everything.
type brokenStore struct{ err error }

func (s brokenStore) Insert(context.Context, Message) (Message, error) { return Message{}, s.err }
func (s brokenStore) Update(context.Context, string, MessageUpdate) (Message, error) {
	return Message{}, s.err
}

// Seed 4, message lifecycle hooks.
func TestMessageHooks(t *testing.T) {
	ctx := t.Context()
	var order []string
	create := func(id string, err error) Definition {
		return Define(BeforeCreateMessage, id, func(_ context.Context, _ ThreadState, m Message, _ HookContext) (Message, error) {
			order = append(order, id+" "+m.Text())
			m.SetText(m.Text() + "+" + id)
			return m, err
		})
	}
	after := func(p Point[observeMessageFunc], id string) Definition {
		return Define(p, id, func(_ context.Context, _ ThreadState, m Message, _ HookContext) error {
			order = append(order, id+" "+m.ID+" "+m.Text())
			return errors.New("no")
		})
	}
	update := func(id string, err error) Definition {
		return Define(BeforeUpdateMessage, id, func(_ context.Context, _ ThreadState, msg string, u MessageUpdate, _ HookContext) (MessageUpdate, error) {
			text, _ := u.Text()
			order = append(order, id+" "+msg+" "+text)
			u.SetText(text + "+" + id)
			return u, err
		})
	}
	veto := errors.New("not this one")

	t.Run("4.1 and 4.2: before and after every insert, in order", func(t *testing.T) {
		order = nil
		var rec recorder
		th := threadOf(composed(t, rec.options(), create("a", nil), create("b", nil), after(AfterCreateMessage, "c"), after(AfterCreateMessage, "d")))
		m, err := th.InjectMessage(ctx, textMessage(RoleUser, "x"))
		require.NoError(t, err, "failures after it do not affect the created message")
		require.Equal(t, "x+a+b", m.Text(), "the returned object is used for insertion")
		require.Equal(t, []string{"a x", "b x+a", "c m1 x+a+b", "d m1 x+a+b"}, order)
		require.Equal(t, []string{"after_create_message/c error", "after_create_message/d error"}, rec.failures())
		ms, _ := th.Messages(ctx)
		require.Equal(t, []string{"x+a+b"}, texts(ms))
	})
	t.Run("4.1: a failure prevents the creation", func(t *testing.T) {
		for name, hook := range map[string]Definition{
			"error": create("no", veto),
			"panic": Define(BeforeCreateMessage, "no", createFunc(func(context.Context, ThreadState, Message, HookContext) (Message, error) { panic(veto) })),
		} {
			order = nil
			var rec recorder
			th := threadOf(composed(t, rec.options(), hook, create("not_reached", nil), after(AfterCreateMessage, "nor_this")))
			_, err := th.InjectMessage(ctx, textMessage(RoleUser, "x"))
			var he *HookError
			require.ErrorAs(t, err, &he, name)
			require.Equal(t, []any{PointName("before_create_message"), "no", PromptSource{"p"}}, []any{he.Point, he.ID, he.Source})
			if name == "error" {
				require.ErrorIs(t, err, veto)
			}
			require.LessOrEqual(t, len(order), 1, "the first error ends it")
			ms, _ := th.Messages(ctx)
			require.Empty(t, ms)
			require.True(t, rec.records[0].(LifecycleRecord).Prevented)
			require.Empty(t, rec.failed, "it was returned to the creator")
		}
	})
	t.Run("4.3 and 4.4: before and after every update", func(t *testing.T) {
		order = nil
		var rec recorder
		th := threadOf(composed(t, rec.options(), update("a", nil), update("b", nil), after(AfterUpdateMessage, "c")))
		_, err := th.InjectMessage(ctx, textMessage(RoleUser, "old"))
		require.NoError(t, err)
		var u MessageUpdate
		u.SetText("x")
		m, err := th.UpdateMessage(ctx, "m1", u)
		require.NoError(t, err, "failures after it do not affect the updated message")
		require.Equal(t, "x+a+b", m.Text(), "the returned object is used for the update")
		require.Equal(t, []string{"a m1 x", "b m1 x+a", "c m1 x+a+b"}, order)
		require.Equal(t, []string{"after_update_message/c error"}, rec.failures())
	})
	t.Run("4.3: a failure prevents the update", func(t *testing.T) {
		order = nil
		th := threadOf(composed(t, nil, update("no", veto), update("not_reached", nil), after(AfterUpdateMessage, "nor_this")))
		_, err := th.InjectMessage(ctx, textMessage(RoleUser, "old"))
		require.NoError(t, err)
		var u MessageUpdate
		u.SetText("x")
		_, err = th.UpdateMessage(ctx, "m1", u)
		require.ErrorIs(t, err, veto)
		require.ErrorContains(t, err, `before_update_message hook "no"`)
		require.Equal(t, []string{"no m1 x"}, order)
		ms, _ := th.Messages(ctx)
		require.Equal(t, []string{"old"}, texts(ms))
	})
	t.Run("an error of the store is returned, and no after hook runs", func(t *testing.T) {
		order = nil
		full := errors.New("disk full")
		g := composed(t, nil, create("a", nil), update("a2", nil), after(AfterCreateMessage, "b"), after(AfterUpdateMessage, "c")).
			Gateway(&MemoryThread{}, brokenStore{full})
		_, err := g.Create(ctx, Message{})
		require.Equal(t, full, err)
		_, err = g.Update(ctx, "m", MessageUpdate{})
		require.Equal(t, full, err)
		require.Equal(t, []string{"a ", "a2 m "}, order)
	})
	t.Run("no composition, no message", func(t *testing.T) {
		var none *Composition
		store := &MemoryStore{}
		_, err := none.Gateway(&MemoryThread{}, store).Create(ctx, Message{})
		require.ErrorIs(t, err, ErrNoComposition)
		_, err = none.Gateway(&MemoryThread{}, store).Update(ctx, "m", MessageUpdate{})
		require.ErrorIs(t, err, ErrNoComposition)
		require.Empty(t, store.Messages())
	})
	t.Run("a failed resolution at rest aborts the insert", func(t *testing.T) {
		reg, err := NewRegistry([]Namespace{{}}, &LifecycleOptions{Strict: true})
		require.NoError(t, err)
		th := &MemoryThread{Compose: func(ctx context.Context) (*Composition, error) {
			return reg.Compose(ctx, Parent{Agent: AgentDef{Name: "a", Hooks: []string{"gone"}}})
		}}
		_, err = th.InjectMessage(ctx, textMessage(RoleUser, "x"))
		require.ErrorIs(t, err, CauseMissing)
		_, err = th.UpdateMessage(ctx, "m1", MessageUpdate{})
		require.ErrorIs(t, err, CauseMissing)
		ms, _ := th.Messages(ctx)
		require.Empty(t, ms)
	})
	t.Run("the recursion guard holds updates too", func(t *testing.T) {
		c := composed(t, nil, Define(AfterUpdateMessage, "again", func(ctx context.Context, st ThreadState, m Message, _ HookContext) error {
			var u MessageUpdate
			u.SetText(m.Text() + "x")
			_, err := st.UpdateMessage(ctx, m.ID, u)
			return err
		}))
		th := threadOf(c)
		_, err := th.InjectMessage(ctx, textMessage(RoleUser, ""))
		require.NoError(t, err)
		_, err = th.UpdateMessage(ctx, "m1", MessageUpdate{})
		require.NoError(t, err)
		ms, _ := th.Messages(ctx)
		require.Len(t, ms[0].Text(), MaxRecursion-1)
	})
}
