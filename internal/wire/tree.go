package wire

import "bytes"

// Value is one JSON value that knows its place, with all that is in it. A
// number, true, false and null keep their spelling.
type Value struct {
	Offset int    // of its first byte, in bytes from 0
	Kind   byte   // as Kind tells it
	Text   string // decoded string; else the literal as written; "" of arrays and objects
	Keys   []Key  // of an object, in order, a key given twice as two
	Items  []Value
}

// Key is one key of an object; its value is the item of the same index.
type Key struct {
	Offset int
	Text   string // decoded
}

// Tree reads a text that is exactly one JSON value, white space around it
// allowed. It recurses, so lim.Depth must be set.
func Tree(data []byte, lim Limits) (Value, error) {
	s := scanner{data: data, lim: lim}
	v, err := s.tree(1)
	if err != nil {
		return Value{}, err
	}
	if s.space(); s.pos < len(data) {
		return Value{}, s.fail(FaultSyntax, s.pos)
	}
	return v, nil
}

func (s *scanner) tree(depth int) (Value, error) {
	s.space()
	v := Value{Offset: s.pos, Kind: s.peek()}
	if v.Kind != '{' && v.Kind != '[' {
		if err := s.value(); err != nil {
			return v, err
		}
		raw := s.data[v.Offset:s.pos]
		if v.Kind != '"' {
			v.Text = string(raw)
			return v, nil
		}
		v.Text, _ = Unquote(raw)
		return v, nil
	}
	if depth > s.lim.Depth {
		return v, &Error{Fault: FaultDepth, Offset: s.pos, Limit: s.lim.Depth}
	}
	s.pos++
	s.space()
	if s.peek() == v.Kind+2 { // '}' and ']' stand two behind their openers
		s.pos++
		return v, nil
	}
	for {
		if v.Kind == '{' {
			s.space()
			key := Key{Offset: s.pos}
			if err := s.key(); err != nil {
				return v, err
			}
			key.Text, _ = Unquote(bytes.TrimRight(s.data[key.Offset:s.pos-1], " \n\t\r"))
			v.Keys = append(v.Keys, key)
		}
		item, err := s.tree(depth + 1)
		if err != nil {
			return v, err
		}
		v.Items = append(v.Items, item)
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
		case v.Kind + 2:
			s.pos++
			return v, nil
		default:
			return v, s.fail(FaultSyntax, s.pos)
		}
	}
}
