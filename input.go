package hooks

import (
	"encoding/json"
	"errors"

	"github.com/hookruntime/hooks/internal/wire"
)

// acceptInput checks a tool input that a hook wants in place of the real one,
// and returns it compacted. The note, if any, is for people. An input that a
// tool could read in another way than the validator is refused in Hardened
// conduct, as one of the host's would be (QRK-15).
func (rt *Runtime) acceptInput(tool string, raw json.RawMessage) (input json.RawMessage, note string, err error) {
	lim := wire.Limits{Depth: rt.opts.Limits.Depth, Number: rt.opts.Limits.Number}
	input, collision, err := wire.CompactKeys(nil, raw, lim)
	switch {
	case err != nil:
		return nil, "", err
	case wire.Kind(input) != '{':
		return nil, "", errors.New("it is not an object")
	case collision != nil && rt.opts.Conduct == Hardened:
		return nil, "", errors.New("it has keys that are equal, or equal but for case")
	case rt.opts.ValidateInput == nil:
		return input, "updatedInput is accepted without a check: Options.ValidateInput is not set", nil
	}
	if err := rt.opts.ValidateInput(tool, input); err != nil {
		return nil, "", err
	}
	return input, "", nil
}
