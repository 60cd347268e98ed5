package hooks

import (
	"fmt"
	"slices"
	"strings"
)

// Dialect is the wire contract that a hook speaks: which events exist and how
// they are spelled, how the event reaches the hook, how its output and exit
// code are read, what a failure means, and how the answers of several hooks
// become one. Hooks of all dialects may stand in one [Runtime]. The zero
// Dialect is HookContract; a Dialect is comparable and opaque.
//
// A dialect is a set of tables, and nothing in the engine asks which one it
// has. A third dialect is a constant here and
//
//   - a row of dialectTable (this file): its name and its rules as data;
//   - terms in the rows of eventRows (eventrow.go) for the events that it has:
//     their spelling, what they hear, what they deliver. An event without terms
//     does not exist in the dialect. A new event also needs a type, as in
//     vscode_event.go;
//   - a row of formats (config.go): how its files are read;
//   - a row of manners (manner.go): how captured payloads are read and events
//     encoded, how a command line becomes arguments, how the end of a process
//     is read, and how the steps fold into one decision.
//
// A dialect that shares a rule with another one shares the function.
type Dialect int

// The dialects.
const (
	// HookContract is the hook data contract that this package documents. Its
	// behaviour depends on the [Conduct].
	HookContract Dialect = iota
	// VSCode is the contract of VS Code's agent hooks. Both conducts run it in
	// the same way, but for JSON that a reader could take in two ways (QRK-15).
	VSCode

	dialectCount = iota
)

// dialectFacts are the rules of a dialect that are data.
type dialectFacts struct {
	name string

	matchers    bool // matchers count; else a tool hook runs for every tool
	prompts     bool // prompt hooks exist
	verdictsEnd bool // a deny or ask that is heard ends the chain, as the conduct says
	stops       bool // a hook may stop the whole run, and show the user a message
	warns       bool // a failed hook is told as a diagnostic
	folders     bool // Command.Dir starts from Common.Workspace, ~ is the home folder
	// summaries are paths of trajectories as SUM-1 to SUM-4 want them: a
	// trajectory that cannot be had may fail the hook, and in Contract conduct
	// each hook sees the one before. Else every hook gets the trajectory, or
	// runs without.
	summaries bool
}

// dialectTable is never written to.
var dialectTable = [dialectCount]dialectFacts{
	HookContract: {name: "hook-contract", matchers: true, prompts: true, verdictsEnd: true, summaries: true},
	VSCode:       {name: "vscode", stops: true, warns: true, folders: true},
}

func (d Dialect) valid() bool { return d >= 0 && d < dialectCount }

// facts returns the rules of a valid dialect.
func (d Dialect) facts() *dialectFacts { return &dialectTable[d] }

// String returns "hook-contract" or "vscode".
func (d Dialect) String() string {
	if !d.valid() {
		return fmt.Sprintf("Dialect(%d)", int(d))
	}
	return d.facts().name
}

// MarshalText implements [encoding.TextMarshaler]; an invalid Dialect is an
// error.
func (d Dialect) MarshalText() ([]byte, error) {
	if !d.valid() {
		return nil, fmt.Errorf("hooks: invalid dialect %d", int(d))
	}
	return []byte(d.facts().name), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler]; it reads what String
// writes, so that a Dialect can be a flag or a setting.
func (d *Dialect) UnmarshalText(text []byte) error {
	for i := range dialectTable {
		if dialectTable[i].name == string(text) {
			*d = Dialect(i)
			return nil
		}
	}
	return fmt.Errorf("hooks: unknown dialect %q; the dialects are %s", text, dialectNames())
}

// dialectNames lists the dialects for a message.
func dialectNames() string {
	var names []string
	for i := range dialectTable {
		names = append(names, dialectTable[i].name)
	}
	return strings.Join(names, " and ")
}

// Events returns the events that exist in the dialect, in the order of a run;
// nil for an invalid Dialect.
func (d Dialect) Events() []EventName {
	if !d.valid() {
		return nil
	}
	var names []EventName
	for i := range eventRows {
		if eventRows[i].terms[d].exists() {
			names = append(names, eventRows[i].name)
		}
	}
	return names
}

// spellings returns the names of the dialect's events as its files and payloads
// spell them.
func (d Dialect) spellings() []string {
	var names []string
	for _, n := range d.Events() {
		names = append(names, n.row().terms[d].spelled)
	}
	return names
}

// spelledEvent returns the row of an event by its exact spelling in the
// dialect, nil when there is none.
func (d Dialect) spelledEvent(name string) *eventRow {
	for i := range eventRows {
		if t := &eventRows[i].terms[d]; t.exists() && (t.spelled == name || slices.Contains(t.aliases, name)) {
			return &eventRows[i]
		}
	}
	return nil
}
