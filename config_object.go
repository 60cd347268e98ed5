package hooks

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// fileReader reads the documents of one file.
type fileReader struct {
	*loader
	file  string
	hook  string // the name of the hook that is being read, for diagnostics
	found int    // hooks seen, faulty ones too
	// homes are the mappings of the shape that is being read, so that a key
	// in the wrong one can be told where it belongs.
	homes []shapePart
}

// shapePart is a mapping of a shape: its path and its keys.
type shapePart struct {
	path string
	keys []string
}

func (r *fileReader) report(s Severity, at place, key, suggestion, format string, args ...any) {
	r.add(Diagnostic{
		Severity: s, File: r.file, Line: at.line, Column: at.col, Key: key, Hook: r.hook,
		Message: fmt.Sprintf(format, args...), Suggestion: suggestion,
	})
}

// object is a mapping of a file while it is read.
type object struct {
	r    *fileReader
	n    *node
	path string // of its keys: "spec.hook"; empty at the top
	at   place  // of the key that holds it
	keys []string
	bad  []string // keys that an error has been reported for
}

// object opens a mapping and checks its keys: duplicates, merge keys, unknown
// ones with a near name (CFG-4, CFG-5). foreign mappings hold keys that are
// not ours; of these only a misspelled key of ours is reported.
func (r *fileReader) object(n *node, path string, at place, keys []string, foreign bool) *object {
	o := &object{r: r, n: n, path: path, at: at, keys: keys}
	first := make(map[string]place, len(n.members)) // where each key was seen first
	for i := range n.members {
		m := &n.members[i]
		if m.odd != "" {
			r.report(SeverityError, m.at, o.key(excerpt(m.key)), "", "%s stands as a key; keys are plain names here: write out what is meant", m.odd)
			o.bad = append(o.bad, m.key)
			continue
		}
		if at, twice := first[m.key]; twice {
			r.report(SeverityError, m.at, o.key(excerpt(m.key)), "", "key %s is given twice, in line %d and in line %d", excerpt(m.key), at.line, m.at.line)
			o.bad = append(o.bad, m.key)
			continue
		}
		first[m.key] = m.at
		o.unknown(m, foreign)
	}
	return o
}

func (o *object) unknown(m *member, foreign bool) {
	key := excerpt(m.key)
	if strings.HasPrefix(m.key, "x-") {
		return
	}
	for _, k := range o.keys {
		if k == m.key {
			return
		}
	}
	if guess := near(m.key, o.keys); guess != "" {
		o.r.report(SeverityWarning, m.at, o.key(key), guess, "unknown key %s, did you mean %s?", key, guess)
		return
	}
	if foreign {
		return
	}
	for _, h := range o.r.homes {
		if h.path == o.path {
			continue
		}
		for _, k := range h.keys {
			if flatten(k) == flatten(m.key) {
				full := joinKey(h.path, k)
				o.r.report(SeverityWarning, m.at, o.key(key), full, "unknown key %s here, did you mean %s?", key, full)
				return
			}
		}
	}
	o.r.report(SeverityWarning, m.at, o.key(key), "", "unknown key %s has no effect%s", key, wishOf(m))
}

// wishOf explains keys that authors write in good faith and that do nothing:
// a file must not look as if they worked.
func wishOf(m *member) string {
	switch flatten(m.key) {
	case "enabled", "disabled", "disable":
		off := strings.EqualFold(m.value.text, "false") == (flatten(m.key) == "enabled")
		if off {
			return ": the hook is NOT disabled by it; remove the hook, or set activationMode: onDemand"
		}
		return ": a hook that is configured is enabled"
	case "permissiondecision", "decision", "permission":
		return ": a hook denies, asks or allows by what its command answers (hookSpecificOutput.permissionDecision), not by its configuration"
	}
	return ""
}

