package hooks

// Outcome is what a Decision comes to, and what one hook said.
type Outcome int

// The outcomes. The zero Outcome blocks: a caller who drops an error does not
// proceed.
const (
	Undecided Outcome = iota // nothing was decided; with an error, or of a hook that did not run
	Pass                     // proceed, through the host's own permission rules
	Allow                    // proceed; a host may let it bypass its permission rules
	Reject                   // blocked; of Stop: keep running
	Ask                      // ask the user
	Deny                     // blocked
	Errored                  // of a hook only: it failed, and its fail mode let it
)

var outcomeNames = [...]string{"", "pass", "allow", "reject", "ask", "deny", "error"}

// String returns the spelling of TEL-1 and TEL-2: "pass", "allow", "reject",
// "ask", "deny", "error", and "" for Undecided.
func (o Outcome) String() string {
	if o < Undecided || o > Errored {
		return "invalid"
	}
	return outcomeNames[o]
}

// MarshalText implements [encoding.TextMarshaler].
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Permission is the permission decision inside an answer. The zero value is
// none.
type Permission int

// The permissions (CMD-12).
const (
	PermissionNone Permission = iota
	PermissionAllow
	PermissionAsk
	PermissionDeny
)

// Result is what a hook says, before its event decides what it hears of that
// (CMD-15): a rejection or none, and a permission or none, side by side. The
// zero Result passes.
type Result struct {
	// Rejects is a plain rejection; Reason is its text, and that of a deny.
	// A blank Reason becomes "Blocked by hook" (CMD-11, CMD-13).
	Rejects bool
	Reason  string
	// Permission, and the Question of an ask. A blank Question falls back to
	// Reason, then to a fixed text (CMD-14).
	Permission Permission
	Question   string
	// Context is additionalContext; white space alone is none (AGG-7).
	Context string
	// Metadata is carried to a later event (AGG-8, MD-1).
	Metadata Metadata
}
