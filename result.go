package hooks

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// Outcome is what a Decision comes to, and what one hook said.
type Outcome int

// The outcomes. The zero Outcome blocks: a caller who drops an error does not
// proceed.
const (
	OutcomeUndecided Outcome = iota // nothing was decided; with an error, or of a hook that did not run
	OutcomePass                     // proceed, through the host's own permission rules
	OutcomeAllow                    // proceed; a host may let it bypass its permission rules
	OutcomeReject                   // blocked; of Stop: keep running
	OutcomeAsk                      // ask the user
	OutcomeDeny                     // blocked
	OutcomeErrored                  // of a hook only: it failed, and its fail mode let it
	OutcomeStop                     // the whole run stops ([VSCode] only)
)

var outcomeNames = [...]string{"", "pass", "allow", "reject", "ask", "deny", "error", "stop"}

// String returns the spelling of TEL-1 and TEL-2: "pass", "allow", "reject",
// "ask", "deny", "error", "stop", and "" for OutcomeUndecided.
func (o Outcome) String() string {
	if o < OutcomeUndecided || o > OutcomeStop {
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

	// The rest is heard of hooks of [VSCode] only.

	// StopRun stops the whole run, for the reason that the user is shown. A
	// StopReason stops it too.
	StopRun    bool
	byExit     bool // an exit code rejects, and Reason is its message
	StopReason string
	// SystemMessage is a warning that the user is shown.
	SystemMessage string
	// UpdatedInput is a JSON object that replaces the whole input of the tool,
	// in PreToolUse; nil leaves it.
	UpdatedInput json.RawMessage
}

// Pass lets the event proceed. It is the zero Result.
func Pass() Result { return Result{} }

// Reject blocks with a reason for the model. On Stop it keeps the loop running.
func Reject(reason string) Result { return Result{Rejects: true, Reason: reason} }

// Deny blocks and ends the chain.
func Deny(reason string) Result { return Result{Permission: PermissionDeny, Reason: reason} }

// Ask asks the user a question.
func Ask(question string) Result { return Result{Permission: PermissionAsk, Question: question} }

// Allow lets the event proceed and says that the host's own permission rules
// need not be asked. Pass is the right answer for "no objection".
func Allow() Result { return Result{Permission: PermissionAllow} }

// WithContext returns the result with additional context for the model.
func (r Result) WithContext(text string) Result {
	r.Context = text
	return r
}

// The fixed texts of an answer that gives none (CMD-11, CMD-14, PRM-3).
const (
	defaultReason       = "Blocked by hook"
	defaultQuestion     = "A hook asks for confirmation."
	defaultPromptReason = "Hook rejected the action without providing a reason."
)

// reason returns the text of a rejection or deny.
func (r *Result) reason() string { return firstUsable(r.Reason, defaultReason) }

// question returns the text of an ask.
func (r *Result) question() string { return firstUsable(r.Question, r.Reason, defaultQuestion) }

// firstUsable returns the first text that holds more than white space and
// control characters, of which nothing would reach the model (TXT-5).
func firstUsable(texts ...string) string {
	for _, t := range texts {
		if strings.ContainsFunc(t, func(r rune) bool { return !unicode.IsSpace(r) && !unicode.IsControl(r) }) {
			return t
		}
	}
	return ""
}

// stops reports whether the answer stops the run.
func (r *Result) stops() bool { return r.StopRun || strings.TrimSpace(r.StopReason) != "" }

// blocks reports whether the answer rejects, denies or asks.
func (r *Result) blocks() bool {
	return r.Rejects || r.Permission == PermissionDeny || r.Permission == PermissionAsk
}

// FailureKind says how a hook failed.
type FailureKind string

// The kinds of failure.
const (
	FailureTimeout   FailureKind = "timeout"   // did not end within its deadline
	FailureExit      FailureKind = "exit"      // a command ended with a code other than 0 and 2
	FailureSignal    FailureKind = "signal"    // a command was ended by a signal
	FailureStart     FailureKind = "start"     // a command could not be started
	FailureOutput    FailureKind = "output"    // the answer is not usable
	FailureModel     FailureKind = "model"     // the model call failed
	FailurePanic     FailureKind = "panic"     // a Func panicked or called runtime.Goexit
	FailureError     FailureKind = "error"     // a Func, or our own preparation, returned an error
	FailureCancelled FailureKind = "cancelled" // the evaluation was cancelled
)

// Failure is how a hook failed, for the operator. None of it reaches the
// model or telemetry: it can hold what the hook printed.
type Failure struct {
	Kind FailureKind
	// Message says what happened.
	Message string
	// Err is the error of a Func, a model or a sandbox; nil where there is none.
	Err error
	// Stack is the stack of a panic; nil otherwise.
	Stack []byte
}

// threw reports whether the message is that of an error or a panic, and not a
// text of ours: it can hold anything.
func (f *Failure) threw() bool {
	switch f.Kind {
	case FailurePanic, FailureError, FailureModel, FailureStart:
		return true
	}
	return false
}

// warning is what a diagnostic says of the failure.
func (f *Failure) warning() string {
	if f.threw() {
		return "failed (" + string(f.Kind) + ")"
	}
	return "failed (" + string(f.Kind) + "): " + f.Message
}

// Error returns the kind and the message.
func (f *Failure) Error() string { return string(f.Kind) + ": " + f.Message }

// Unwrap returns Err.
func (f *Failure) Unwrap() error { return f.Err }

// answer is what an executor brings back from one run of a hook: an opinion
// (result), a failure, or, where a blocking verdict was found in a failed run
// (QRK-8), both.
type answer struct {
	result  Result
	failure *Failure
	holds   bool // the result stands although there is a failure
	notes   []note

	exitCode       *int
	signal         string
	stdout, stderr string
}

// note is a diagnostic about an answer; its key is the answer's key.
type note struct{ key, message string }

func failed(kind FailureKind, err error, format string, args ...any) answer {
	return answer{failure: &Failure{Kind: kind, Message: fmt.Sprintf(format, args...), Err: err}}
}
