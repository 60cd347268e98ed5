package hooks

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxFaults bounds how often the parser is started again behind a faulty
// document: each start costs some kilobytes, however small the document.
const maxFaults = 10

// readYAML reads the documents of a file; empty ones are skipped. Behind a
// document that does not parse it goes on at the next "---", so that all
// faults are told at once. That is sound: "---" at the beginning of a line
// ends a document wherever it stands, inside blocks and quotes too.
func readYAML(data []byte) (docs []*node, faults []fault) {
	if at, deep := mostlyOpeners(data); deep {
		return nil, []fault{{placeOf(data, at), "nested too deeply for a configuration file"}}
	}
	src := yamlSource{lines: bytes.SplitAfter(data, []byte("\n")), odd: oddBreaks(data)}
	for first := 0; first < len(src.lines); {
		part, handed, err := src.parse(first, len(src.lines))
		docs = append(docs, part...)
		if err == nil {
			return docs, faults
		}
		if len(faults) == maxFaults {
			return docs, append(faults, fault{place{handed, 1}, "too many faults; the rest of the file is not read"})
		}
		faults = append(faults, src.locate(first, handed, err))
		// The parser may have looked ahead onto the "---" itself.
		next := max(handed-1, first+1)
		for next < len(src.lines) && !bytes.HasPrefix(src.lines[next], []byte("---")) {
			next++
		}
		first = next
	}
	return docs, faults
}

// mostlyOpeners finds files that are little more than brackets which are never
// closed. The parser spends a kilobyte on each, so they must not reach it.
func mostlyOpeners(data []byte) (first int, deep bool) {
	count := func(s string) int { return bytes.Count(data, []byte(s)) }
	open := count("[") + count("{") - count("]") - count("}")
	return bytes.IndexAny(data, "[{"), open > maxNesting && open > len(data)/2
}

// yamlSource is a file, cut into lines that keep their ends.
type yamlSource struct {
	lines [][]byte
	odd   []int // as oddBreaks returns it
}

// oddBreaks returns, for every line as the parser counts them, the line of the
// file, both from 0: to the parser a CR alone, U+0085, U+2028 and U+2029 end
// lines too, to editors they do not. It returns nil for a file without them.
func oddBreaks(data []byte) (lines []int) {
	odd := false
	line := 0
	lines = append(lines, 0)
	for i := 0; i < len(data); i++ {
		switch {
		case data[i] == '\n':
			line++
		case data[i] == '\r' && (i+1 == len(data) || data[i+1] != '\n'):
			odd = true
		case data[i] == 0xc2 && bytes.HasPrefix(data[i:], []byte("\u0085")),
			data[i] == 0xe2 && (bytes.HasPrefix(data[i:], []byte("\u2028")) || bytes.HasPrefix(data[i:], []byte("\u2029"))):
			odd = true
		default:
			continue
		}
		lines = append(lines, line)
	}
	if !odd {
		return nil
	}
	return lines
}

// line turns a line that the parser names, from 1, into one of the file, where
// first is the line, from 0, with which parsing began.
func (s yamlSource) line(first, named int) int {
	if s.odd == nil {
		return first + named
	}
	i := sort.SearchInts(s.odd, first) + named - 1
	return s.odd[min(i, len(s.odd)-1)] + 1
}

// parse reads the documents of the lines from first up to, not including,
// end. handed is the number (from 1) of the last line that the parser had been
// given when it stopped. The parser's own messages name a line only
// sometimes, and not always the right one; what it had read is a better guide.
func (s yamlSource) parse(first, end int) (docs []*node, handed int, err error) {
	r := &lineReader{lines: s.lines[first:end]}
	defer func() {
		handed = max(first+r.given, 1)
		if p := recover(); p != nil {
			// The parser is third-party code; a file that makes it panic is
			// simply not valid for us.
			err = fmt.Errorf("yaml: the parser fails on this document (%v)", p)
		}
	}()
	dec := yaml.NewDecoder(r)
	for {
		var doc yaml.Node
		switch err := dec.Decode(&doc); {
		case err == io.EOF:
			return docs, 0, nil
		case err != nil:
			return docs, 0, err
		}
		for _, n := range doc.Content { // one, the root; none of an empty document
			root, ok := s.node(n, first, 0)
			if !ok {
				return docs, 0, fmt.Errorf("yaml: nested too deeply for a configuration file")
			}
			if root.kind != nodeNull {
				docs = append(docs, root)
			}
		}
	}
}

