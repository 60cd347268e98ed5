package story

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/hookruntime/hooks"
)

// decoder reads YAML values strictly: what it does not know, and what has the
// wrong type, becomes a finding with its place. It goes on after a finding, so
// that all of a file are told at once.
type decoder struct {
	file     string
	findings []hooks.Diagnostic
}

func (d *decoder) fail(n *yaml.Node, format string, args ...any) {
	d.findings = append(d.findings, hooks.Diagnostic{
		Severity: hooks.SeverityError, File: d.file, Line: n.Line, Column: n.Column,
		Message: fmt.Sprintf(format, args...),
	})
}

// pair is one key of a mapping with its value.
type pair struct {
	key   string
	at    *yaml.Node
	value *yaml.Node
}

// pairs returns the keys of a mapping in order, each once. Given known keys it
// refuses all others.
func (d *decoder) pairs(n *yaml.Node, what string, known ...string) []pair {
	if n.Kind != yaml.MappingNode {
		d.fail(n, "%s must be a mapping%s, not %s", what, of(known), describe(n))
		return nil
	}
	var ps []pair
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case k.Kind != yaml.ScalarNode || k.ShortTag() == "!!merge":
			d.fail(k, "a key of %s must be a plain text, not %s", what, describe(k))
		case len(known) > 0 && !slices.Contains(known, k.Value):
			d.fail(k, "unknown key %q; the keys of %s are %s", k.Value, what, strings.Join(known, ", "))
		case slices.ContainsFunc(ps, func(p pair) bool { return p.key == k.Value }):
			d.fail(k, "key %q is given twice", k.Value)
		default:
			ps = append(ps, pair{k.Value, k, v})
		}
	}
	return ps
}

func of(known []string) string {
	if len(known) == 0 {
		return ""
	}
	return " of " + strings.Join(known, ", ")
}

// items returns the items of a list; a single text stands for a list of one.
func (d *decoder) items(n *yaml.Node, what string) []*yaml.Node {
	switch {
	case n.Kind == yaml.SequenceNode:
		return n.Content
	case n.Kind == yaml.ScalarNode && n.ShortTag() != "!!null":
		return []*yaml.Node{n}
	}
	d.fail(n, "%s must be a list, not %s", what, describe(n))
	return nil
}

// text returns a scalar as it is written; null is no text.
func (d *decoder) text(n *yaml.Node, what string) string {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		d.fail(n, `%s must be a text, not %s (an empty text is written "")`, what, describe(n))
		return ""
	}
	return n.Value
}

// word returns a text that is one of a set.
func (d *decoder) word(n *yaml.Node, what string, words ...string) string {
	s := d.text(n, what)
	if n.Kind == yaml.ScalarNode && n.ShortTag() != "!!null" && !slices.Contains(words, s) {
		d.fail(n, "%s must be one of %s, not %s", what, quoted(words), describe(n))
	}
	return s
}

func quoted(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; w == "" {
			out[i] = `""`
		}
	}
	return strings.Join(out, ", ")
}

func (d *decoder) texts(n *yaml.Node, what string) []string {
	var out []string
	for _, item := range d.items(n, what) {
		out = append(out, d.text(item, "an item of "+what))
	}
	return out
}

func (d *decoder) boolean(n *yaml.Node, what string) bool {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" {
		d.fail(n, "%s must be true or false, not %s", what, describe(n))
	}
	return n.Value == "true"
}

func (d *decoder) integer(n *yaml.Node, what string) int {
	i, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil {
		d.fail(n, "%s must be a whole number, not %s", what, describe(n))
	}
	return i
}

func (d *decoder) duration(n *yaml.Node, what string) time.Duration {
	t, err := time.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil {
		d.fail(n, "%s must be a duration such as 200ms or 2s, not %s", what, describe(n))
	}
	return t
}

// describe says in a message what was found.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "a YAML alias"
	}
	if n.ShortTag() == "!!null" {
		return "nothing"
	}
	text := n.Value
	if r := []rune(text); len(r) > 60 {
		text = string(r[:60]) + "…"
	}
	return strconv.Quote(text)
}
