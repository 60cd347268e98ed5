package hooks

import "fmt"

// This file is where the two conducts differ in what the engine does with
// answers and failures; how they read them is in answer.go.

// ranks orders what hooks say from the least to the most restrictive: the
// order inside one answer (CMD-15) and over a chain (AGG-2 to AGG-5, QRK-4).
var ranks = [...][OutcomeStop + 1]int{
	Contract: {OutcomePass: 1, OutcomeAllow: 2, OutcomeReject: 3, OutcomeAsk: 4, OutcomeDeny: 5, OutcomeStop: 6},
	Hardened: {OutcomePass: 1, OutcomeAllow: 2, OutcomeAsk: 3, OutcomeReject: 4, OutcomeDeny: 5, OutcomeStop: 6},
}

func (c Conduct) rank(o Outcome) int { return ranks[c][o] }

// endsChain reports whether a permission that the event hears ends the chain
// (AGG-2, QRK-4).
func (c Conduct) endsChain(d Dialect, p Permission) bool {
	return d.facts().verdictsEnd && (p == PermissionDeny || p == PermissionAsk && c == Contract)
}

// failMode says what a failure of the hook means (CMD-7, QRK-5, QRK-10). It is
// the only place where that is decided: allow records an error, block rejects,
// and unset, of a prompt hook in Contract conduct, follows QRK-5.
func (c Conduct) failMode(h *Hook) FailMode {
	if _, ok := h.Run.(Prompt); ok && c == Contract {
		return FailUnset
	}
	switch {
	case h.FailMode != FailUnset:
		return h.FailMode
	case c == Hardened && h.terms().guarded:
		return FailBlock
	}
	return FailAllow
}

// refusesKey says why a hook's metadata key is dropped, "" when it is not
// (QRK-2, QRK-12).
func (c Conduct) refusesKey(key string) string {
	switch {
	case c != Hardened:
		return ""
	case isReserved(key):
		return fmt.Sprintf("metadata key %q is reserved for the pipeline and was dropped", key)
	case isPayloadField(key):
		return fmt.Sprintf("metadata key %q equals a payload field and was dropped", key)
	}
	return ""
}
