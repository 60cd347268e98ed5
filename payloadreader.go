package hooks

import "io"

// payloadReader yields parts one after the other, without copying them.
type payloadReader struct{ parts [][]byte }

// Len is how many bytes are left.
func (r *payloadReader) Len() (n int) {
	for _, part := range r.parts {
		n += len(part)
	}
	return n
}

func (r *payloadReader) Read(b []byte) (int, error) {
	for len(r.parts) > 0 && len(r.parts[0]) == 0 {
		r.parts = r.parts[1:]
	}
	if len(r.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(b, r.parts[0])
	r.parts[0] = r.parts[0][n:]
	return n, nil
}

// WriteTo implements io.WriterTo, so that a large input is not copied through
// a small buffer.
func (r *payloadReader) WriteTo(w io.Writer) (n int64, err error) {
	for len(r.parts) > 0 {
		var m int
		m, err = w.Write(r.parts[0])
		n += int64(m)
		r.parts[0] = r.parts[0][m:]
		if err != nil {
			return n, err
		}
		r.parts = r.parts[1:]
	}
	return n, nil
}