func joinKey(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// key returns the full path of a key of the mapping.
func (o *object) key(key string) string { return joinKey(o.path, key) }

// place returns where a key stands, or the mapping where it is missing.
func (o *object) place(key string) place {
	if m := o.n.member(key); m != nil {
		return m.at
	}
	return o.at
}

// fail reports an error about a key, once per key.
func (o *object) fail(key, suggestion, format string, args ...any) {
	if o.failed(key) {
		return
	}
	o.bad = append(o.bad, key)
	o.r.report(SeverityError, o.place(key), o.key(key), suggestion, format, args...)
}

func (o *object) failed(key string) bool {
	for _, b := range o.bad {
		if b == key {
			return true
		}
	}
	return false
}

func (o *object) warn(key, suggestion, format string, args ...any) {
	o.r.report(SeverityWarning, o.place(key), o.key(key), suggestion, format, args...)
}

// missing reports that a required key is missing and what it may be. A
// misspelled key of the same mapping is told as the likely cause.
func (o *object) missing(key, allowed string) {
	if o.failed(key) {
		return
	}
	for i := range o.n.members {
		m := &o.n.members[i]
		if m.odd == "" && m.key != key && near(m.key, o.keys) == key {
			o.bad = append(o.bad, key)
			o.r.report(SeverityError, m.at, o.key(key), key, "%s is missing, did you mean it by %s? %s", key, excerpt(m.key), allowed)
			return
		}
	}
	o.fail(key, "", "%s is missing; %s", key, allowed)
}

// usable reports whether a value can be read at all, and why not if not.
func (o *object) usable(key string, n *node) bool {
	switch {
	case n.kind == nodeAlias:
		o.fail(key, "", "%s is %s; aliases are not read in hooks: write the value out, in quotes if it begins with *", key, n.describe())
	case n.tag != "":
		o.fail(key, "", "%s has the YAML tag %s; tags are not read in hooks: quote a value that begins with !", key, excerpt(n.tag))
	default:
		return true
	}
	return false
}

// scalar returns a scalar value as the text it is written as, so that 123 and
// Yes are text where text is wanted (CFG-3). Null is an absent key.
func (o *object) scalar(key string) (n *node, ok bool) {
	n = o.n.get(key)
	if n == nil || o.failed(key) || !o.usable(key, n) {
		return nil, false
	}
	if n.kind != nodeScalar {
		o.fail(key, "", "%s is %s; it must be text", key, n.describe())
		return nil, false
	}
	return n, true
}

func (o *object) text(key string) string {
	if n, ok := o.scalar(key); ok {
		return n.text
	}
	return ""
}

// word reads one of a few words, without regard to case, and returns it as
// spelled in allowed; empty when it is absent or wrong.
func (o *object) word(key string, allowed ...string) string {
	n, ok := o.scalar(key)
	if !ok {
		return ""
	}
	for _, w := range allowed {
		if strings.EqualFold(w, n.text) {
			return w
		}
	}
	guess := near(n.text, allowed)
	o.fail(key, guess, "%s is %s; it must be %s%s", key, n.describe(), sentence(allowed, "or"), didYouMean(guess))
	return ""
}

func didYouMean(guess string) string {
	if guess == "" {
		return ""
	}
	return ", did you mean " + guess + "?"
}

// sentence joins words as a sentence does.
func sentence(words []string, last string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}

// whole reads a positive whole number up to most, in plain decimal digits:
// 0x1E, 1_000, 1e3 and 030 are numbers to one YAML reader and others to the
// next, and 30.0 or "30" to some only. 0 means absent or wrong.
func (o *object) whole(key string, most int64, wanted string) int64 {
	n := o.n.get(key)
	if n == nil || o.failed(key) || !o.usable(key, n) {
		return 0
	}
	digits := n.kind == nodeScalar && !n.quoted && strings.Trim(n.text, "0123456789") == "" && !strings.HasPrefix(n.text, "0")
	v, err := strconv.ParseInt(n.text, 10, 64)
	switch {
	case !digits:
		o.fail(key, "", "%s is %s; it must be %s, in plain digits", key, n.describe(), wanted)
	case err != nil || v > most:
		o.fail(key, "", "%s is %s; at most %d is allowed", key, n.describe(), most)
	default:
		return v
	}
	return 0
}

// maxSeconds is how many seconds a duration holds.
const maxSeconds = int64(math.MaxInt64 / time.Second)

// texts reads a list of texts.
func (o *object) texts(key string) []string {
	n := o.n.get(key)
	if n == nil || o.failed(key) || !o.usable(key, n) {
		return nil
	}
	var texts []string
	for i, item := range n.items {
		if item.kind != nodeScalar || item.tag != "" || strings.TrimSpace(item.text) == "" {
			o.fail(key, "", "item %d of %s is %s; it must be text, and not blank", i+1, key, item.describe())
			return nil
		}
		texts = append(texts, item.text)
	}
	if n.kind != nodeList {
		o.fail(key, "", "%s is %s; it must be a list of text", key, n.describe())
	}
	return texts
}

// object opens the mapping under a key; nil when there is none, which is
// reported if the key has another value.
func (o *object) object(key string, keys []string, foreign bool) *object {
	n := o.n.get(key)
	if n == nil || o.failed(key) || !o.usable(key, n) {
		return nil
	}
	if n.kind != nodeMapping {
		o.fail(key, "", "%s is %s; it must be a mapping%s", key, n.shape(), ofKeys(keys))
		return nil
	}
	return o.r.object(n, o.key(key), o.place(key), keys, foreign)
}

func ofKeys(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	return " with the keys " + sentence(keys, "and")
}
