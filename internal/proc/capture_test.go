package proc

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/quick"
)

func TestCapture(t *testing.T) {
	for _, tc := range []struct {
		name       string
		head, tail int
		writes     []string
		want       string
		overflowed bool
	}{
		{"nothing", 4, 4, nil, "", false},
		{"fits the head", 4, 4, []string{"ab", "cd"}, "abcd", false},
		{"fits head and tail", 4, 4, []string{"abcde", "fgh"}, "abcdefgh", false},
		{"one byte too many", 4, 4, []string{"abcdefghi"}, "abcd\n… 1 bytes omitted …\nfghi", true},
		{"tail goes round", 2, 3, []string{"ab", "c", "d", "e", "fg", "h"}, "ab\n… 3 bytes omitted …\nfgh", true},
		{"write larger than all", 2, 3, []string{"abc", "0123456789"}, "ab\n… 8 bytes omitted …\n789", true},
		{"plain cap, full", 4, 0, []string{"abcd"}, "abcd", false},
		{"plain cap, over", 4, 0, []string{"abcd", "e"}, "abcd\n… 1 bytes omitted …\n", true},
		{"only a tail", 0, 2, []string{"abc"}, "… 1 bytes omitted …\nbc", true},
		{"zero value", 0, 0, []string{"abc"}, "… 3 bytes omitted …\n", true},
		{"line end before the marker", 2, 0, []string{"a\nb"}, "a\n… 1 bytes omitted …\n", true},
		{"runes are cut whole", 3, 3, []string{"aäöxüz€"}, "aä\n… 6 bytes omitted …\n€", true},
		{"cut inside runes", 2, 2, []string{"aä-€"}, "a\n… 6 bytes omitted …\n", true},
		{"an uncut rune in two writes", 4, 4, []string{"aaa\xc3", "\xa4b"}, "aaaäb", false},
		{"binary stays", 2, 4, []string{"\xff\xfe\x80\x81\x82\x83\x84"}, "\xff\xfe\n… 1 bytes omitted …\n\x81\x82\x83\x84", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := Capture{Head: tc.head, Tail: tc.tail}
			total := 0
			for _, w := range tc.writes {
				if n, err := io.WriteString(&c, w); n != len(w) || err != nil {
					t.Fatalf("Write(%q) = %d, %v", w, n, err)
				}
				total += len(w)
			}
			if got := c.String(); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
			if c.Overflowed() != tc.overflowed || c.Total() != int64(total) {
				t.Errorf("Overflowed() = %v, Total() = %d; want %v, %d", c.Overflowed(), c.Total(), tc.overflowed, total)
			}
		})
	}
}

// However the bytes are cut into writes, the same is kept.
func TestCaptureDoesNotDependOnWrites(t *testing.T) {
	same := func(head, tail uint8, writes [][]byte) bool {
		c := Capture{Head: int(head), Tail: int(tail)}
		var all []byte
		for _, w := range writes {
			_, _ = c.Write(w)
			all = append(all, w...)
		}
		want := string(all)
		if over := len(all) - int(head) - int(tail); over > 0 {
			h, e := all[:head], all[len(all)-int(tail):]
			h, e = h[:len(h)-partialEnd(h)], e[partialStart(e):]
			lf := "\n"
			if len(h) == 0 || h[len(h)-1] == '\n' {
				lf = ""
			}
			want = fmt.Sprintf("%s%s… %d bytes omitted …\n%s", h, lf, len(all)-len(h)-len(e), e)
		}
		return c.String() == want && c.Total() == int64(len(all))
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
}

func TestCaptureIsBounded(t *testing.T) {
	chunk := []byte(strings.Repeat("0123456789abcdef", 2048))
	for _, c := range []*Capture{{Head: 1 << 20}, {Head: 32 << 10, Tail: 32 << 10}, {Tail: 1 << 20}, {Head: 1000, Tail: 1 << 20}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range (64 << 20) / len(chunk) {
			_, _ = c.Write(chunk)
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got >= 4<<20 {
			t.Errorf("Capture{%d, %d} allocated %d bytes for 64 MiB", c.Head, c.Tail, got)
		}
		if cap(c.head) > c.Head || cap(c.tail) > c.Tail {
			t.Errorf("Capture{%d, %d} holds %d and %d bytes", c.Head, c.Tail, cap(c.head), cap(c.tail))
		}
		if c.Total() != 64<<20 {
			t.Errorf("Total() = %d", c.Total())
		}
	}
}

// Reading from a pipe costs a small buffer for a small output, and what is kept
// is what Write keeps.
func TestCaptureReadFrom(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 1 << 10, 5000, 1 << 20} {
		text := strings.Repeat("x", n)
		read, written := &Capture{Head: 3000, Tail: 1000}, &Capture{Head: 3000, Tail: 1000}
		if got, err := read.ReadFrom(strings.NewReader(text)); err != nil || got != int64(n) {
			t.Errorf("%d: read %d, %v", n, got, err)
		}
		_, _ = written.Write([]byte(text))
		if read.String() != written.String() || read.Total() != written.Total() {
			t.Errorf("%d: read and written differ", n)
		}
	}
}

func TestCaptureExcerpt(t *testing.T) {
	c := &Capture{Head: 100}
	_, _ = c.Write([]byte("0123456789"))
	if got := c.Excerpt(100); got != "0123456789" {
		t.Errorf("whole: %q", got)
	}
	if got := c.Excerpt(4); got != "0123\n… 6 bytes omitted …\n" {
		t.Errorf("cut: %q", got)
	}
	if got := c.String(); got != "0123456789" {
		t.Errorf("afterwards: %q", got)
	}
}
