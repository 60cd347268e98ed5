package wire

import (
	"strconv"
	"unicode/utf8"
)

// Compact appends the one JSON value that src holds to dst, without
// insignificant white space and otherwise as it is, checking syntax, UTF-8 and
// limits in the same pass.
func Compact(dst, src []byte, lim Limits) ([]byte, error) {
	s := scanner{data: src, lim: lim, emit: true, out: dst}
	if err := s.whole(); err != nil {
		return dst, err
	}
	return s.out, nil
}

// CompactKeys is Compact that also reports the first pair of colliding keys,
// at any depth.
func CompactKeys(dst, src []byte, lim Limits) ([]byte, *Collision, error) {
	s := scanner{data: src, lim: lim, emit: true, out: dst, watch: true}
	if err := s.whole(); err != nil {
		return dst, nil, err
	}
	return s.out, s.keys.found, nil
}

// whole scans a text that holds one value and nothing else.
func (s *scanner) whole() error {
	if err := s.value(); err != nil {
		return err // not a *Error that is nil: that would be an error
	}
	s.flush()
	s.emit = false
	s.space()
	if s.pos < len(s.data) {
		return s.fail(FaultSyntax, s.pos)
	}
	return nil
}

// Writer writes one JSON object on one line, keys in the order of the calls.
type Writer struct {
	buf  []byte
	refs []Ref
	// Refer is from which length on a raw value is not copied but referred to,
	// if it holds no insignificant white space. Zero: never.
	Refer int
}

// Ref is a value that was not copied: it belongs at an offset of the text.
type Ref struct {
	At  int
	Raw []byte
}

// NewWriter returns a Writer that appends to buf.
func NewWriter(buf []byte) *Writer { return &Writer{buf: buf} }

// Bytes returns what was written, without the values in Refs.
func (w *Writer) Bytes() []byte { return w.buf }

// Refs returns the values that were not copied, in order.
func (w *Writer) Refs() []Ref { return w.refs }

// Open begins an object.
func (w *Writer) Open() { w.buf = append(w.buf, '{') }

// Close ends it.
func (w *Writer) Close() { w.buf = append(w.buf, '}') }

// Key begins a member; a value must follow.
func (w *Writer) Key(key string) {
	if n := len(w.buf); n > 0 && w.buf[n-1] != '{' {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(AppendString(w.buf, key), ':')
}

// Str writes a string member.
func (w *Writer) Str(key, s string) {
	w.Key(key)
	w.buf = AppendString(w.buf, s)
}

// NullStr writes a string member, null when p is nil.
func (w *Writer) NullStr(key string, p *string) {
	if p == nil {
		w.Null(key)
		return
	}
	w.Str(key, *p)
}

// Null writes a null member.
func (w *Writer) Null(key string) {
	w.Key(key)
	w.buf = append(w.buf, "null"...)
}

// Bool writes a boolean member.
func (w *Writer) Bool(key string, b bool) {
	w.Key(key)
	w.buf = strconv.AppendBool(w.buf, b)
}

// Int writes an integer member.
func (w *Writer) Int(key string, n int) {
	w.Key(key)
	w.buf = strconv.AppendInt(w.buf, int64(n), 10)
}

// Raw writes a member with a raw value, compacted and checked; nil is null.
// After an error the object is not usable.
func (w *Writer) Raw(key string, raw []byte, lim Limits) error {
	_, err := w.raw(key, raw, &scanner{data: raw, lim: lim})
	return err
}

// RawKeys is Raw that also reports colliding keys.
func (w *Writer) RawKeys(key string, raw []byte, lim Limits) (*Collision, error) {
	return w.raw(key, raw, &scanner{data: raw, lim: lim, watch: true})
}

func (w *Writer) raw(key string, raw []byte, s *scanner) (*Collision, error) {
	if raw == nil {
		w.Null(key)
		return nil, nil
	}
	w.Key(key)
	if w.Refer > 0 && len(raw) >= w.Refer {
		if err := s.whole(); err != nil {
			return nil, err
		}
		if !s.spaced {
			w.refs = append(w.refs, Ref{At: len(w.buf), Raw: raw})
			return s.keys.found, nil
		}
		*s = scanner{data: raw, lim: s.lim, watch: s.watch}
	}
	s.emit, s.out = true, w.buf
	if err := s.whole(); err != nil {
		return nil, err
	}
	w.buf = s.out
	return s.keys.found, nil
}

// AppendString appends s as a JSON string. Only what JSON demands is escaped:
// a hook that searches its input for && or <script> must find it. Invalid
// UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[start:i]...), "\ufffd"...)
				start = i + 1
			}
			i += n
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}