// lineReader yields one line per Read, so that one can tell how far a reader
// has come.
type lineReader struct {
	lines [][]byte
	given int // lines begun
	rest  []byte
}

func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.given == len(r.lines) {
			return 0, io.EOF
		}
		r.rest = r.lines[r.given]
		r.given++
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// node turns a parsed value into a located one. first is the line where
// parsing began, from 0. Anchors mean nothing without aliases; an alias stays
// one, and is refused where a value is wanted.
func (s yamlSource) node(y *yaml.Node, first, depth int) (*node, bool) {
	if depth > maxNesting {
		return nil, false
	}
	n := &node{at: place{s.line(first, y.Line), y.Column}, text: y.Value}
	if y.Style&yaml.TaggedStyle != 0 && !strings.HasPrefix(y.ShortTag(), "!!") || y.ShortTag() == "!!binary" {
		n.tag = y.Tag
	}
	switch y.Kind {
	case yaml.AliasNode:
		n.kind = nodeAlias
	case yaml.ScalarNode:
		n.kind = nodeScalar
		n.quoted = y.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 || y.Style&yaml.TaggedStyle != 0 && y.ShortTag() == "!!str"
		n.folded = y.Style&yaml.FoldedStyle != 0
		if y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 && n.at.line <= len(s.lines) {
			n.crlf = bytes.HasSuffix(s.lines[n.at.line-1], []byte("\r\n"))
		}
		if y.ShortTag() == "!!null" && n.tag == "" {
			n.kind = nodeNull
		}
	case yaml.SequenceNode:
		n.kind = nodeList
		n.items = make([]*node, len(y.Content))
		for i, c := range y.Content {
			item, ok := s.node(c, first, depth+1)
			if !ok {
				return nil, false
			}
			n.items[i] = item
		}
	case yaml.MappingNode:
		n.kind = nodeMapping
		n.members = make([]member, len(y.Content)/2)
		for i := range n.members {
			key, value := y.Content[2*i], y.Content[2*i+1]
			v, ok := s.node(value, first, depth+1)
			if !ok {
				return nil, false
			}
			m := member{key: key.Value, at: place{s.line(first, key.Line), key.Column}, value: v}
			switch {
			case key.ShortTag() == "!!merge":
				m.odd = "a merge key (<<)"
			case key.Kind == yaml.AliasNode:
				m.odd = "a YAML alias"
			case key.Kind != yaml.ScalarNode:
				m.key, m.odd = "?", "a list or mapping"
			}
			n.members[i] = m
		}
	}
	return n, true
}

// yamlLine is how the parser names a line.
var yamlLine = regexp.MustCompile(`^line (\d+): `)

// locate finds the place of a parser's error in the lines from first on, of
// which the parser had been given those up to handed (from 1), and says what
// to do about it.
func (s yamlSource) locate(first, handed int, err error) fault {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	named := 0
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		named, _ = strconv.Atoi(m[1])
		named = s.line(first, named)
		text = text[len(m[0]):]
	}
	line := handed
	switch {
	case strings.HasPrefix(text, "did not find expected ',' or"):
		// Named is the line of the opening bracket, counted from 0.
		line = s.opening(first, named+1, "[{")
	case strings.HasPrefix(text, "unknown anchor"):
		for line > first+1 && !bytes.Contains(s.lines[line-1], []byte("*"+anchorOf(text))) {
			line--
		}
	case blockMessage(text):
		// The parser looks ahead over the end of a value, as far as one line
		// with content. When it fails the same way without that line, the
		// fault stands before it.
		if before := s.contentBefore(first, handed); before > first {
			if _, _, again := s.parse(first, before); again != nil && strings.HasSuffix(again.Error(), text) {
				line = before
			}
		}
	case strings.HasPrefix(text, "found unexpected"): // the end, in quotes
		line = s.opening(first, named, `"'`)
	case strings.HasPrefix(text, "found a tab"):
		// Named is where the value begins that the tab stands in or behind.
		for line = max(named, first+1); line < handed && !tabIndented(s.lines[line-1]); line++ {
		}
	case named > 0:
		line = named
	}
	line = min(max(line, first+1), len(s.lines))
	return s.explain(line, text)
}

