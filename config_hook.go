package hooks

import (
	"fmt"
	"strings"
	"time"
)

// hookReader reads one hook out of up to three mappings. Its keys have the
// same names in every shape, and in [Hook.problems].
type hookReader struct {
	r     *fileReader
	hook  Hook
	parts []*object // metadata, spec and hook, as far as there are
}

// holder returns the mapping that a key belongs to.
func (h *hookReader) holder(key string) *object {
	for _, o := range h.parts {
		for _, k := range o.keys {
			if k == key {
				return o
			}
		}
	}
	return h.parts[len(h.parts)-1]
}

// ok reports whether no part has an error so far.
func (h *hookReader) ok() bool {
	for _, o := range h.parts {
		if len(o.bad) > 0 {
			return false
		}
	}
	return true
}

// global reads a hook that stands alone in its document doc. A part that is
// missing has been reported.
func (r *fileReader) global(doc, meta, spec *object) {
	h := hookReader{r: r, hook: Hook{Tier: r.tier}}
	if r.tier == 0 {
		h.hook.Tier = TierUserGlobal
	}
	complete := meta != nil && spec != nil && len(doc.bad) == 0
	if meta != nil {
		h.parts = append(h.parts, meta)
		h.name(meta)
	}
	if spec != nil {
		h.parts = append(h.parts, spec)
		h.spec(spec)
		hook := spec.object("hook", hookKeys, false)
		if hook == nil {
			spec.missing("hook", "it must be a mapping"+ofKeys(hookKeys))
			complete = false
		} else {
			h.parts = append(h.parts, hook)
			h.body(hook)
		}
	}
	if complete {
		h.judge("name")
	}
	r.hook = ""
}

// item reads one hook of a list. Its name is made.
func (r *fileReader) item(hooks *object, m *member, n *node, i int, hook Hook, prefix string, ruined bool) {
	r.found++
	path := fmt.Sprintf("%s[%d]", hooks.key(m.key), i)
	hook.Name = r.number(hook.Tier, hook.Agent, prefix, hook.On)
	r.hook = excerpt(hook.Name)
	defer func() { r.hook = "" }()
	if n.kind != nodeMapping || n.tag != "" {
		r.report(SeverityError, n.at, path, "", "hook %d of %s is %s; it must be a mapping%s", i+1, hook.On, n.shape(), ofKeys(hookKeys))
		return
	}
	body := r.object(n, path, n.at, hookKeys, false)
	h := hookReader{r: r, hook: hook, parts: []*object{body}}
	if body.n.get("type") == nil && body.n.get("hooks") != nil {
		body.fail("type", "", "hooks nested under a matcher are the shape of another product; each item here is one hook, a mapping%s", ofKeys(hookKeys))
	}
	h.body(body)
	if ruined {
		body.bad = append(body.bad, "")
	}
	h.judge("")
}

func (h *hookReader) name(meta *object) {
	name := meta.text("name")
	switch {
	case name == "":
		meta.missing("name", "it must be letters, digits, hyphens and underscores")
	case strings.Trim(name, nameLetters) != "":
		meta.fail("name", "", "name %q may hold only letters (A to Z, a to z), digits, hyphens and underscores", excerpt(name))
	}
	h.hook.Name, h.r.hook = name, excerpt(name)
	warnKind(meta, "owner", nodeScalar, "text")
	warnKind(meta, "tags", nodeList, "a list of text")
}

// nameLetters are the characters of a name in metadata.name (CFG-4).
const nameLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// warnKind warns of a key that is for people and is of another kind than it should.
func warnKind(o *object, key string, kind nodeKind, wanted string) {
	if n := o.n.get(key); n != nil && n.kind != kind {
		o.warn(key, "", "%s is %s; it should be %s", key, n.describe(), wanted)
	}
}

