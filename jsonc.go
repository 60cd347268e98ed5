package hooks

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// withoutComments blanks out what some products allow in their JSON: comments,
// and a comma before a closing bracket. Every character that stays keeps its
// line and column, so that findings name the right place. commas are the places
// of such commas. It looks at tokens only: whatever else is no JSON is for the
// reader to find.
func withoutComments(data []byte) (plain []byte, commas []place) {
	plain = make([]byte, 0, len(data))
	places := jsonPlaces{data: data, at: place{1, 1}}
	comma, offset := -1, 0 // of the last token, if it is a comma: in plain, in data
	for i := 0; i < len(data); {
		rest := data[i:]
		n := 1 // bytes of the token
		switch c := rest[0]; {
		case bytes.HasPrefix(rest, []byte("//")):
			if n = bytes.IndexByte(rest, '\n'); n < 0 {
				n = len(rest)
			}
			plain = appendBlank(plain, rest[:n])
			i += n
			continue
		case bytes.HasPrefix(rest, []byte("/*")):
			if n = bytes.Index(rest[2:], []byte("*/")) + 4; n < 4 {
				n = len(rest)
			}
			plain = appendBlank(plain, rest[:n])
			i += n
			continue
		case strings.IndexByte(" \t\r\n", c) >= 0:
		case c == ',':
			comma, offset = len(plain), i
		default:
			if (c == '}' || c == ']') && comma >= 0 {
				plain[comma] = ' '
				commas = append(commas, places.to(offset))
			}
			if comma = -1; c == '"' {
				n = stringLen(rest)
			}
		}
		plain = append(plain, rest[:n]...)
		i += n
	}
	return plain, commas
}

// appendBlank appends one blank for each character of a comment; line ends stay.
func appendBlank(dst, comment []byte) []byte {
	for len(comment) > 0 {
		r, n := utf8.DecodeRune(comment)
		if r != '\n' {
			r = ' '
		}
		dst = append(dst, byte(r))
		comment = comment[n:]
	}
	return dst
}

// stringLen returns the length of the string that b begins with, up to the end
// of the line if nothing closes it.
func stringLen(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		case '\n':
			return i
		}
	}
	return len(b)
}
