package hooks

import (
	"context"
	"errors"
)

// MessageStore is where a [Gateway] keeps messages. The host implements it
// ([MemoryStore] is one for tests) and hands it to nobody but gateways: then
// no message gets past the hooks. It may be called concurrently.
type MessageStore interface {
	// Insert stores a new message and returns it as stored, with what the
	// store itself sets (an id, a time). On an error nothing is stored.
	Insert(ctx context.Context, m Message) (Message, error)
	// Update applies a change to a stored message and returns the message as
	// it is then. On an error nothing is changed.
	Update(ctx context.Context, id string, u MessageUpdate) (Message, error)
}

// ErrNoComposition is returned by a [Gateway] of a nil [Composition]: without
// knowing the hooks nothing is stored.
var ErrNoComposition = errors.New("hooks: there is no composition, so no message is stored")

// Gateway is the way to a thread's messages. Every insert and every update
// goes through it: the before hooks, the store, the after hooks. Make one with
// [Composition.Gateway]; it is cheap, immutable and safe for concurrent use.
type Gateway struct {
	composition *Composition
	state       ThreadState
	store       MessageStore
}

// Gateway returns the gateway of a thread.
func (c *Composition) Gateway(st ThreadState, store MessageStore) *Gateway {
	return &Gateway{composition: c, state: st, store: store}
}

// Create inserts a message: before_create_message, the store, then
// after_create_message. It returns the message as stored.
//
// When a hook of before_create_message fails, in whatever way, nothing is
// stored and the error is a [*HookError] that wraps the hook's. An error of the
// store is returned as it is, and no after hook runs. A [*RecursionError] tells
// that hooks create messages about messages without end. Failures of
// after_create_message change nothing. When ctx is done before the after hooks
// have all run, the stored message is returned together with ctx's error.
func (g *Gateway) Create(ctx context.Context, m Message) (Message, error) {
	if err := g.admits(ctx, beforeCreateMessage, afterCreateMessage); err != nil {
		return Message{}, err
	}
	c := g.composition
	if len(c.points[beforeCreateMessage]) > 0 {
		var err error
		if m, err = g.beforeCreate(ctx, m); err != nil {
			return Message{}, err
		}
	}
	m, err := g.store.Insert(ctx, m)
	if err != nil || len(c.points[afterCreateMessage]) == 0 {
		return m, err
	}
	return m, g.after(ctx, afterCreateMessage, m)
}

// Update changes a message: before_update_message, the store, then
// after_update_message. It returns the message as it is then. Errors are as in
// Create.
func (g *Gateway) Update(ctx context.Context, id string, u MessageUpdate) (Message, error) {
	if err := g.admits(ctx, beforeUpdateMessage, afterUpdateMessage); err != nil {
		return Message{}, err
	}
	c := g.composition
	if len(c.points[beforeUpdateMessage]) > 0 {
		var err error
		if u, err = g.beforeUpdate(ctx, id, u); err != nil {
			return Message{}, err
		}
	}
	m, err := g.store.Update(ctx, id, u)
	if err != nil || len(c.points[afterUpdateMessage]) == 0 {
		return m, err
	}
	return m, g.after(ctx, afterUpdateMessage, m)
}

// admits judges both points before anything is stored, so that a store never
// holds a message whose after hooks could not run.
func (g *Gateway) admits(ctx context.Context, rows ...int) error {
	if g.composition == nil {
		return ErrNoComposition
	}
	for _, row := range rows {
		if len(g.composition.points[row]) == 0 {
			continue
		}
		if err := admits(ctx, g.state.ThreadID(), row); err != nil {
			return err
		}
	}
	return nil
}

func (g *Gateway) beforeCreate(ctx context.Context, m Message) (Message, error) {
	type hook = func(context.Context, ThreadState, Message, HookContext) (Message, error)
	return waterfall(ctx, g.composition.at(beforeCreateMessage, g.state), m, transform[hook, Message]{
		clone: Message.clone,
		call: func(ctx context.Context, fn hook, m Message, hc HookContext) (Change[Message], error) {
			m, err := fn(ctx, g.state, m, hc)
			return Replace(m), err
		},
	})
}

func (g *Gateway) beforeUpdate(ctx context.Context, id string, u MessageUpdate) (MessageUpdate, error) {
	type hook = func(context.Context, ThreadState, string, MessageUpdate, HookContext) (MessageUpdate, error)
	return waterfall(ctx, g.composition.at(beforeUpdateMessage, g.state), u, transform[hook, MessageUpdate]{
		clone: MessageUpdate.clone,
		call: func(ctx context.Context, fn hook, u MessageUpdate, hc HookContext) (Change[MessageUpdate], error) {
			u, err := fn(ctx, g.state, id, u, hc)
			return Replace(u), err
		},
	})
}

func (g *Gateway) after(ctx context.Context, row int, m Message) error {
	return observe(ctx, g.composition.at(row, g.state), m, Message.clone,
		func(ctx context.Context, fn func(context.Context, ThreadState, Message, HookContext) error, m Message, hc HookContext) error {
			return fn(ctx, g.state, m, hc)
		})
}
