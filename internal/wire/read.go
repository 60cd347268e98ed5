package wire

import (
	"bytes"
	"encoding/json"
)

// Member is one key of an object with its value.
type Member struct {
	Key   string // decoded
	Value []byte // raw, without white space around it; a part of the input
}

// Kind tells what a raw value is by its first byte: '{', '[', '"', 'n', 't',
// 'f', '-' or a digit; 0 when it is empty.
func Kind(raw []byte) byte {
	if len(raw) == 0 {
		return 0
	}
	return raw[0]
}

// IsNull reports whether raw is null.
func IsNull(raw []byte) bool { return string(raw) == "null" }

// Members reads a text that is exactly one JSON object, white space around it
// allowed, and returns its members in order, a key given twice as two.
func Members(data []byte) ([]Member, error) {
	members, end, err := Object(data, 0)
	if err != nil {
		return nil, err
	}
	if rest := data[end:]; len(bytes.TrimLeft(rest, " \n\t\r")) > 0 {
		return nil, &Error{Fault: FaultSyntax, Offset: end}
	}
	return members, nil
}

// Object reads the JSON object that begins at data[at:], white space before it
// allowed, and returns its members and the offset behind it; with an error, the
// offset up to which it looked. Nothing is limited, and strings may hold bytes
// that are not UTF-8: a stray byte in its reason must not make a block vanish.
func Object(data []byte, at int) (members []Member, end int, err error) {
	s := scanner{data: data, pos: at, anyBytes: true}
	members, fault := s.members()
	if fault != nil {
		return nil, fault.Offset, fault
	}
	return members, s.pos, nil
}

func (s *scanner) members() ([]Member, *Error) {
	s.space()
	if s.peek() != '{' {
		return nil, s.fail(FaultObject, s.pos)
	}
	s.pos++
	s.space()
	if s.peek() == '}' {
		s.pos++
		return nil, nil
	}
	var members []Member
	for {
		s.space()
		start := s.pos
		if err := s.key(); err != nil {
			return nil, err
		}
		key, _ := Unquote(bytes.TrimRight(s.data[start:s.pos-1], " \n\t\r"))
		s.space()
		start = s.pos
		if err := s.value(); err != nil {
			return nil, err
		}
		members = append(members, Member{key, s.data[start:s.pos]})
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
		case '}':
			s.pos++
			return members, nil
		default:
			return nil, s.fail(FaultSyntax, s.pos)
		}
	}
}

// Skip scans the value that begins at data[at:] and returns the offset behind
// it.
func Skip(data []byte, at int) (end int, err error) {
	s := scanner{data: data, pos: at, anyBytes: true}
	if fault := s.value(); fault != nil {
		return fault.Offset, fault
	}
	return s.pos, nil
}

// Unquote decodes a raw string that the scanner accepted. It reports false
// when raw is no string.
func Unquote(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// TrimBOM removes a byte-order mark from the front.
func TrimBOM(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) }
