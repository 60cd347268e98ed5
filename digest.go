package hooks

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// Digest returns a fingerprint of everything that decides what the hook does
// and when: its name, place and settings, and the whole text of what it runs.
// It is for [Options.Trust]: a hook whose digest a person has reviewed is the
// hook that runs. It is 64 hexadecimal digits, and stays the same over versions
// of this package and machines.
//
// Of a Func it covers the name alone: code cannot be fingerprinted, and Trust
// sees that it is code. Nor does it cover a program or file that a command
// calls.
func (h *Hook) Digest() string {
	sum := sha256.New()
	// Every text is preceded by its length, so that no two hooks can be cut
	// into the same bytes.
	add := func(texts ...string) {
		for _, t := range texts {
			sum.Write([]byte(strconv.Itoa(len(t)) + ":" + t))
		}
	}
	list := func(l []string) {
		add(strconv.Itoa(len(l)))
		add(l...)
	}
	add("hook 1", h.Name, string(h.On), h.Tier.String(), h.Agent, h.Matcher)
	list(h.Sources)
	add(strconv.FormatBool(h.OnDemand), h.timeout().String(), h.FailMode.String())
	switch b := h.Run.(type) {
	case Command:
		add(b.bodyType(), b.Line, b.Script, b.Dir)
		list(b.Env)
	case Prompt:
		add(b.bodyType(), b.Text, b.Model, strconv.Itoa(b.maxRejections()))
	case Func:
		add(b.bodyType())
	}
	if h.Dialect != HookContract { // digests of the first dialect stay what they were
		add("dialect", h.Dialect.String())
	}
	return hex.EncodeToString(sum.Sum(nil))
}
