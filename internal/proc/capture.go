package proc

import (
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// Capture is an [io.Writer] that keeps the first Head bytes of what is written
// to it and the last Tail bytes, whatever comes in between. It accepts all
// writes and never grows beyond its bounds. The zero value keeps nothing and
// counts; with Tail zero it is a plain cap.
//
// A Capture serves one writer at a time. What [Run] wrote to it may be read
// when Run has returned.
type Capture struct {
	// Head and Tail are numbers of bytes, not negative. They must not be
	// changed after the first Write.
	Head, Tail int

	head, tail []byte
	oldest     int   // where tail begins once it is full and goes round
	total      int64 // bytes written
}

// Write takes all of p and never fails.
func (c *Capture) Write(p []byte) (int, error) {
	n := len(p)
	c.total += int64(n)
	p = fill(&c.head, c.Head, p)
	if len(p) > c.Tail {
		p = p[len(p)-c.Tail:]
	}
	p = fill(&c.tail, c.Tail, p)
	for len(p) > 0 {
		k := copy(c.tail[c.oldest:], p)
		c.oldest = (c.oldest + k) % len(c.tail)
		p = p[k:]
	}
	return n, nil
}

// chunk bounds of ReadFrom, in bytes.
const minChunk, maxChunk = 256, 32 << 10

// ReadFrom implements [io.ReaderFrom], so that reading does not begin with a
// buffer that is larger than nearly all answers. The buffer grows with what
// comes.
func (c *Capture) ReadFrom(r io.Reader) (n int64, err error) {
	buf := make([]byte, minChunk)
	for {
		k, err := r.Read(buf)
		n += int64(k)
		_, _ = c.Write(buf[:k])
		switch {
		case err == io.EOF:
			return n, nil
		case err != nil:
			return n, err
		case k == len(buf) && k < maxChunk:
			buf = make([]byte, min(4*k, maxChunk))
		}
	}
}

// fill appends to *buf as much of p as limit allows, and returns the rest. It
// doubles the buffer up to exactly the limit; append would overshoot it.
func fill(buf *[]byte, limit int, p []byte) (rest []byte) {
	k := min(limit-len(*buf), len(p))
	if need := len(*buf) + k; need > cap(*buf) {
		grown := make([]byte, len(*buf), min(max(need, 2*cap(*buf), 512), limit))
		copy(grown, *buf)
		*buf = grown
	}
	*buf = append(*buf, p[:k]...)
	return p[k:]
}

// Total returns how many bytes were written.
func (c *Capture) Total() int64 { return c.total }

// Overflowed tells whether bytes were lost.
func (c *Capture) Overflowed() bool { return c.total > int64(len(c.head)+len(c.tail)) }

// Bytes returns what was kept. Where bytes were lost, a line that says how
// many stands between head and tail, and both are cut where a rune ends or
// begins. The result may share memory with c.
func (c *Capture) Bytes() []byte {
	if len(c.tail) == 0 && !c.Overflowed() {
		return c.head
	}
	tail := make([]byte, 0, len(c.tail))
	tail = append(append(tail, c.tail[c.oldest:]...), c.tail[:c.oldest]...)
	if !c.Overflowed() {
		return slices.Concat(c.head, tail)
	}
	head := c.head[:len(c.head)-partialEnd(c.head)]
	tail = tail[partialStart(tail):]
	omitted := c.total - int64(len(head)+len(tail))
	out := make([]byte, 0, len(head)+len(tail)+64)
	out = append(out, head...)
	if len(head) > 0 && head[len(head)-1] != '\n' {
		out = append(out, '\n')
	}
	out = fmt.Appendf(out, "… %d bytes omitted …\n", omitted)
	return append(out, tail...)
}

// String returns Bytes as a string.
func (c *Capture) String() string { return string(c.Bytes()) }

// Excerpt is String of a Capture whose Head is at most limit.
func (c *Capture) Excerpt(limit int) string {
	if len(c.head) <= limit {
		return c.String()
	}
	e := *c
	e.head = c.head[:limit:limit]
	return e.String()
}

// partialEnd returns how many bytes at the end of b begin a rune that is not
// complete.
func partialEnd(b []byte) int {
	for i := 1; i <= min(len(b), utf8.UTFMax-1); i++ {
		if last := b[len(b)-i:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return i
		}
	}
	return 0
}

// partialStart returns how many bytes at the start of b end a rune whose
// beginning is missing.
func partialStart(b []byte) int {
	n := min(len(b), utf8.UTFMax)
	for i := range n {
		if utf8.RuneStart(b[i]) {
			return i
		}
	}
	if n < utf8.UTFMax {
		return n
	}
	return 0 // not UTF-8
}
