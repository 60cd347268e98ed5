package wire

import (
	"bytes"
	"testing"
)

// plain stops at or before every byte that is not ordinary, wherever it stands,
// and passes the others.
func TestPlain(t *testing.T) {
	const size = 200
	for c := range 256 {
		ordinary := c >= 0x20 && c < 0x80 && c != '"' && c != '\\'
		for at := range size {
			b := bytes.Repeat([]byte{'x'}, size)
			b[at] = byte(c)
			switch n := plain(b); {
			case ordinary && n != size:
				t.Fatalf("%q at %d: %d bytes are ordinary, not %d", c, at, size, n)
			case !ordinary && (n > at || n < at-at%8):
				t.Fatalf("%q at %d: stopped at %d", c, at, n)
			}
		}
	}
}