// opening returns the line where something was opened: the one the parser
// names, if it can stand there. The parser does not name its first line, but
// the last one instead.
func (s yamlSource) opening(first, named int, marks string) int {
	if named > first && named <= len(s.lines) && bytes.ContainsAny(s.lines[named-1], marks) {
		return named
	}
	return first + 1
}

func tabIndented(line []byte) bool {
	return bytes.IndexByte(line[:len(line)-len(bytes.TrimLeft(line, " \t"))], '\t') >= 0
}

// anchorOf takes the name out of "unknown anchor 'name' referenced".
func anchorOf(text string) string {
	_, text, _ = strings.Cut(text, "'")
	name, _, _ := strings.Cut(text, "'")
	return name
}

// blockMessage reports whether a message is about the structure of lines: the
// parser then names the line where the structure begins, not the bad one.
func blockMessage(text string) bool {
	switch text {
	case "did not find expected key", "did not find expected '-' indicator",
		"did not find expected node content", "did not find expected <document start>":
		return true
	}
	return false
}

// contentBefore returns the number of the last line before the given one that
// holds more than white space and comments, first when there is none.
func (s yamlSource) contentBefore(first, line int) int {
	for line--; line > first; line-- {
		if t := bytes.TrimSpace(s.lines[line-1]); len(t) > 0 && t[0] != '#' {
			break
		}
	}
	return line
}

// unquotedStar finds a value that begins with an unquoted * (or &).
var unquotedStar = regexp.MustCompile(`(?:^|[:\-\[,?]\s+|^\s*|[\[{,])([*&])`)

// explain puts a parser's message into words that tell an author what to do.
func (s yamlSource) explain(line int, text string) fault {
	src := strings.TrimRight(string(s.lines[line-1]), "\r\n")
	indent := len(src) - len(strings.TrimLeft(src, " \t"))
	at := place{line, min(indent, len(src)) + 1}
	switch {
	case strings.HasPrefix(text, "unknown anchor"), strings.HasPrefix(text, "did not find expected alphabetic or numeric"):
		if m := unquotedStar.FindStringSubmatchIndex(src); m != nil {
			at.col = len([]rune(src[:m[2]])) + 1
			if src[m[2]] == '*' {
				return fault{at, `an unquoted * begins a YAML alias; quote the value: "*"`}
			}
			return fault{at, `an unquoted & begins a YAML anchor; quote the value`}
		}
	case strings.HasPrefix(text, "found a tab"), tabIndented([]byte(src)):
		return fault{at, "not valid YAML: a tab is used for indentation, where only spaces are allowed"}
	case strings.HasPrefix(text, "found character that cannot start any token"):
		return fault{at, "not valid YAML: a value begins with a character that must be quoted (one of @ ` % or a tab)"}
	case strings.HasPrefix(text, "mapping values are not allowed"):
		return fault{at, `not valid YAML: a second ": " in one line, or wrong indentation; quote a value that holds a colon`}
	case strings.HasPrefix(text, "found unexpected end of stream"), strings.HasPrefix(text, "found unexpected document indicator"):
		return fault{at, "not valid YAML: a quotation mark is opened and not closed"}
	case strings.HasPrefix(text, "did not find expected ',' or"):
		return fault{at, "not valid YAML: a bracket is opened and not closed"}
	case strings.HasPrefix(text, "control characters are not allowed"):
		return fault{at, "not valid YAML: a control character stands in the file"}
	}
	return fault{at, "not valid YAML: " + excerpt(text)}
}
