// Package wire reads and writes the JSON of the hook contracts where
// encoding/json would change or blur it: it keeps every digit, escape and key
// in place, reads keys by their exact spelling, and sees a key given twice.
package wire

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// Limits bounds a JSON value. Zero fields do not bound.
type Limits struct {
	Depth  int // nesting levels of arrays and objects
	Number int // characters of one number
}

// Fault says in which way a text is not acceptable JSON.
type Fault string

// The faults.
const (
	FaultSyntax Fault = "not valid JSON"
	FaultUTF8   Fault = "not UTF-8"
	FaultDepth  Fault = "nested too deeply"
	FaultNumber Fault = "holds a number that is too long"
	FaultObject Fault = "not a JSON object"
)

// Error is the first fault of a text. It quotes nothing of the text.
type Error struct {
	Fault  Fault
	Offset int // in bytes, from 0
	Limit  int // the limit exceeded, else 0
}

func (e *Error) Error() string {
	if e.Limit > 0 {
		return fmt.Sprintf("%s at byte %d (limit %d)", e.Fault, e.Offset, e.Limit)
	}
	return fmt.Sprintf("%s at byte %d", e.Fault, e.Offset)
}

// scanner walks one JSON value. It does not recurse, so that no input can
// exhaust the stack.
type scanner struct {
	data []byte
	pos  int
	lim  Limits

	anyBytes bool // strings need not be UTF-8

	// The open '{' and '[': the first ones in an array, so that most values
	// need no allocation.
	depth int
	outer [32]byte
	inner []byte

	emit    bool // whether the value goes to out, without its white space
	out     []byte
	spaced  bool // white space was skipped
	flushed int  // data[:flushed] has been written to out, or skipped

	watch bool // whether keys are held against one another
	keys  keySets
}

func (s *scanner) fail(f Fault, at int) *Error { return &Error{Fault: f, Offset: at} }

// peek returns the byte at pos, 0 at the end (no JSON token begins with it).
func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func (s *scanner) space() {
	if s.pos >= len(s.data) || !isSpace(s.data[s.pos]) {
		return
	}
	s.flush()
	s.spaced = true
	for s.pos < len(s.data) && isSpace(s.data[s.pos]) {
		s.pos++
	}
	s.flushed = s.pos
}

func (s *scanner) flush() {
	if s.emit {
		s.out = append(s.out, s.data[s.flushed:s.pos]...)
	}
	s.flushed = s.pos
}

// value scans the value that begins at pos, white space before it included,
// and leaves pos right behind it.
func (s *scanner) value() *Error {
	base := s.depth
	for {
		s.space()
		closed := true // whether the value is complete, not just opened
		switch c := s.peek(); {
		case c == '{' || c == '[':
			if s.lim.Depth > 0 && s.depth >= s.lim.Depth {
				return &Error{Fault: FaultDepth, Offset: s.pos, Limit: s.lim.Depth}
			}
			s.push(c)
			s.pos++
			s.space()
			switch {
			case s.peek() == c+2: // '}' and ']' stand two behind their openers
				s.pop()
			case c == '{':
				closed = false
				if err := s.key(); err != nil {
					return err
				}
			default:
				closed = false
			}
		case c == '"':
			if err := s.str(); err != nil {
				return err
			}
		case c == '-' || '0' <= c && c <= '9':
			if err := s.number(); err != nil {
				return err
			}
		default:
			if err := s.literal(); err != nil {
				return err
			}
		}
		for closed {
			if s.depth == base {
				return nil
			}
			s.space()
			top := s.top()
			switch s.peek() {
			case ',':
				s.pos++
				closed = false
				if top == '{' {
					s.space()
					if err := s.key(); err != nil {
						return err
					}
				}
			case top + 2:
				s.pop()
			default:
				return s.fail(FaultSyntax, s.pos)
			}
		}
	}
}

func (s *scanner) push(c byte) {
	if s.depth < len(s.outer) {
		s.outer[s.depth] = c
	} else {
		s.inner = append(s.inner[:s.depth-len(s.outer)], c)
	}
	s.depth++
	if s.watch && c == '{' {
		s.keys.open()
	}
}

func (s *scanner) top() byte {
	if s.depth <= len(s.outer) {
		return s.outer[s.depth-1]
	}
	return s.inner[s.depth-len(s.outer)-1]
}

