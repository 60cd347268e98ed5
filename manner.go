package hooks

// manner is what a dialect does by its own functions; what it is as data is in
// dialectTable and in the terms of the events.
type manner struct {
	// input reads captured payloads.
	input *inputKeys
	// encode writes the event as hooks get it on stdin (IN-9), or returns an
	// *EventError.
	encode func(f *fieldWriter, ev Event, c Conduct, lim Limits) (*encoded, error)
	// line returns the interpreter of a command line on an operating system,
	// and the arguments behind it.
	line func(line, goos string) (interpreter string, args []string)
	// exits reads the ends of an event's commands.
	exits func(row *eventRow, c Conduct, lim Limits) exitReader
	// fold turns the steps of the dialect's hooks into a decision whose texts
	// are clean, but not cut. It is pure.
	fold func(row *eventRow, c Conduct, cannotAsk bool, steps []Step) Decision
}

// manners is never written to.
var manners = [dialectCount]manner{
	HookContract: {input: &contractInput, encode: encode, line: contractLine, exits: newContractReader, fold: foldContract},
	VSCode:       {input: &vscodeInput, encode: encodeVSCode, line: vscodeLine, exits: newVSCodeReader, fold: foldVSCode},
}

// ParseEvent turns a captured payload of the dialect back into the event, as
// the function [ParseEvent] does for [HookContract]. [VSCode] reads the keys and
// event names of the hook data contract as well, so that a payload of either
// kind can be tried; without tool_succeeded a tool has succeeded. An invalid
// Dialect is an [*EventError].
func (d Dialect) ParseEvent(data []byte) (Event, error) {
	if !d.valid() {
		return nil, &EventError{Problem: d.String() + " is unknown"}
	}
	return manners[d].input.parse(data)
}

// EncodeEvent returns the event as a command hook of [HookContract] reads it on
// stdin in Contract conduct: one JSON object on one line, ended by a newline
// (IN-9), with default limits (IN-10). A Trajectory is not called:
// execution_summary is the literal path, or null. Errors are of type
// [*EventError].
func EncodeEvent(ev Event) ([]byte, error) { return HookContract.EncodeEvent(ev) }

// EncodeEvent is the function [EncodeEvent] for a dialect. An event that does
// not exist in the dialect is an error.
func (d Dialect) EncodeEvent(ev Event) ([]byte, error) {
	if _, err := checkEvent(ev); err != nil {
		return nil, err
	}
	if !d.valid() || !ev.row().terms[d].exists() {
		return nil, &EventError{Event: ev.EventName(), Problem: "the event does not exist in " + d.String()}
	}
	enc, err := manners[d].encode(new(fieldWriter), ev, Contract, Limits{}.withDefaults())
	if err != nil {
		return nil, err
	}
	return enc.append(nil, ev.common().literalSummary()), nil
}
