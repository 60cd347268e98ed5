package hooks

import (
	"context"
	"encoding/json"
)

// callIndex is which tool calls a list of messages makes.
type callIndex struct {
	owners map[string]int // call id to the index of the message that makes it
	opaque bool           // a message's calls could not be read
}

func (x *callIndex) add(at int, raw []byte) {
	if len(raw) == 0 {
		return
	}
	var calls []struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(raw, &calls) != nil {
		x.opaque = true
		return
	}
	if x.owners == nil {
		x.owners = map[string]int{}
	}
	for _, c := range calls {
		if _, ok := x.owners[c.ID]; !ok {
			x.owners[c.ID] = at
		}
	}
}

// owner returns the index of the message that makes the call, -1 for none.
func (x *callIndex) owner(id string) int {
	if at, ok := x.owners[id]; ok {
		return at
	}
	return -1
}

func indexCalls(msgs []Message) callIndex {
	var x callIndex
	for i := range msgs {
		x.add(i, []byte(msgs[i].ToolCalls))
	}
	return x
}

func indexLLMCalls(msgs []LLMMessage) callIndex {
	var x callIndex
	for i := range msgs {
		x.add(i, msgs[i].ToolCalls)
	}
	return x
}

// pair brings every tool result behind the message that makes its call, in the
// order in which the results stood: providers want it so, and a hook may have
// moved one of the two. Results without a call stay where they are.
func pair(msgs []Message) []Message {
	x := indexCalls(msgs)
	results := map[int][]Message{} // by the index of the caller
	inPlace, last := true, -1
	for i := range msgs {
		if at := resultOwner(&msgs[i], &x); at >= 0 {
			results[at] = append(results[at], msgs[i])
			inPlace = inPlace && at == last
		} else {
			last = i
		}
	}
	if inPlace {
		return msgs
	}
	paired := make([]Message, 0, len(msgs))
	for i := range msgs {
		if resultOwner(&msgs[i], &x) < 0 {
			paired = append(append(paired, msgs[i]), results[i]...)
		}
	}
	return paired
}

func resultOwner(m *Message, x *callIndex) int {
	if m.Role != RoleTool {
		return -1
	}
	return x.owner(m.ToolCallID)
}

func (m *Message) answers() (call string, ok bool) { return m.ToolCallID, m.Role == RoleTool }
func (m *LLMMessage) answers() (call string, ok bool) {
	return m.ToolCallID, m.Role == string(RoleTool)
}

// dropOrphans returns the messages without the tool results whose calls are
// not among them, and reports how many those were. When calls are in a form
// that cannot be read, nobody knows which results they own: none is dropped.
func dropOrphans[M any, P interface {
	*M
	answers() (string, bool)
}](ctx context.Context, opts *LifecycleOptions, st ThreadState, row int, msgs []M, x callIndex) []M {
	if x.opaque {
		return msgs
	}
	var kept []M
	for i := range msgs {
		if id, ok := P(&msgs[i]).answers(); !ok || x.owner(id) >= 0 {
			kept = append(kept, msgs[i])
		}
	}
	dropped := len(msgs) - len(kept)
	if dropped == 0 {
		return msgs
	}
	if opts.Observe != nil {
		opts.Observe(ctx, OrphanRecord{Point: pointRows[row].Name, ThreadID: st.ThreadID(), Dropped: dropped})
	}
	return kept
}
