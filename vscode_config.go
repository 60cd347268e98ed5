package hooks

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// This file reads the hook files of VSCode: {"hooks": {"<Event>": [ … ]}}. What
// the product skips is skipped here with a warning; what it could not run is an
// error.

// The keys of VSCode's files. None of these is ever written to.
var (
	vscodeKeys      = []string{"hooks", "version"}
	vscodeGroupKeys = []string{"matcher", "hooks"}
	vscodeHookKeys  = []string{"type", "command", "windows", "linux", "osx", "bash", "powershell", "cwd", "env", "timeout", "timeoutSec", "matcher"}
	vscodeLineKeys  = []string{"command", "windows", "linux", "osx", "bash", "powershell"}
)

// vscodeDocument reads a document.
func (r *fileReader) vscodeDocument(n *node) {
	r.hook, r.homes = "", nil
	if n.kind != nodeMapping {
		r.report(SeverityError, n.at, "", "", `the document is %s; it must be {"hooks": {"<event>": [{"type": "command", "command": "…"}]}}`, n.describe())
		return
	}
	doc := r.object(n, "", n.at, vscodeKeys, false)
	if n.get("hooks") == nil {
		doc.missing("hooks", "it holds a list of hooks for each event")
		return
	}
	events := doc.object("hooks", nil, true)
	if events == nil {
		return
	}
	for i := range n.get("hooks").members {
		m := &n.get("hooks").members[i]
		if m.odd != "" || strings.HasPrefix(m.key, "x-") || events.n.member(m.key) != m {
			continue // reported already, or free
		}
		r.vscodeEvent(events, m)
	}
}

// vscodeEvent reads the hooks of one event.
func (r *fileReader) vscodeEvent(events *object, m *member) {
	row := VSCode.spelledEvent(m.key)
	if row == nil {
		names := VSCode.spellings()
		guess := near(m.key, names)
		if m.key == string(OnStart) {
			guess = OnStart.row().terms[VSCode].spelled
		}
		r.found++ // skipped, not absent
		events.warn(m.key, guess, "unknown event %s is skipped; the events are %s%s", excerpt(m.key), sentence(names, "and"), didYouMean(guess))
		return
	}
	switch {
	case m.value.kind == nodeNull || !events.usable(m.key, m.value):
		return
	case m.value.kind != nodeList:
		events.fail(m.key, "", "%s is %s; it must be a list of hooks", m.key, m.value.describe())
		return
	}
	for i, item := range m.value.items {
		path := fmt.Sprintf("%s[%d]", events.key(m.key), i)
		if item.kind != nodeMapping || item.get("hooks") == nil {
			r.vscodeHook(row, item, path, nil)
			continue
		}
		group := r.object(item, path, item.at, vscodeGroupKeys, false)
		list := item.get("hooks")
		if list.kind != nodeList {
			group.fail("hooks", "", "hooks is %s; it must be a list of hooks", list.describe())
			continue
		}
		for j, inner := range list.items {
			r.vscodeHook(row, inner, fmt.Sprintf("%s.hooks[%d]", path, j), group)
		}
	}
}

// vscodeHook reads one hook, which may stand in a group with a matcher.
func (r *fileReader) vscodeHook(row *eventRow, n *node, path string, group *object) {
	r.found++
	spelled := row.terms[VSCode].spelled
	hook := Hook{Dialect: VSCode, On: row.name, Tier: r.tier}
	if r.tier == 0 {
		hook.Tier = TierUserGlobal
	}
	hook.Name = r.number(hook.Tier, "", fileStem(r.file), EventName(spelled))
	r.hook = excerpt(hook.Name)
	defer func() { r.hook = "" }()
	if n.kind != nodeMapping || n.tag != "" {
		r.report(SeverityError, n.at, path, "", "a hook of %s is %s; it must be a mapping%s", spelled, n.describe(), ofKeys(vscodeHookKeys))
		return
	}
	o := r.object(n, path, n.at, vscodeHookKeys, false)
	h := hookReader{r: r, hook: hook, parts: []*object{o}}
	h.hook.Matcher = o.text("matcher")
	if group != nil && h.hook.Matcher == "" {
		h.parts = append(h.parts, group)
		h.parts[0].keys = vscodeHookKeys[:len(vscodeHookKeys)-1] // the matcher is the group's
		h.hook.Matcher = group.text("matcher")
	}
	switch typ := o.text("type"); {
	case o.failed("type"):
	case o.n.get("type") == nil:
		o.warn("type", "", "type is missing; command is taken")
	case typ != "command":
		o.warn("type", "", "a hook of type %s is skipped; the only type is command", excerpt(typ))
		return
	}
	command, ok := r.vscodeCommand(o)
	if !ok {
		return
	}
	h.hook.Run = command
	h.hook.Timeout = o.seconds("timeout")
	if inner := o.seconds("timeoutSec"); o.n.get("timeout") == nil {
		h.hook.Timeout = inner
	} else if inner != 0 {
		o.warn("timeoutSec", "", "timeoutSec has no effect beside timeout")
	}
	h.judge("")
}

// vscodeCommand reads what runs. It reports false for a hook that has nothing
// for this system; one that has nothing for any is an error.
func (r *fileReader) vscodeCommand(o *object) (c Command, ok bool) {
	var any string
	for _, key := range vscodeLineKeys {
		if strings.TrimSpace(o.text(key)) != "" && any == "" {
			any = key
		}
	}
	line, _ := commandFor(r.goos, o.text)
	switch {
	case line == "" && any != "":
		o.warn(any, "", "the hook has no command for this system (%s) and is skipped here", r.goos)
		return c, false
	case line == "":
		o.missing("command", "a hook needs at least one of "+sentence(vscodeLineKeys, "and"))
	}
	c = Command{Line: line, Dir: o.text("cwd")}
	if env := o.object("env", nil, true); env != nil {
		for _, m := range env.n.members {
			if m.odd != "" || m.value.kind == nodeNull {
				continue
			}
			c.Env = append(c.Env, m.key+"="+env.text(m.key))
		}
		o.bad = append(o.bad, env.bad...)
	}
	return c, true
}

// commandFor returns the command line of a hook for an operating system: its
// own override, then that of its shell, then the common one. get returns the
// value of a key, "" without one.
func commandFor(goos string, get func(key string) string) (line, key string) {
	keys := [3]string{"linux", "bash", "command"}
	switch goos {
	case "windows":
		keys = [3]string{"windows", "powershell", "command"}
	case "darwin":
		keys[0] = "osx"
	}
	for _, key := range keys {
		if line := get(key); strings.TrimSpace(line) != "" {
			return line, key
		}
	}
	return "", ""
}

// seconds reads a positive number of seconds, in plain decimal digits; 0 means
// absent or wrong.
func (o *object) seconds(key string) time.Duration {
	n := o.n.get(key)
	if n == nil || o.failed(key) || !o.usable(key, n) {
		return 0
	}
	v, err := strconv.ParseFloat(n.text, 64)
	switch {
	case n.kind != nodeScalar || n.quoted || err != nil || strings.Trim(n.text, "0123456789.") != "" || v <= 0:
		o.fail(key, "", "%s is %s; it must be a positive number of seconds", key, n.describe())
	case v > float64(maxSeconds):
		o.fail(key, "", "%s is %s; at most %d is allowed", key, n.describe(), maxSeconds)
	default:
		return max(1, time.Duration(v*float64(time.Second)))
	}
	return 0
}
