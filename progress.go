package hooks

import (
	"bytes"
	"encoding/json"

	"github.com/hookruntime/hooks/internal/wire"
)

// argumentScanner finds one argument in a JSON object that comes in fragments,
// as soon as its value is complete. How the text is cut into fragments never
// changes what it finds. Of a key that is given twice the first value counts:
// the second comes too late. Other arguments are skipped, never kept.
type argumentScanner struct {
	key   string
	state argumentState
	kept  []byte // the raw key or value under way, where it is needed
	match bool   // the value under way is the argument's
	depth int    // of a nested value
	inStr bool   // in a nested value: within a string
	esc   bool   // behind a backslash

	done  bool    // nothing will be found any more
	value *string // what was found; nil for null and for nothing
}

type argumentState uint8

const (
	beforeObject argumentState = iota
	beforeFirstKey
	beforeKey
	inKey
	beforeColon
	beforeValue
	inString
	inScalar
	inNested
	behindValue
)

// feed reads a fragment and reports whether the search is over: the argument
// was found, or can no longer come.
func (s *argumentScanner) feed(fragment string) bool {
	for i := 0; i < len(fragment) && !s.done; i++ {
		s.step(fragment[i])
	}
	return s.done
}

// step reads one byte. Bytes are enough: all that JSON cuts by is ASCII, and
// escapes are decoded only when their string is complete.
func (s *argumentScanner) step(c byte) {
	space := c == ' ' || c == '\t' || c == '\n' || c == '\r'
	switch s.state {
	case inKey, inString:
		s.inText(c)
	case inScalar:
		if c == ',' || c == '}' || space {
			s.endValue()
			s.behind(c)
			return
		}
		s.keep(c)
	case inNested:
		s.inside(c)
	case behindValue:
		s.behind(c)
	default:
		if space {
			return
		}
		s.begin(c)
	}
}

// begin reads the first byte of something.
func (s *argumentScanner) begin(c byte) {
	switch {
	case s.state == beforeObject && c == '{':
		s.state = beforeFirstKey
	case (s.state == beforeFirstKey || s.state == beforeKey) && c == '"':
		s.state, s.kept = inKey, append(s.kept[:0], c)
	case s.state == beforeColon && c == ':':
		s.state = beforeValue
	case s.state == beforeValue && c != ',' && c != '}' && c != ']' && c != ':':
		s.kept = append(s.kept[:0], c)
		switch c {
		case '"':
			s.state = inString
		case '{', '[':
			s.state, s.depth = inNested, 1
		default:
			s.state = inScalar
		}
	default: // the end of the object, or no JSON
		s.done = true
	}
}

func (s *argumentScanner) keep(c byte) {
	if s.match || s.state == inKey {
		s.kept = append(s.kept, c)
	}
}

// inText reads a byte of a key or of a string.
func (s *argumentScanner) inText(c byte) {
	s.keep(c)
	switch {
	case s.esc:
		s.esc = false
	case c == '\\':
		s.esc = true
	case c == '"' && s.state == inKey:
		key, ok := unquote(s.kept)
		s.match, s.state = key == s.key, beforeColon
		s.done = !ok
	case c == '"':
		s.endValue()
	}
}

// inside reads a byte of a nested value. Only its brackets and strings matter.
func (s *argumentScanner) inside(c byte) {
	s.keep(c)
	switch {
	case s.esc:
		s.esc = false
	case s.inStr:
		s.esc, s.inStr = c == '\\', c != '"'
	case c == '"':
		s.inStr = true
	case c == '{' || c == '[':
		s.depth++
	case c == '}' || c == ']':
		if s.depth--; s.depth == 0 {
			s.endValue()
		}
	}
}

// behind reads a byte behind a value.
func (s *argumentScanner) behind(c byte) {
	switch c {
	case ' ', '\t', '\n', '\r':
		s.state = behindValue
	case ',':
		s.state = beforeKey
	default: // the end of the object, or no JSON
		s.done = true
	}
}

// endValue ends a value: a string counts as its text, null as nothing, and
// anything else as compact JSON.
func (s *argumentScanner) endValue() {
	s.state = behindValue
	if !s.match {
		return
	}
	s.done = true
	switch wire.Kind(s.kept) {
	case '"':
		if text, ok := unquote(s.kept); ok {
			s.value = &text
		}
	case 'n':
	default:
		var compact bytes.Buffer
		if json.Compact(&compact, s.kept) == nil {
			text := compact.String()
			s.value = &text
		}
	}
}

// unquote decodes a raw string as encoding/json does: half a surrogate pair
// and stray bytes become U+FFFD.
func unquote(raw []byte) (text string, ok bool) {
	err := json.Unmarshal(raw, &text)
	return text, err == nil
}
