package story

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/hookruntime/hooks"
	"github.com/hookruntime/hooks/internal/wire"
)

// Load reads stories from files and folders, in the order of their names and
// lines. Of a folder, and the folders in it, it takes the YAML files that hold
// stories, and leaves others (hook files, say) alone; a file that is named
// itself must hold stories. Everything that is wrong with the files is one
// [*FormatError]; so is that there is no story at all.
func Load(paths ...string) ([]*Story, error) {
	var stories []*Story
	var findings []hooks.Diagnostic
	add := func(file string, named bool) {
		found, ds := readFile(file, named)
		stories, findings = append(stories, found...), append(findings, ds...)
	}
	for _, path := range paths {
		before := len(stories) + len(findings)
		named := true
		err := filepath.WalkDir(path, func(file string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case file != path && strings.HasPrefix(e.Name(), "."):
				if e.IsDir() {
					return fs.SkipDir
				}
			case e.IsDir():
				named = false
			case named || isYAML(file):
				add(file, named)
			}
			return nil
		})
		if err != nil {
			findings = append(findings, hooks.Diagnostic{Severity: hooks.SeverityError, File: path, Message: plainError(err)})
		} else if len(stories)+len(findings) == before {
			findings = append(findings, hooks.Diagnostic{Severity: hooks.SeverityError, File: path, Message: "no stories: a story is a YAML document with the key story"})
		}
	}
	if findings != nil {
		return nil, &FormatError{Findings: findings}
	}
	return stories, nil
}

func isYAML(file string) bool {
	ext := strings.ToLower(filepath.Ext(file))
	return ext == ".yaml" || ext == ".yml"
}

// plainError takes the file's name out of an error: the finding has it already.
func plainError(err error) string {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return "cannot be read: " + pe.Err.Error()
	}
	return err.Error()
}

// fileReader reads the stories of one file.
type fileReader struct {
	decoder
	lines [][]byte // with their ends
}

func readFile(file string, named bool) ([]*Story, []hooks.Diagnostic) {
	r := &fileReader{decoder: decoder{file: file}}
	whole := func(format string, args ...any) []hooks.Diagnostic {
		return []hooks.Diagnostic{{Severity: hooks.SeverityError, File: file, Message: fmt.Sprintf(format, args...)}}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, whole("%s", plainError(err))
	}
	if !utf8.Valid(data) {
		return nil, whole("is not UTF-8")
	}
	r.lines = bytes.SplitAfter(data, []byte("\n"))
	var docs []*yaml.Node
	for dec := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, whole("is not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		}
		if len(doc.Content) > 0 && doc.Content[0].ShortTag() != "!!null" {
			docs = append(docs, doc.Content[0])
		}
	}
	if !named && !anyStory(docs) {
		return nil, nil
	}
	var stories []*Story
	for _, n := range docs {
		stories = append(stories, r.story(n))
	}
	return stories, r.findings
}

// anyStory reports whether a file is meant to hold stories. It goes by more
// than the key story: one that is misspelled must not make a test vanish.
func anyStory(docs []*yaml.Node) bool {
	for _, n := range docs {
		for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
			switch n.Content[i].Value {
			case "story", "want", "payload", "payload_file", "then":
				return true
			}
		}
	}
	return false
}

// The keys of events and stories; never written to.
var (
	eventKeys = []string{"payload", "payload_file", "with", "model", "want"}
	storyKeys = append([]string{"story", "clauses", "needs", "conduct", "dialect", "hooks"}, append(eventKeys, "then")...)
)

func (r *fileReader) story(n *yaml.Node) *Story {
	s := &Story{File: r.file, Line: n.Line}
	hooked := false
	var first []pair
	var then *yaml.Node
	s.dialect = r.dialect(n)
	var conduct string
	for _, p := range r.pairs(n, "a story", storyKeys...) {
		switch p.key {
		case "story":
			s.Sentence = strings.Join(strings.Fields(r.text(p.value, "story")), " ")
		case "clauses":
			s.Clauses = r.texts(p.value, "clauses")
		case "needs":
			s.Needs = r.texts(p.value, "needs")
		case "conduct":
			conduct = r.word(p.value, "conduct", "contract", "hardened", "both")
		case "hooks":
			s.hooks, hooked = r.hooks(p.value, s.dialect), true
		case "dialect": // read before the others
		case "then":
			then = p.value
		default:
			first = append(first, p)
		}
	}
	if s.Sentence == "" && n.Kind == yaml.MappingNode {
		r.fail(n, "story is missing: one sentence that says what the story shows")
	}
	if !hooked && n.Kind == yaml.MappingNode {
		r.fail(n, "hooks is missing: what is tested, under system, agent or user ({} is none)")
	}
	s.Events = append(s.Events, r.event(n, first, nil))
	if then != nil {
		for _, item := range r.items(then, "then") {
			s.Events = append(s.Events, r.event(item, r.pairs(item, "an event under then", eventKeys...), s.Events[len(s.Events)-1]))
		}
	}
	r.conducts(s, conduct, n)
	return s
}

