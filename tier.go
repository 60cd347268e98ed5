package hooks

import (
	"fmt"
	"slices"
)

// Tier says who configured a hook. It decides the order of the chain (AGG-1),
// what a child inherits (SUB-1) and what can be switched off (CFG-6).
type Tier int

// The tiers, in the order in which their hooks run. The zero Tier is invalid.
const (
	TierSystem     Tier = iota + 1 // the platform's own hooks
	TierAgent                      // hooks that come with one agent
	TierUserGlobal                 // hooks of the user, for every agent
)

var tierNames = [...]string{TierSystem: "system", TierAgent: "agent", TierUserGlobal: "user-global"}

// String returns "system", "agent" or "user-global", the spellings of TEL-2.
func (t Tier) String() string {
	if t < TierSystem || t > TierUserGlobal {
		return fmt.Sprintf("Tier(%d)", int(t))
	}
	return tierNames[t]
}

// MarshalText implements [encoding.TextMarshaler]; an invalid Tier is an error.
func (t Tier) MarshalText() ([]byte, error) {
	if t < TierSystem || t > TierUserGlobal {
		return nil, fmt.Errorf("hooks: invalid tier %d", int(t))
	}
	return []byte(tierNames[t]), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (t *Tier) UnmarshalText(text []byte) error {
	i := slices.Index(tierNames[1:], string(text))
	if i < 0 {
		return fmt.Errorf("hooks: unknown tier %q; the tiers are system, agent and user-global", text)
	}
	*t = Tier(i + 1)
	return nil
}
