package hooks

import "fmt"

// Conduct chooses between two ways to run one contract. The zero value is
// Contract.
type Conduct int

const (
	// Contract is the documented behaviour, documented defects included, so
	// that a policy test predicts production.
	Contract Conduct = iota
	// Hardened is the same contract with the defects closed. Its outcome is
	// never weaker than Contract's for the same answers.
	Hardened
)

// String returns "contract" or "hardened".
func (c Conduct) String() string {
	switch c {
	case Contract:
		return "contract"
	case Hardened:
		return "hardened"
	}
	return fmt.Sprintf("Conduct(%d)", int(c))
}

func (c Conduct) valid() bool { return c == Contract || c == Hardened }

// ranks orders what hooks say from the least to the most restrictive: the
// order inside one answer (CMD-15) and over a chain (AGG-2 to AGG-5, QRK-4).
var ranks = [...][OutcomeErrored + 1]int{
	Contract: {OutcomePass: 1, OutcomeAllow: 2, OutcomeReject: 3, OutcomeAsk: 4, OutcomeDeny: 5},
	Hardened: {OutcomePass: 1, OutcomeAllow: 2, OutcomeAsk: 3, OutcomeReject: 4, OutcomeDeny: 5},
}

func (c Conduct) rank(o Outcome) int { return ranks[c][o] }

// endsChain reports whether a permission that the event hears ends the chain
// (AGG-2, QRK-4).
func (c Conduct) endsChain(p Permission) bool {
	return p == PermissionDeny || p == PermissionAsk && c == Contract
}

// failMode says what a failure of the hook means (CMD-7, QRK-5, QRK-10). It is
// the only place where that is decided: allow records an error, block rejects,
// and unset, of a prompt hook in Contract conduct, follows QRK-5.
func (c Conduct) failMode(h *Hook, row *eventRow) FailMode {
	if _, ok := h.Run.(Prompt); ok && c == Contract {
		return FailUnset
	}
	switch {
	case h.FailMode != FailUnset:
		return h.FailMode
	case c == Hardened && row.guarded:
		return FailBlock
	}
	return FailAllow
}
