package hooks

import "strings"

// near returns the candidate that a misspelled name most likely means, empty
// when none is near: one that differs in letter case, underscores and hyphens
// only (fail_mode, on-demand), one with something added behind (timeoutMs), or
// one at a small edit distance (matchr).
func near(name string, candidates []string) string {
	const longest = 40 // no candidate is longer; a misspelling is not either
	if name == "" || len(name) > longest {
		return ""
	}
	flat := flatten(name)
	for _, c := range candidates {
		if flatten(c) == flat {
			return c
		}
	}
	best, distance := "", 3
	if len(flat) < 6 {
		distance = 2
	}
	for _, c := range candidates {
		switch f := flatten(c); {
		case len(f) >= 5 && strings.HasPrefix(flat, f):
			return c
		case len(f) > 2:
			if d := editDistance(flat, f); d < distance {
				best, distance = c, d
			}
		}
	}
	return best
}

// flatten removes what separates words in different spellings of one name.
func flatten(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// editDistance counts the insertions, deletions, replacements and exchanges of
// neighbours that lead from a to b, in bytes. Both are short.
func editDistance(a, b string) int {
	const longest = 64
	if len(a) >= longest || len(b) >= longest {
		return longest
	}
	var rows [3][longest]int
	for j := range len(b) + 1 {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row := &rows[(i+1)%3], &rows[(i+2)%3], &rows[i%3]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return rows[len(a)%3][len(b)]
}
