package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// MemoryStore is a [MessageStore] in memory, for tests and examples. Its zero
// value is empty and ready. It is safe for concurrent use.
type MemoryStore struct {
	mu       sync.Mutex
	messages []Message
}

// Insert stores a message. A message without an id gets "m1", "m2" and so on,
// one without a time its place in the history, from 1. An id that exists is an
// error.
func (s *MemoryStore) Insert(_ context.Context, m Message) (Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.messages) + 1
	if m.ID == "" {
		m.ID = fmt.Sprintf("m%d", n)
	}
	if m.CreatedAt == 0 {
		m.CreatedAt = int64(n)
	}
	if s.index(m.ID) >= 0 {
		return Message{}, fmt.Errorf("hooks: message %q exists", m.ID)
	}
	s.messages = append(s.messages, m.clone())
	return m, nil
}

// Update changes a message. An unknown id is an error.
func (s *MemoryStore) Update(_ context.Context, id string, u MessageUpdate) (Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.index(id)
	if i < 0 {
		return Message{}, fmt.Errorf("hooks: there is no message %q", id)
	}
	s.messages[i] = u.Apply(s.messages[i])
	return s.messages[i].clone(), nil
}

// Messages returns copies of all messages, in order.
func (s *MemoryStore) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cloneMessages(s.messages)
}

func (s *MemoryStore) index(id string) int {
	return slices.IndexFunc(s.messages, func(m Message) bool { return m.ID == id })
}

// MemoryThread is a [ThreadState] in memory, for tests of hooks and for
// examples. Its zero value is a thread at rest, without hooks and messages.
// The exported fields are set before it is used; after that it is safe for
// concurrent use.
type MemoryThread struct {
	ID, Agent, User string
	Created         time.Time
	Agents          map[string]AgentDef
	Prompts         map[string]PromptDef
	// Compose returns the hooks that run on the thread's messages just now. An
	// error keeps messages from being created and updated. nil: no hooks.
	Compose func(ctx context.Context) (*Composition, error)

	store     MemoryStore
	mu        sync.Mutex
	values    map[string]json.RawMessage
	emitted   []EmittedEvent
	execution Execution
}

// EmittedEvent is an event that was sent with ThreadState.Emit.
type EmittedEvent struct {
	Event string
	Data  json.RawMessage
}

// ThreadID returns ID.
func (t *MemoryThread) ThreadID() string { return t.ID }

// AgentID returns Agent.
func (t *MemoryThread) AgentID() string { return t.Agent }

// UserID returns User.
func (t *MemoryThread) UserID() string { return t.User }

// CreatedAt returns Created.
func (t *MemoryThread) CreatedAt() time.Time { return t.Created }

// Gateway returns the gateway to the thread's messages, with the hooks of this
// moment. Its error is that of Compose.
func (t *MemoryThread) Gateway(ctx context.Context) (*Gateway, error) {
	c := &Composition{}
	if t.Compose != nil {
		var err error
		if c, err = t.Compose(ctx); err != nil {
			return nil, err
		}
	}
	return c.Gateway(t, &t.store), nil
}

// Messages implements [ThreadState]: every message is eligible.
func (t *MemoryThread) Messages(context.Context) ([]Message, error) { return t.store.Messages(), nil }

// InjectMessage implements [ThreadState], through the Gateway.
func (t *MemoryThread) InjectMessage(ctx context.Context, m Message) (Message, error) {
	g, err := t.Gateway(ctx)
	if err != nil {
		return Message{}, err
	}
	return g.Create(ctx, m)
}

// UpdateMessage implements [ThreadState], through the Gateway.
func (t *MemoryThread) UpdateMessage(ctx context.Context, id string, u MessageUpdate) (Message, error) {
	g, err := t.Gateway(ctx)
	if err != nil {
		return Message{}, err
	}
	return g.Update(ctx, id, u)
}

// LoadAgent returns an agent of Agents; an unknown name is an error.
func (t *MemoryThread) LoadAgent(_ context.Context, name string) (AgentDef, error) {
	if a, ok := t.Agents[name]; ok {
		return a, nil
	}
	return AgentDef{}, fmt.Errorf("hooks: there is no agent %q", name)
}

// LoadPrompt returns a prompt of Prompts; an unknown name is an error.
func (t *MemoryThread) LoadPrompt(_ context.Context, name string) (PromptDef, error) {
	if p, ok := t.Prompts[name]; ok {
		return p, nil
	}
	return PromptDef{}, fmt.Errorf("hooks: there is no prompt %q", name)
}

// Value implements [ThreadState].
func (t *MemoryThread) Value(_ context.Context, key string) (json.RawMessage, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.values[key], nil
}

// SetValue implements [ThreadState].
func (t *MemoryThread) SetValue(_ context.Context, key string, value json.RawMessage) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if value == nil {
		delete(t.values, key)
		return nil
	}
	if t.values == nil {
		t.values = map[string]json.RawMessage{}
	}
	t.values[key] = value
	return nil
}

// Values returns a copy of all values.
func (t *MemoryThread) Values() map[string]json.RawMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.values)
}

// Emit keeps the event for Emitted.
func (t *MemoryThread) Emit(_ context.Context, event string, data json.RawMessage) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.emitted = append(t.emitted, EmittedEvent{event, data})
	return nil
}

// Emitted returns the events that were sent, in order.
func (t *MemoryThread) Emitted() []EmittedEvent {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.emitted)
}

// Execution returns what Begin was given; nil at rest.
func (t *MemoryThread) Execution() Execution {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.execution
}

// Begin makes an execution the active one. nil is at rest.
func (t *MemoryThread) Begin(e Execution) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.execution = e
}