// pop scans the closing byte.
func (s *scanner) pop() {
	if s.watch && s.top() == '{' {
		s.keys.close()
	}
	s.depth--
	s.pos++
}

// key scans `"key":`.
func (s *scanner) key() *Error {
	start := s.pos
	if s.peek() != '"' {
		return s.fail(FaultSyntax, s.pos)
	}
	if err := s.str(); err != nil {
		return err
	}
	if s.watch {
		s.keys.add(s.data[start:s.pos], start)
	}
	s.space()
	if s.peek() != ':' {
		return s.fail(FaultSyntax, s.pos)
	}
	s.pos++
	return nil
}

// str scans a string, pos at its opening quote.
func (s *scanner) str() *Error {
	data := s.data
	i := s.pos + 1
	for i < len(data) {
		i += plain(data[i:])
		if i == len(data) {
			break
		}
		switch c := data[i]; {
		case c == '"':
			s.pos = i + 1
			return nil
		case c == '\\':
			n := escapeLen(data[i:])
			if n == 0 {
				return s.fail(FaultSyntax, i)
			}
			i += n
		case c < 0x20:
			return s.fail(FaultSyntax, i)
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(data[i:])
			if r == utf8.RuneError && n <= 1 && !s.anyBytes {
				return s.fail(FaultUTF8, i)
			}
			i += n
		}
	}
	return s.fail(FaultSyntax, len(data))
}

// plain returns how many bytes at the start of b are certainly ordinary ASCII
// inside a string, many at a time: large payloads are mostly that.
func plain(b []byte) int {
	i := 0
	for ; len(b)-i >= 64; i += 64 {
		c := b[i : i+64 : i+64]
		if (special(binary.LittleEndian.Uint64(c))|special(binary.LittleEndian.Uint64(c[8:]))|
			special(binary.LittleEndian.Uint64(c[16:]))|special(binary.LittleEndian.Uint64(c[24:]))|
			special(binary.LittleEndian.Uint64(c[32:]))|special(binary.LittleEndian.Uint64(c[40:]))|
			special(binary.LittleEndian.Uint64(c[48:]))|special(binary.LittleEndian.Uint64(c[56:])))&highBits != 0 {
			break
		}
	}
	for ; len(b)-i >= 8; i += 8 {
		if special(binary.LittleEndian.Uint64(b[i:]))&highBits != 0 {
			break
		}
	}
	return i
}

const lowBits, highBits = 0x0101010101010101, 0x8080808080808080

// special sets the high bit of a byte that is not ordinary, and perhaps of some
// behind it: a quote, a backslash and a byte below 0x20 borrow, and one above
// 0x7f has the bit set. Flipped by 2, a quote is 0x20 and what lies below stays
// below, so that one subtraction finds both.
func special(w uint64) uint64 {
	return (w ^ 2*lowBits - 0x21*lowBits) | (w ^ '\\'*lowBits - lowBits) | w
}

// escapeLen returns the length of the escape sequence at the start of b, 0
// when it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F') {
				return 0
			}
		}
		return 6
	}
	return 0
}

func (s *scanner) number() *Error {
	start := s.pos
	if s.peek() == '-' {
		s.pos++
	}
	switch c := s.peek(); {
	case c == '0':
		s.pos++
	case '1' <= c && c <= '9':
		s.digits()
	default:
		return s.fail(FaultSyntax, s.pos)
	}
	if s.peek() == '.' {
		s.pos++
		if !s.digits() {
			return s.fail(FaultSyntax, s.pos)
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		if !s.digits() {
			return s.fail(FaultSyntax, s.pos)
		}
	}
	if s.lim.Number > 0 && s.pos-start > s.lim.Number {
		return &Error{Fault: FaultNumber, Offset: start, Limit: s.lim.Number}
	}
	return nil
}

func (s *scanner) digits() bool {
	start := s.pos
	for '0' <= s.peek() && s.peek() <= '9' {
		s.pos++
	}
	return s.pos > start
}

func (s *scanner) literal() *Error {
	for _, word := range [...]string{"true", "false", "null"} {
		if len(s.data)-s.pos >= len(word) && string(s.data[s.pos:s.pos+len(word)]) == word {
			s.pos += len(word)
			return nil
		}
	}
	return s.fail(FaultSyntax, s.pos)
}
