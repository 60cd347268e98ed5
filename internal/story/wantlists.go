package story

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/hookruntime/hooks"
)

// perHook wants one text of some hooks.
type perHook struct {
	words []string // what it may be; nil is anything
	part  bool     // a part of the text is wanted
	plan  bool     // of the plan, not of what ran
	of    func(hooks.Step) string
}

func (a perHook) read(d *decoder, name string, want *yaml.Node) {
	for _, p := range d.pairs(want, name) {
		if a.words != nil {
			d.word(p.value, name+"."+p.key, a.words...)
		} else {
			d.text(p.value, name+"."+p.key)
		}
	}
}

func (a perHook) steps(g *got) iter.Seq[hooks.Step] {
	if a.plan {
		return g.plan.Steps()
	}
	return g.decision.Steps()
}

// find returns the step of a hook. A name that stands in several tiers is
// written "tier:name".
func (a perHook) find(name string, g *got) (step hooks.Step, problem string) {
	n := 0
	var all []string
	for s := range a.steps(g) {
		all = append(all, s.Hook.Name)
		if name == s.Hook.Name || name == s.Hook.Tier.String()+":"+s.Hook.Name {
			step = s
			n++
		}
	}
	switch n {
	case 0:
		return step, fmt.Sprintf("no hook of this event has that name; there are: %s", strings.Join(all, ", "))
	case 1:
		return step, ""
	}
	return step, fmt.Sprintf("several hooks have that name; write system:%s, agent:%[1]s or user-global:%[1]s", name)
}

func (a perHook) differ(name string, want *yaml.Node, g *got) (ds []string) {
	for _, p := range new(decoder).pairs(want, name) {
		name := name + "." + p.key
		switch s, problem := a.find(p.key, g); {
		case problem != "":
			ds = append(ds, name+": "+problem)
		case a.part:
			ds = append(ds, notIn(name, p.value.Value, a.of(s))...)
		default:
			ds = append(ds, unequal(name, p.value.Value, a.of(s))...)
		}
	}
	return ds
}

func (a perHook) write(want *yaml.Node, g *got) *yaml.Node {
	out := *want
	out.Content = slices.Clone(want.Content)
	for i := 0; i+1 < len(out.Content); i += 2 {
		s, problem := a.find(out.Content[i].Value, g)
		if old := out.Content[i+1]; problem == "" && (!a.part || !strings.Contains(a.of(s), old.Value)) {
			out.Content[i+1] = textNode(a.of(s))
		}
	}
	return &out
}

// names is a list of texts, names of hooks mostly, that must be equal, in order.
type names struct{ of func(*got) []string }

func (a names) list(g *got) []string { return append([]string{}, a.of(g)...) }

func (a names) read(d *decoder, name string, want *yaml.Node) { d.texts(want, name) }

func (a names) differ(name string, want *yaml.Node, g *got) []string {
	if list := new(decoder).texts(want, name); !slices.Equal(list, a.list(g)) {
		return []string{fmt.Sprintf("%s: want %q, got %q", name, list, a.list(g))}
	}
	return nil
}

func (a names) write(_ *yaml.Node, g *got) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, name := range a.list(g) {
		n.Content = append(n.Content, textNode(name))
	}
	return n
}

// parts is a list of texts, each of which must be part of one of those that
// came.
type parts struct {
	closed bool // an empty list wants that nothing came
	of     func(*got) []string
}

func (a parts) read(d *decoder, name string, want *yaml.Node) { d.texts(want, name) }

func (a parts) differ(name string, want *yaml.Node, g *got) (ds []string) {
	have := a.of(g)
	list := new(decoder).texts(want, name)
	if a.closed && len(list) == 0 && len(have) > 0 {
		return unequal(name, "", strings.Join(have, "\n"))
	}
	for _, part := range list {
		if !slices.ContainsFunc(have, func(text string) bool { return strings.Contains(text, part) }) {
			ds = append(ds, notIn(name, part, strings.Join(have, "\n"))...)
		}
	}
	return ds
}

func (a parts) write(want *yaml.Node, _ *got) *yaml.Node { return want }

// asked is what the model was asked, question by question: a part of the whole
// prompt, or a mapping that also says which model and which tools it was.
type asked struct{}

func (asked) read(d *decoder, name string, want *yaml.Node) {
	for _, item := range d.items(want, name) {
		if item.Kind != yaml.MappingNode {
			d.text(item, "an item of "+name)
			continue
		}
		for _, p := range d.pairs(item, "an item of "+name, "text", "whole", "model", "tools") {
			if p.key == "tools" {
				d.texts(p.value, p.key)
			} else {
				d.text(p.value, p.key)
			}
		}
	}
}

func (asked) differ(name string, want *yaml.Node, g *got) (ds []string) {
	items := new(decoder).items(want, name)
	if len(items) != len(g.questions) {
		ds = append(ds, fmt.Sprintf("%s: want %d questions, got %d", name, len(items), len(g.questions)))
	}
	for i := range min(len(items), len(g.questions)) {
		q, name := g.questions[i], fmt.Sprintf("%s[%d]", name, i)
		if items[i].Kind != yaml.MappingNode {
			ds = append(ds, notIn(name, items[i].Value, q.Text)...)
			continue
		}
		for _, p := range new(decoder).pairs(items[i], name) {
			switch p.key {
			case "text":
				ds = append(ds, notIn(name, p.value.Value, q.Text)...)
			case "whole":
				ds = append(ds, unequal(name, p.value.Value, q.Text)...)
			case "model":
				ds = append(ds, unequal(name+".model", p.value.Value, q.Model)...)
			case "tools":
				var tools []string
				for _, t := range q.Tools {
					tools = append(tools, t.Name)
				}
				if list := new(decoder).texts(p.value, name); !slices.Equal(list, tools) {
					ds = append(ds, fmt.Sprintf("%s.tools: want %q, got %q", name, list, tools))
				}
			}
		}
	}
	return ds
}

func (asked) write(want *yaml.Node, _ *got) *yaml.Node { return want }

// unequal words that a text is not the wanted one.
func unequal(name, want, have string) []string {
	switch {
	case want == have:
		return nil
	case len(want)+len(have) < 40:
		return []string{fmt.Sprintf("%s: want %q, got %q", name, want, have)}
	}
	return []string{fmt.Sprintf("%s:\n  want %q\n  got  %q", name, want, have)}
}

// notIn words that a wanted part is missing in a text.
func notIn(name, part, text string) []string {
	if strings.Contains(text, part) {
		return nil
	}
	return []string{fmt.Sprintf("%s: want a part\n       %q\n  of   %q", name, part, text)}
}
