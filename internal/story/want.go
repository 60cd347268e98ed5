package story

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/hookruntime/hooks"
)

// aspect is one thing that can be wanted of an event.
type aspect interface {
	// read reports what is wrong with a wanted value.
	read(d *decoder, name string, want *yaml.Node)
	// differ returns how what came differs from what is wanted.
	differ(name string, want *yaml.Node, g *got) []string
	// write returns what came, in the shape of what is wanted, or want itself
	// where what came cannot stand for it.
	write(want *yaml.Node, g *got) *yaml.Node
}

// stopped is the outcome that only hooks of VS Code come to. A list of what may
// be wanted leaves it out.
const stopped = "stop"

// aspects are all keys of want, in the order in which they are documented and
// written.
func aspects() []wanted {
	outcomes := []string{"pass", "allow", "reject", "deny", "ask"}
	decisions := append([]string{"error", "", stopped}, outcomes...)
	fates := []string{
		string(hooks.FateRan), string(hooks.FateNoMatch), string(hooks.FateInactive),
		string(hooks.FateSourceFiltered), string(hooks.FateOutOfScope), string(hooks.FateLimitReached),
		string(hooks.FateUntrusted), string(hooks.FateNotReached), string(hooks.FateCancelled),
	}
	plans := append([]string{string(hooks.FatePlanned), string(hooks.FateOtherEvent)}, fates...)
	failures := []string{
		"", string(hooks.FailureTimeout), string(hooks.FailureExit), string(hooks.FailureSignal),
		string(hooks.FailureStart), string(hooks.FailureOutput), string(hooks.FailureModel),
		string(hooks.FailureError), string(hooks.FailureCancelled),
	}
	return []wanted{
		{name: "load_error", aspect: message{func(g *got) error { return g.loadErr }}},
		{name: "error", aspect: message{func(g *got) error { return g.err }}},
		{name: "outcome", aspect: exact{outcomes, func(g *got) string { return g.decision.Outcome.String() }}},
		{name: "reason", aspect: exact{nil, func(g *got) string { return g.decision.Reason }}},
		{name: "question", aspect: exact{nil, func(g *got) string { return g.decision.Question }}},
		{name: "context", aspect: exact{nil, func(g *got) string { return g.decision.Context }}},
		{name: "by", aspect: exact{nil, func(g *got) string { return g.decision.By }}},
		{name: "for_model", aspect: exact{nil, func(g *got) string { return g.decision.ForModel() }}},
		{name: "blocks", aspect: exact{[]string{"true", "false"}, func(g *got) string { return strconv.FormatBool(g.decision.Blocks()) }}},
		{name: "stop_reason", aspect: exact{nil, func(g *got) string { return g.decision.StopReason }}},
		{name: "messages", aspect: names{func(g *got) []string { return g.decision.SystemMessages }}},
		{name: "updated_input", aspect: value{func(g *got) []byte { return g.decision.UpdatedInput }}},
		{name: "result_stays", aspect: exact{[]string{"true", "false"}, func(g *got) string { return strconv.FormatBool(g.decision.ResultStays) }}},
		{name: "metadata", aspect: metadata{}},
		{name: "rejections", aspect: names{func(g *got) (names []string) {
			for _, r := range g.decision.Rejections {
				names = append(names, r.Hook.Name)
			}
			return names
		}}},
		{name: "allows", aspect: names{func(g *got) (names []string) {
			for _, ref := range g.decision.Allows {
				names = append(names, ref.Name)
			}
			return names
		}}},
		{name: "fates", aspect: perHook{words: fates, of: func(s hooks.Step) string { return string(s.Fate) }}},
		{name: "decisions", aspect: perHook{words: decisions, of: func(s hooks.Step) string { return s.Decision.String() }}},
		{name: "failures", aspect: perHook{words: failures, of: func(s hooks.Step) string {
			if s.Failure == nil {
				return ""
			}
			return string(s.Failure.Kind)
		}}},
		{name: "why", aspect: perHook{part: true, of: func(s hooks.Step) string { return s.Why }}},
		{name: "stderr", aspect: perHook{part: true, of: func(s hooks.Step) string { return s.Stderr }}},
		{name: "plan", aspect: perHook{words: plans, plan: true, of: func(s hooks.Step) string { return string(s.Fate) }}},
		{name: "input", aspect: input{}},
		{name: "asked", aspect: asked{}},
		{name: "diagnostics", aspect: parts{closed: true, of: func(g *got) (texts []string) {
			for _, d := range append(g.warnings[:len(g.warnings):len(g.warnings)], g.decision.Diagnostics...) {
				texts = append(texts, d.String())
			}
			return texts
		}}},
		{name: "explain", aspect: parts{of: func(g *got) []string { return []string{g.explain()} }}},
	}
}

// want reads what is wanted of an event: flat, or one part per conduct.
func (r *fileReader) want(n *yaml.Node, e *Event) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return // left open, for an update to fill
	}
	if perConduct(n) {
		e.section.perConduct = true
		for _, p := range r.pairs(n, "want", "contract", "hardened") {
			c := hooks.Contract
			if p.key == "hardened" {
				c = hooks.Hardened
			}
			e.want[c] = r.expectation(p.value, "want."+p.key)
		}
		return
	}
	flat := r.expectation(n, "want")
	e.want = [2]expectation{flat, flat}
}

// perConduct reports whether a want has parts for the conducts.
func perConduct(n *yaml.Node) bool {
	for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if k := n.Content[i].Value; k == "contract" || k == "hardened" {
			return true
		}
	}
	return false
}