func (h *hookReader) spec(spec *object) {
	if spec.n.get("eventType") == nil {
		spec.missing("eventType", "it must be "+sentence(eventKeys, "or"))
	}
	h.hook.On = EventName(spec.word("eventType", eventKeys...))
	if spec.n.get("activationMode") == nil {
		spec.warn("activationMode", "", "activationMode is missing, always is taken; it must be always or onDemand")
	}
	h.hook.OnDemand = spec.word("activationMode", "always", "onDemand") == "onDemand"
	h.hook.Sources = spec.texts("sources")
	warnKind(spec, "description", nodeScalar, "text")
}

// body reads the hook mapping, which is the same in every shape.
func (h *hookReader) body(o *object) {
	if o.n.get("type") == nil {
		o.missing("type", "it must be command or prompt")
	}
	h.hook.Matcher = o.text("matcher")
	h.hook.Timeout = time.Duration(o.whole("timeout", maxSeconds,
		"a positive whole number of seconds")) * time.Second
	switch o.word("failMode", "allow", "block") {
	case "allow":
		h.hook.FailMode = FailAllow
	case "block":
		h.hook.FailMode = FailBlock
	}
	h.hook.Independent = o.word("x-independent", "true", "false") == "true"
	rejections := int(o.whole("maxRejections", 25, "a whole number from 1 to 25"))
	switch o.word("type", "command", "prompt") {
	case "command":
		c := Command{Line: o.text("command"), Script: scriptText(o)}
		if m := o.n.member("script"); m != nil && m.value.kind == nodeNull && c.Line == "" {
			o.fail("script", "", "script is empty; write it as a block (script: |), since an unquoted # begins a comment")
		}
		h.hook.Run = c
		warnOthers(o, "command", "prompt", "model", "maxRejections")
	case "prompt":
		h.hook.Run = Prompt{Text: o.text("prompt"), Model: o.text("model"), MaxRejections: rejections}
		warnOthers(o, "prompt", "command", "script")
	}
}

// warnOthers warns of keys that belong to the other type of hook.
func warnOthers(o *object, typ string, keys ...string) {
	for _, key := range keys {
		if n := o.n.get(key); n != nil && !o.failed(key) && (n.kind != nodeScalar || n.text != "") {
			o.warn(key, "", "%s has no effect on a %s hook", key, typ)
		}
	}
}

// scriptText reads a script, with LF for CRLF: bash takes a CR for a part of the
// command.
func scriptText(o *object) string {
	n, ok := o.scalar("script")
	if !ok {
		return ""
	}
	if n.folded {
		o.warn("script", "", "script is a folded block (>), which joins its lines into one; write script: |")
	}
	text := strings.ReplaceAll(n.text, "\r\n", "\n")
	if n.crlf || len(text) < len(n.text) {
		o.warn("script", "", "script has CRLF line ends; they are read as LF")
	}
	return text
}

// judge applies the rules that hold for every Hook, located in the file, and
// hands the hook out when it has no errors. nameKey is the key that named it.
func (h *hookReader) judge(nameKey string) {
	for _, p := range h.hook.problems() {
		if p.key == "eventType" || p.key == "type" || p.key == "tier" {
			continue // a missing or unknown one has been reported in its own words
		}
		if p.key == "command" && h.holder("script").failed("script") {
			continue // there is a script, though not a usable one
		}
		h.holder(p.key).fail(p.key, "", "%s", p.message)
	}
	for _, f := range h.hook.lint(h.r.toolNames) {
		o := h.holder(f.key)
		switch {
		case o.failed(f.key):
		case f.severity == SeverityError:
			o.fail(f.key, f.suggestion, "%s", f.message)
		default:
			o.warn(f.key, f.suggestion, "%s", f.message)
		}
	}
	if !h.ok() {
		return
	}
	o := h.parts[0]
	at, key := o.at, o.path
	if nameKey != "" {
		at, key = o.place(nameKey), o.key(nameKey)
	}
	h.r.take(h.hook, at, key)
}
