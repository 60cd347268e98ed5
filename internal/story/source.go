package story

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/hookruntime/hooks"
)

// source is one entry under hooks: a file or folder to load, or a document
// that stands in the story itself.
type source struct {
	tier    hooks.Tier
	dialect hooks.Dialect
	path    string // of a file or folder; empty for a document
	file    string // that the document stands in
	text    []byte // of the document
}

// tiers are the keys under hooks; never written to.
var tiers = [...]struct {
	key  string
	tier hooks.Tier
}{{"system", hooks.TierSystem}, {"agent", hooks.TierAgent}, {"user", hooks.TierUserGlobal}}

func (r *fileReader) hooks(n *yaml.Node, dialect hooks.Dialect) (sources []source) {
	for _, p := range r.pairs(n, "hooks", tiers[0].key, tiers[1].key, tiers[2].key) {
		var tier hooks.Tier
		for _, t := range tiers {
			if t.key == p.key {
				tier = t.tier
			}
		}
		for _, item := range r.items(p.value, "hooks."+p.key) {
			s := source{tier: tier, dialect: dialect, file: r.file}
			list := p.value
			if d, inner := ofDialect(item); inner != nil { // a document of another dialect
				list, item, s.dialect = item, inner, d
			}
			switch item.Kind {
			case yaml.MappingNode:
				s.text = r.cut(list, item)
			case yaml.ScalarNode:
				s.path = r.beside(r.text(item, "an entry of hooks."+p.key))
			default:
				r.fail(item, "an entry of hooks.%s must be the name of a hook file or folder, or a hook document, not %s", p.key, describe(item))
				continue
			}
			sources = append(sources, s)
		}
	}
	return sources
}

// ofDialect returns what stands under the name of a dialect; nil if the entry is
// something else.
func ofDialect(item *yaml.Node) (d hooks.Dialect, inner *yaml.Node) {
	if item.Kind != yaml.MappingNode || len(item.Content) != 2 || d.UnmarshalText([]byte(item.Content[0].Value)) != nil {
		return 0, nil
	}
	return d, item.Content[1]
}

// beside returns a path as the file of the story spells it, relative to it.
func (r *fileReader) beside(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(r.file), filepath.FromSlash(path))
}

// cut returns a file that holds one item of a list and nothing else, in its
// place: what the loader says about it then names the lines of the story.
func (r *fileReader) cut(list, item *yaml.Node) []byte {
	if list.Style&yaml.FlowStyle == 0 {
		var b bytes.Buffer
		b.WriteString(strings.Repeat("\n", item.Line-1))
		first := []rune(string(r.lines[item.Line-1]))
		b.WriteString(strings.Repeat(" ", item.Column-1) + string(first[item.Column-1:]))
		for _, line := range r.lines[item.Line:r.endOfBlock(item.Line, list.Column-1)] {
			b.Write(line)
		}
		var doc, rest yaml.Node
		dec := yaml.NewDecoder(bytes.NewReader(b.Bytes()))
		if dec.Decode(&doc) == nil && dec.Decode(&rest) != nil {
			return b.Bytes()
		}
	}
	text, err := yaml.Marshal(item)
	if err != nil {
		r.fail(item, "%v", err)
	}
	return text
}

// endOfBlock returns the number of the last line of what begins in line (from
// 1) and is indented by more than indent.
func (r *fileReader) endOfBlock(line, indent int) int {
	last := line
	for i := line; i < len(r.lines); i++ {
		text := strings.TrimRight(string(r.lines[i]), "\r\n")
		body := strings.TrimLeft(text, " ")
		switch {
		case strings.TrimSpace(body) == "":
		case strings.HasPrefix(text, "---"), strings.HasPrefix(text, "..."):
			return last
		case len(text)-len(body) > indent:
			last = i + 1
		case !strings.HasPrefix(body, "#"):
			return last
		}
	}
	return last
}

// load loads the hooks of a story.
func (s *Story) load() (all []hooks.Hook, warnings []hooks.Diagnostic, err error) {
	var errs []error
	for _, src := range s.hooks {
		var found []hooks.Hook
		var ds []hooks.Diagnostic
		var err error
		if src.path != "" {
			found, ds, err = src.dialect.Load(src.tier, src.path)
		} else {
			found, ds, err = src.dialect.Parse(src.tier, src.file, src.text)
		}
		all, warnings = append(all, found...), append(warnings, ds...)
		if err != nil {
			errs = append(errs, err)
		}
	}
	return all, warnings, errors.Join(errs...)
}
