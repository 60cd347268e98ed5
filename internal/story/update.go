package story

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/hookruntime/hooks"
)

// section is where the wanted part of an event stands in its file.
type section struct {
	perConduct bool
	value      *yaml.Node // nil: there is none yet

	event  *yaml.Node // the mapping that has, or will have, the key want
	key    *yaml.Node // nil: there is none yet
	indent int        // columns in front of the event's keys
	last   int        // the last line (from 1) of want, or of the event
}

// place finds where an event's want stands, or can be written.
func (r *fileReader) place(n *yaml.Node) section {
	s := section{event: n, indent: n.Column - 1}
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return s
	}
	s.last = r.withoutComments(n, r.endOfBlock(n.Line, s.indent-1))
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == "want" {
			s.key = n.Content[i]
			s.last = r.withoutComments(n.Content[i+1], r.endOfBlock(s.key.Line, s.indent))
		}
	}
	return s
}

// withoutComments moves the end of a value in front of the comments behind it.
func (r *fileReader) withoutComments(n *yaml.Node, end int) int {
	for least := lastLine(n); end > least; end-- {
		text := strings.TrimSpace(string(r.lines[end-1]))
		if text != "" && text[0] != '#' && text != "---" && text != "..." {
			break
		}
	}
	return end
}

// lastLine returns a line that surely belongs to a value.
func lastLine(n *yaml.Node) int {
	last := n.Line
	if n.Kind == yaml.ScalarNode && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		last += strings.Count(strings.TrimRight(n.Value, "\n"), "\n") + 1
	}
	for _, c := range n.Content {
		last = max(last, lastLine(c))
	}
	return last
}

// Update rewrites, in the files of the results, the wanted part of every event
// that came out differently; everything else of a file stays as it is. Aspects
// that were wanted stay the wanted ones. What only names a part of something
// stays too when there is no telling which part is meant. It returns the files
// that it changed. The results of one story stand side by side, as [Run] gave
// them, one for each of its conducts.
func Update(results []*Result) (changed []string, err error) {
	var edits []edit
	for i := 0; i < len(results); {
		s := results[i].Story
		n := i + 1
		for n < len(results) && results[n].Story == s {
			n++
		}
		found, err := updateStory(s, results[i:n])
		if err != nil {
			return nil, err
		}
		edits, i = append(edits, found...), n
	}
	var files []string
	for _, e := range edits {
		if !slices.Contains(files, e.file) {
			files = append(files, e.file)
		}
	}
	for _, file := range files {
		if err := apply(file, edits); err != nil {
			return changed, err
		}
		changed = append(changed, file)
	}
	return changed, nil
}

// edit replaces lines of a file.
type edit struct {
	file        string
	first, last int // from 1; a last before first inserts
	text        string
}

func apply(file string, edits []edit) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	var mine []edit
	for _, e := range edits {
		if e.file == file {
			mine = append(mine, e)
		}
	}
	slices.SortStableFunc(mine, func(a, b edit) int { return b.first - a.first }) // from the end
	for _, e := range mine {
		head := slices.Clone(lines[:e.first-1])
		if n := len(head); n > 0 && !bytes.HasSuffix(head[n-1], []byte("\n")) {
			head[n-1] = append(slices.Clone(head[n-1]), '\n')
		}
		lines = append(append(head, []byte(e.text)), lines[max(e.last, e.first-1):]...)
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, bytes.Join(lines, nil), info.Mode().Perm())
}

