package hooks

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hookruntime/hooks/internal/wire"
)

// node is one value of a configuration file with its place. YAML and JSON
// files are both read into nodes, so that every shape is understood by one
// piece of code.
type node struct {
	kind nodeKind
	at   place
	// text is a scalar's text as it stands in the file, escapes resolved; an
	// alias's name.
	text    string
	quoted  bool   // a scalar that is text by its spelling: quotes, a block
	folded  bool   // a YAML block that loses its line breaks (">")
	crlf    bool   // a YAML block whose lines end with CRLF: the parser hides it
	tag     string // a YAML tag that changes what the value is
	members []member
	items   []*node
}

// member is one key of a mapping with its value.
type member struct {
	key   string
	at    place
	odd   string // what the key is when it is no plain text, as "a merge key (<<)"
	value *node
}

// place is a line and a column, both from 1; columns count characters.
type place struct{ line, col int }

type nodeKind uint8

const (
	nodeNull nodeKind = iota
	nodeScalar
	nodeList
	nodeMapping
	nodeAlias
)

// maxNesting bounds how deep a file may nest: no shape needs more than eight.
const maxNesting = 100

// get returns the value of a key, nil when there is none or it is null. Of a
// key given twice it is the first.
func (n *node) get(key string) *node {
	if m := n.member(key); m != nil && m.value.kind != nodeNull {
		return m.value
	}
	return nil
}

// member returns the first member of the key, nil when there is none.
func (n *node) member(key string) *member {
	for i := range n.members {
		if m := &n.members[i]; m.key == key && m.odd == "" {
			return m
		}
	}
	return nil
}

// describe says in a message what was found.
func (n *node) describe() string {
	switch n.kind {
	case nodeList:
		return "a list"
	case nodeMapping:
		return "a mapping"
	case nodeAlias:
		return "the YAML alias *" + excerpt(n.text)
	case nodeScalar:
		if n.quoted {
			return `the text "` + excerpt(n.text) + `"`
		}
		return excerpt(n.text)
	}
	return "nothing"
}

// shape is describe for a place where no text is wanted. A text there is not
// quoted: it may be what a hook was meant to run, with a secret in it.
func (n *node) shape() string {
	if n.kind == nodeScalar {
		return "a text"
	}
	return n.describe()
}

// excerpt cuts a text that is quoted in a message, so that no message is
// longer than a person reads, and spells out control characters, so that a
// message stays one line.
func excerpt(s string) string {
	const most = 60
	if len(s) > most {
		cut := most
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		quoted := strconv.Quote(s)
		return quoted[1 : len(quoted)-1]
	}
	return s
}

// fault is what keeps a file, or one document of it, from being read at all.
type fault struct {
	at      place
	message string
}

// readNodes reads a file into its documents. A file whose name ends in .json
// is read as JSON, any other as YAML. With comments, a file is JSON with
// comments unless its name says that it is YAML; notes tell what else it has
// that JSON has not. Documents before and behind a faulty one are read too.
func readNodes(name string, data []byte, comments bool) (docs []*node, notes, faults []fault) {
	data = wire.TrimBOM(data)
	if !utf8.Valid(data) {
		return nil, nil, []fault{{placeOf(data, invalidAt(data)), "the file is not UTF-8 here; configuration files are UTF-8"}}
	}
	switch ext := strings.ToLower(fileExtension(name)); {
	case comments && ext != ".yaml" && ext != ".yml":
		plain, commas := withoutComments(data)
		for _, at := range commas {
			notes = append(notes, fault{at, "a comma before a closing bracket is left out; JSON has none there"})
		}
		docs, faults = readJSON(plain)
	case ext == ".json":
		docs, faults = readJSON(data)
	default:
		docs, faults = readYAML(data)
	}
	return docs, notes, faults
}

// invalidAt returns the offset of the first byte that is not UTF-8.
func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return len(data)
}

// placeOf turns an offset into a place.
func placeOf(data []byte, offset int) place {
	before := string(data[:min(offset, len(data))])
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return place{strings.Count(before, "\n") + 1, utf8.RuneCountInString(line) + 1}
}