func (r *fileReader) expectation(n *yaml.Node, what string) expectation {
	all := aspects()
	known := make([]string, len(all))
	for i, a := range all {
		known[i] = a.name
	}
	exp := expectation{}
	for _, p := range r.pairs(n, what, known...) {
		for _, a := range all {
			if a.name == p.key {
				a.key, a.value = p.at, p.value
				a.read(&r.decoder, what+"."+p.key, p.value)
				exp = append(exp, a)
			}
		}
	}
	refused := exp.has("error") || exp.has("load_error")
	switch {
	case n.Kind != yaml.MappingNode:
	case refused && exp.has("outcome"):
		r.fail(n, "%s has an outcome beside an error; an event that is refused has none", what)
	case !refused && !exp.has("outcome"):
		r.fail(n, "%s.outcome is missing: pass, allow, reject, deny or ask (or error, or load_error)", what)
	}
	return exp
}

// differences compares what came with what is wanted in a conduct.
func (e *Event) differences(c hooks.Conduct, g *got) (ds []string) {
	exp := e.want[c]
	switch {
	case exp == nil:
		return []string{"nothing is wanted yet: write want, or let an update write it"}
	case g.loadErr != nil && !exp.has("load_error"):
		return []string{fmt.Sprintf("the hooks were refused: %v", g.loadErr)}
	case g.loadErr == nil && g.err != nil && !exp.has("error"):
		return []string{fmt.Sprintf("the event was refused: %v", g.err)}
	}
	for _, w := range exp {
		ds = append(ds, w.differ(w.name, w.value, g)...)
	}
	if n := len(g.questions); n > len(e.answers) {
		ds = append(ds, fmt.Sprintf("the model was asked %d times; the story has %d answers under model", n, len(e.answers)))
	}
	return ds
}

// exact is a text that must be equal.
type exact struct {
	words []string // what it may be; nil is anything
	of    func(*got) string
}

func (a exact) read(d *decoder, name string, want *yaml.Node) {
	if a.words != nil && want.Value != stopped {
		d.word(want, name, a.words...)
		return
	}
	d.text(want, name)
}

func (a exact) differ(name string, want *yaml.Node, g *got) []string {
	return unequal(name, want.Value, a.of(g))
}

func (a exact) write(_ *yaml.Node, g *got) *yaml.Node { return textNode(a.of(g)) }

// message is an error of which a part is wanted.
type message struct{ of func(*got) error }

func (a message) read(d *decoder, name string, want *yaml.Node) { d.text(want, name) }

func (a message) differ(name string, want *yaml.Node, g *got) []string {
	err := a.of(g)
	if err == nil {
		return []string{fmt.Sprintf("%s: want %q, but there was none", name, want.Value)}
	}
	return notIn(name, want.Value, err.Error())
}

func (a message) write(want *yaml.Node, g *got) *yaml.Node {
	if err := a.of(g); err != nil {
		return textNode(err.Error())
	}
	return want
}

// metadata is JSON that must be equal.
type metadata struct{}

func (metadata) of(g *got) []byte {
	data, err := g.decision.Metadata.MarshalJSON()
	if err != nil {
		return []byte(err.Error())
	}
	return data
}

func (metadata) read(d *decoder, name string, want *yaml.Node) {
	d.pairs(want, name)
	d.json(want)
}

func (a metadata) differ(name string, want *yaml.Node, g *got) []string {
	if data := new(decoder).json(want); !sameJSON(data, a.of(g)) {
		return unequal(name, string(data), string(a.of(g)))
	}
	return nil
}

func (a metadata) write(_ *yaml.Node, g *got) *yaml.Node { return jsonNode(a.of(g)) }

// input is what hooks got on stdin: of each hook either the whole line as a
// text, or some of its keys.
type input struct{}

func (input) read(d *decoder, name string, want *yaml.Node) {
	for _, p := range d.pairs(want, name) {
		if p.value.Kind == yaml.MappingNode {
			d.json(p.value)
		} else {
			d.text(p.value, name+"."+p.key)
		}
	}
}

func (input) differ(name string, want *yaml.Node, g *got) (ds []string) {
	for _, p := range new(decoder).pairs(want, name) {
		name := name + "." + p.key
		lines := g.inputs[p.key]
		if len(lines) != 1 {
			ds = append(ds, fmt.Sprintf("%s: %d commands of that name were started", name, len(lines)))
			continue
		}
		if p.value.Kind != yaml.MappingNode {
			ds = append(ds, unequal(name, line(p.value.Value), line(string(lines[0])))...)
			continue
		}
		var seen hooks.Metadata // an ordered object; Get finds a key's first entry
		if err := json.Unmarshal(lines[0], &seen); err != nil {
			ds = append(ds, fmt.Sprintf("%s: %v", name, err))
			continue
		}
		for _, key := range new(decoder).pairs(p.value, name) {
			data, have := new(decoder).json(key.value), seen.Get(key.key)
			if have == nil || !sameJSON(data, have) {
				ds = append(ds, unequal(name+"."+key.key, string(data), string(have))...)
			}
		}
	}
	return ds
}

// line is a text without the end of its line, which a block of YAML may lack.
func line(s string) string { return strings.TrimSuffix(s, "\n") }

func (input) write(want *yaml.Node, _ *got) *yaml.Node { return want }

// value is one JSON value that must be equal; null is none.
type value struct{ of func(*got) []byte }

func (a value) json(g *got) []byte {
	if data := a.of(g); data != nil {
		return data
	}
	return []byte("null")
}

func (value) read(d *decoder, _ string, want *yaml.Node) { d.json(want) }

func (a value) differ(name string, want *yaml.Node, g *got) []string {
	if data := new(decoder).json(want); !sameJSON(data, a.json(g)) {
		return unequal(name, string(data), string(a.json(g)))
	}
	return nil
}

func (a value) write(_ *yaml.Node, g *got) *yaml.Node { return jsonNode(a.json(g)) }
