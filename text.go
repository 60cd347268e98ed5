package hooks

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cleanText makes a text of a hook fit for the model (TXT-5): invalid UTF-8
// replaced, control characters other than newline and tab removed.
func cleanText(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
}

// cutText cuts a text that is longer than limit bytes at a rune, with a visible
// marker (TXT-5).
func cutText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… [cut: %d of %d bytes shown]", s[:cut], cut, len(s))
}