// dialect returns the dialect of a story, which decides how the rest is read.
func (r *fileReader) dialect(n *yaml.Node) (d hooks.Dialect) {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "dialect" {
			_ = d.UnmarshalText([]byte(r.word(n.Content[i+1], "dialect", dialects()...)))
		}
	}
	return d
}

// dialects are the names of the dialects.
func dialects() []string { return []string{hooks.HookContract.String(), hooks.VSCode.String()} }

// conducts decides in which conducts the story is run: the one it names, else
// those that it wants results for, else contract. Every event must then say
// what is wanted in each.
func (r *fileReader) conducts(s *Story, named string, n *yaml.Node) {
	var in [2]bool
	switch named {
	case "contract":
		in[hooks.Contract] = true
	case "hardened":
		in[hooks.Hardened] = true
	case "both":
		in = [2]bool{true, true}
	default:
		for _, e := range s.Events {
			if e.section.perConduct {
				for c := range e.want {
					in[c] = in[c] || e.want[c] != nil
				}
			}
		}
		in[hooks.Contract] = in[hooks.Contract] || !in[hooks.Hardened]
	}
	for c := range in {
		conduct := hooks.Conduct(c)
		if !in[c] {
			for _, e := range s.Events {
				if e.section.perConduct && e.want[c] != nil {
					r.fail(n, "want has a part for %s, but conduct is %s", conduct, named)
				}
			}
			continue
		}
		s.Conducts = append(s.Conducts, conduct)
		for _, e := range s.Events {
			if e.section.perConduct && e.want[c] == nil {
				r.fail(n, "want has no part for conduct %s, in which the story is run", conduct)
			}
		}
	}
}

// event reads one event; before is the one that it follows, nil for the first.
func (r *fileReader) event(n *yaml.Node, ps []pair, before *Event) *Event {
	e := &Event{Line: n.Line}
	if before != nil {
		e.with, e.noModel = before.with, before.noModel
		e.with.resumed = false
	}
	e.section = r.place(n)
	given := false
	for _, p := range ps {
		switch p.key {
		case "payload", "payload_file":
			if given {
				r.fail(p.at, "payload and payload_file are both given")
			}
			given = true
			e.payload = r.payload(p, before)
		case "with":
			r.with(p.value, &e.with)
		case "model":
			e.noModel = p.value.Kind == yaml.ScalarNode && p.value.Value == "none"
			if !e.noModel {
				e.answers = r.answers(p.value)
			}
		case "want":
			r.want(p.value, e)
			e.section.value = p.value
		}
	}
	refused := (e.want[0] == nil || e.want[0].has("load_error")) && (e.want[1] == nil || e.want[1].has("load_error")) && e.section.value != nil
	if !given && !refused && n.Kind == yaml.MappingNode {
		r.fail(n, "payload is missing: what the hooks get, as a mapping, as JSON text, or as payload_file")
	}
	return e
}

// payload reads what the hooks get. Of a mapping that follows another event
// the keys that stay the same may be left out.
func (r *fileReader) payload(p pair, before *Event) []byte {
	switch {
	case p.key == "payload_file":
		data, err := os.ReadFile(r.beside(r.text(p.value, "payload_file")))
		if err != nil {
			r.fail(p.value, "payload_file: %s", plainError(err))
		}
		return data
	case p.value.Kind == yaml.MappingNode:
		data := r.json(p.value)
		if before != nil {
			data = inherit(data, before.payload)
		}
		return data
	}
	return []byte(r.text(p.value, "payload (a mapping, or JSON as text)"))
}

// inherited are the keys that a following event has in common with the one
// before; the second list only when both are of one tool call. Neither is ever
// written to.
var (
	inherited     = []string{"agent_name", "current_turn", "max_turns", "session_id", "cwd"}
	inheritedCall = []string{"tool_name", "tool_input", "call_id", "tool_use_id"}
)

func inherit(data, before []byte) []byte {
	own, err := wire.Members(data)
	earlier, errBefore := wire.Members(before)
	if err != nil || errBefore != nil {
		return data
	}
	keys := inherited
	if member(own, "hook_event_name") == `"PostToolUse"` && member(earlier, "hook_event_name") == `"PreToolUse"` {
		keys = append(keys[:len(keys):len(keys)], inheritedCall...)
	}
	for _, key := range keys {
		if v := member(earlier, key); v != "" && member(own, key) == "" {
			own = append(own, wire.Member{Key: key, Value: json.RawMessage(v)})
		}
	}
	w := wire.NewWriter(nil)
	w.Open()
	for _, m := range own {
		_ = w.Raw(m.Key, m.Value, wire.Limits{}) // it was parsed a moment ago
	}
	w.Close()
	return w.Bytes()
}

func member(members []wire.Member, key string) string {
	for _, m := range members {
		if m.Key == key {
			return string(m.Value)
		}
	}
	return ""
}