// updateStory returns the edits for one story, of which all conducts ran.
func updateStory(s *Story, results []*Result) (edits []edit, err error) {
	for i, e := range s.Events {
		var want [2]*yaml.Node
		differs := false
		for _, r := range results {
			if r.Skipped != "" || i >= len(r.got) {
				return edits, nil
			}
			differs = differs || len(e.differences(r.Conduct, r.got[i])) > 0
			want[r.Conduct] = e.wantedNow(r.Conduct, r.got[i])
		}
		if !differs {
			continue
		}
		value := want[results[0].Conduct]
		if e.section.perConduct || len(results) == 2 && render(want[0]) != render(want[1]) {
			value = &yaml.Node{Kind: yaml.MappingNode}
			for _, r := range results {
				value.Content = append(value.Content, textNode(r.Conduct.String()), want[r.Conduct])
			}
		}
		ed, err := e.section.edit(s, value)
		if err != nil {
			return nil, err
		}
		edits = append(edits, ed)
	}
	return edits, nil
}

// wantedNow is what would have been wanted rightly: the aspects that were
// wanted with what came, or, of an event that wants nothing yet, all that came.
func (e *Event) wantedNow(c hooks.Conduct, g *got) *yaml.Node {
	main := "outcome"
	switch {
	case g.loadErr != nil:
		main = "load_error"
	case g.err != nil:
		main = "error"
	}
	out := &yaml.Node{Kind: yaml.MappingNode}
	put := func(key, value *yaml.Node) { out.Content = append(out.Content, key, value) }
	exp := e.want[c]
	for _, a := range aspects() {
		switch {
		case a.name == main && !exp.has(main):
			put(textNode(a.name), a.write(nil, g))
		case main == "outcome" && len(exp) == 0 && a.opening():
			if n := a.write(nil, g); n.Value != "" || len(n.Content) > 0 {
				put(textNode(a.name), n)
			}
		}
	}
	for _, w := range exp {
		refusal := w.name == "error" || w.name == "load_error"
		if w.name != main && (refusal || main != "outcome") {
			continue
		}
		value := w.value
		if len(w.differ(w.name, w.value, g)) > 0 {
			value = w.write(w.value, g)
			value.HeadComment, value.LineComment, value.FootComment = w.value.HeadComment, w.value.LineComment, w.value.FootComment
		}
		put(w.key, value)
	}
	return out
}

// opening reports whether the aspect is one that an update writes of its own
// accord.
func (w wanted) opening() bool {
	switch w.name {
	case "reason", "question", "context", "by", "metadata":
		return true
	}
	return false
}

// withoutLastComment drops the comments behind a value, which stay in the file
// by themselves.
func withoutLastComment(n *yaml.Node) *yaml.Node {
	c := *n
	c.FootComment = ""
	c.Content = slices.Clone(n.Content)
	if last := len(c.Content) - 1; last >= 0 {
		c.Content[last] = withoutLastComment(c.Content[last])
		if n.Kind == yaml.MappingNode {
			c.Content[last-1] = withoutLastComment(c.Content[last-1])
		}
	}
	return &c
}

// edit writes a value as the event's want.
func (s *section) edit(story *Story, value *yaml.Node) (edit, error) {
	if s.event.Style&yaml.FlowStyle != 0 {
		return edit{}, fmt.Errorf("%s:%d: a want between braces cannot be rewritten; write the event in lines", story.File, s.event.Line)
	}
	margin := strings.Repeat(" ", s.indent)
	lines := strings.SplitAfter(render(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{textNode("want"), withoutLastComment(value)}}), "\n")
	var b strings.Builder
	for i, line := range lines {
		switch {
		case i == 0 && s.key != nil && s.key == s.event.Content[0] && s.indent >= 2:
			// The first key behind a dash.
			b.WriteString(margin[:s.indent-2] + "- ")
		case strings.TrimSpace(line) != "":
			b.WriteString(margin)
		}
		b.WriteString(line)
	}
	if s.key == nil {
		return edit{story.File, s.last + 1, s.last, b.String()}, nil
	}
	return edit{story.File, s.key.Line, s.last, b.String()}, nil
}

func render(n *yaml.Node) string {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(n); err != nil {
		return fmt.Sprintf("# %v\n", err)
	}
	_ = enc.Close() // writes to memory
	return b.String()
}
