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
