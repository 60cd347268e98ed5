package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hookruntime/hooks/internal/wire"
)

// Metadata is an ordered list of entries that stand flat at the top level of
// a payload (IN-8, MD-1). Hooks produce it, hosts may add to it. nil is empty.
//
// As JSON it is one object with the entries in order. Reading an object back
// keeps a key that is given twice as two entries.
type Metadata []MetadataEntry

// MetadataEntry is one key with its value.
type MetadataEntry struct {
	Key string `json:"key"`
	// Value is any JSON; nil means null.
	Value json.RawMessage `json:"value"`
	// Hook names the hook that produced the entry; empty is the host.
	Hook string `json:"hook,omitempty"`
}

// AllowingHook is the metadata key under which the runtime names the hook
// whose allow decided (MD-4).
const AllowingHook = "_aggregation.allowing_hook"

// reservedKeys belong to the execution pipeline (MD-3).
var reservedKeys = [...]string{"cliExecution", "approval", "browser", "userQuestion", AllowingHook}

// isReserved compares without regard to case, as Go's decoder does.
func isReserved(key string) bool {
	return slices.ContainsFunc(reservedKeys[:], func(k string) bool { return strings.EqualFold(k, key) })
}

// Get returns the first value of a key, nil when there is none.
func (m Metadata) Get(key string) json.RawMessage {
	if i := m.index(key); i >= 0 {
		return m[i].Value
	}
	return nil
}

// Add appends an entry with the JSON encoding of value unless the key exists:
// the first value of a key wins (AGG-8). A json.RawMessage is taken as it is.
// It returns an error when value cannot be encoded.
func (m *Metadata) Add(key string, value any) error {
	raw, ok := value.(json.RawMessage)
	if !ok {
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(value); err != nil {
			return fmt.Errorf("hooks: metadata key %q: %w", key, err)
		}
		raw = bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	}
	if m.index(key) < 0 {
		*m = append(*m, MetadataEntry{Key: key, Value: raw})
	}
	return nil
}

func (m Metadata) index(key string) int {
	return slices.IndexFunc(m, func(e MetadataEntry) bool { return e.Key == key })
}

func (m Metadata) clone() Metadata {
	if m == nil {
		return nil
	}
	c := make(Metadata, len(m))
	for i, e := range m {
		e.Value = bytes.Clone(e.Value)
		c[i] = e
	}
	return c
}

// metadataSet builds metadata whose keys are distinct. A hook may write many
// thousand keys, so it finds them by a map.
type metadataSet struct {
	list  Metadata
	index map[string]int
}

func (s *metadataSet) find(key string) (int, bool) {
	if s.index == nil {
		s.index = make(map[string]int, len(s.list))
		for i, e := range s.list {
			if _, ok := s.index[e.Key]; !ok {
				s.index[e.Key] = i
			}
		}
	}
	i, ok := s.index[key]
	return i, ok
}

// add appends the entry unless its key exists: the first value wins (AGG-8).
func (s *metadataSet) add(e MetadataEntry) {
	if _, ok := s.find(e.Key); !ok {
		s.index[e.Key] = len(s.list)
		s.list = append(s.list, e)
	}
}

// set replaces the value of the key in place, or appends.
func (s *metadataSet) set(e MetadataEntry) {
	if i, ok := s.find(e.Key); ok {
		s.list[i] = e
		return
	}
	s.add(e)
}

// overlay returns the entries with the pipeline's over them: a pipeline value
// overwrites a hook's for the same key (MD-3). Keys become distinct, the first
// of equal ones wins: a hook's value behind the host's under the same key would
// be what most readers take.
func (m Metadata) overlay(pipeline Metadata) Metadata {
	var out metadataSet
	for _, e := range m.clone() {
		out.add(e)
	}
	for _, e := range pipeline.clone() {
		out.set(e)
	}
	return out.list
}

// MarshalJSON writes one object with the entries in order; nil is {}.
func (m Metadata) MarshalJSON() ([]byte, error) {
	w := wire.NewWriter(nil)
	w.Open()
	for _, e := range m {
		if err := w.Raw(e.Key, e.Value, wire.Limits{}); err != nil {
			return nil, fmt.Errorf("hooks: metadata key %q: %w", e.Key, err)
		}
	}
	w.Close()
	return w.Bytes(), nil
}

// UnmarshalJSON reads an object, in order; null leaves m nil.
func (m *Metadata) UnmarshalJSON(data []byte) error {
	if string(bytes.TrimSpace(data)) == "null" {
		*m = nil
		return nil
	}
	members, err := wire.Members(data)
	if err != nil {
		return fmt.Errorf("hooks: metadata: %w", err)
	}
	*m = make(Metadata, 0, len(members))
	for _, mem := range members {
		*m = append(*m, MetadataEntry{Key: mem.Key, Value: bytes.Clone(mem.Value)})
	}
	return nil
}
