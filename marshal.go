package hooks

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// MarshalYAML implements [yaml.Marshaler]: the hook as a document of
// `kind: Hook`. Loaded again for the same tier it is the same hook. What the
// shape cannot say is a *[ConfigError] that names the field: a [Func], a name
// with other characters than letters, digits, hyphens and underscores, an
// Agent (see [MarshalAgent]), Dir, Env, another Dialect, a part of a second,
// CRLF in a script;
// so is a hook that the loaders would refuse. The tier is not written.
func (h Hook) MarshalYAML() (any, error) {
	w := hookWriter{hook: &h}
	if strings.Trim(h.Name, nameLetters) != "" {
		w.cannot("name", "name %q: the shape allows only letters, digits, hyphens and underscores", excerpt(h.Name))
	}
	if h.Agent != "" {
		w.cannot("agent", "agent %q: the shape has no agent; write the hook with MarshalAgent", h.Agent)
	}
	mode := "always"
	if h.OnDemand {
		mode = "onDemand"
	}
	spec := yamlMapping("eventType", yamlText(string(h.On)), "activationMode", yamlText(mode))
	if len(h.Sources) > 0 {
		sources := &yaml.Node{Kind: yaml.SequenceNode}
		for _, s := range h.Sources {
			if strings.TrimSpace(s) == "" {
				w.cannot("sources", "sources: the shape has no blank source")
			}
			sources.Content = append(sources.Content, w.text("sources", s))
		}
		yamlPut(spec, "sources", sources)
	}
	yamlPut(spec, "hook", w.body())
	if err := w.err(); err != nil {
		return nil, err
	}
	return yamlMapping(
		"api_version", yamlText(apiVersion),
		"kind", yamlText("Hook"),
		"metadata", yamlMapping("name", yamlText(h.Name)),
		"spec", spec,
	), nil
}

// MarshalAgent writes hooks of one agent as a document of `kind:
// ExtendedAgent`, which holds nothing else of the agent. Its hooks have no
// names of their own: loaded again for [TierAgent] they are the same hooks,
// event by event, when they are named as the loaders name them,
// "<agent>/<Event>/<n>". Another name, an empty or other agent, another tier
// and what the shape cannot say (see [Hook.MarshalYAML]; also OnDemand and
// Sources) are a *[ConfigError] that names hook and field.
func MarshalAgent(agent string, hooks ...Hook) ([]byte, error) {
	events := yamlMapping()
	lists := make(map[EventName]*yaml.Node)
	var found []Diagnostic
	if strings.TrimSpace(agent) == "" {
		found = append(found, Diagnostic{Severity: SeverityError, Key: "agent", Message: "the agent has no name"})
	}
	for i := range hooks {
		h := &hooks[i]
		w := hookWriter{hook: h}
		if lists[h.On] == nil {
			lists[h.On] = &yaml.Node{Kind: yaml.SequenceNode}
			yamlPut(events, string(h.On), lists[h.On])
		}
		if want := fmt.Sprintf("%s/%s/%d", agent, h.On, len(lists[h.On].Content)+1); h.Name != want {
			w.cannot("name", "name %q: the shape would name this hook %q", excerpt(h.Name), want)
		}
		if h.Agent != agent {
			w.cannot("agent", "agent %q: the hooks are written for agent %q", h.Agent, agent)
		}
		if h.Tier != TierAgent {
			w.cannot("tier", "tier %v: an agent's hooks belong to tier %v", h.Tier, TierAgent)
		}
		if h.OnDemand {
			w.cannot("activationMode", "OnDemand: the hooks of an agent have no activationMode")
		}
		if len(h.Sources) > 0 {
			w.cannot("sources", "Sources: the hooks of an agent have no sources")
		}
		lists[h.On].Content = append(lists[h.On].Content, w.body())
		found = append(found, w.found...)
		found = append(found, w.invalid()...)
	}
	if found != nil {
		return nil, &ConfigError{Diagnostics: found}
	}
	return encodeYAML(yamlMapping(
		"api_version", yamlText(apiVersion),
		"kind", yamlText("ExtendedAgent"),
		"metadata", yamlMapping("name", yamlText(agent)),
		"spec", yamlMapping("hooks", events),
	))
}

func encodeYAML(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("hooks: %w", err)
	}
	return b.Bytes(), enc.Close()
}

// hookWriter writes one hook and gathers what cannot be said.
type hookWriter struct {
	hook  *Hook
	found []Diagnostic
}

func (w *hookWriter) cannot(key, format string, args ...any) {
	w.found = append(w.found, Diagnostic{
		Severity: SeverityError, Key: key, Hook: w.hook.Name, Message: fmt.Sprintf(format, args...),
	})
}

// invalid returns the rules that the hook breaks, in the keys that the writer
// has no finding about.
func (w *hookWriter) invalid() (ds []Diagnostic) {
next:
	for _, p := range w.hook.problems() {
		for _, d := range w.found {
			if d.Key == p.key {
				continue next
			}
		}
		ds = append(ds, Diagnostic{Severity: SeverityError, Key: p.key, Hook: w.hook.Name, Message: p.message})
	}
	return ds
}

func (w *hookWriter) err() error {
	if ds := append(w.found, w.invalid()...); len(ds) > 0 {
		return &ConfigError{Diagnostics: ds}
	}
	return nil
}

// body writes the hook mapping, which is the same in every shape.
func (w *hookWriter) body() *yaml.Node {
	h := w.hook
	n := yamlMapping()
	if h.Dialect != HookContract {
		w.cannot("dialect", "dialect %v: the shape is that of the hook data contract", h.Dialect)
	}
	switch b := h.Run.(type) {
	case Command:
		yamlPut(n, "type", yamlText("command"))
		if b.Dir != "" {
			w.cannot("dir", "Dir: the shape has no working folder")
		}
		if len(b.Env) > 0 {
			w.cannot("env", "Env: the shape has no environment")
		}
	case Prompt:
		yamlPut(n, "type", yamlText("prompt"))
	case Func:
		w.cannot("type", "Run: a Func is code, which no file can hold")
	}
	if h.Matcher != "" {
		yamlPut(n, "matcher", w.text("matcher", h.Matcher))
	}
	if h.Timeout != 0 {
		if h.Timeout%time.Second != 0 {
			w.cannot("timeout", "timeout %v: the shape has whole seconds", h.Timeout)
		}
		yamlPut(n, "timeout", yamlNumber(int64(h.Timeout/time.Second)))
	}
	if h.FailMode != FailUnset {
		yamlPut(n, "failMode", yamlText(h.FailMode.String()))
	}
	if h.Independent {
		yamlPut(n, "x-independent", yamlBool(true))
	}
	switch b := h.Run.(type) {
	case Command:
		if b.Line != "" {
			yamlPut(n, "command", w.text("command", b.Line))
		}
		if b.Script != "" {
			if strings.Contains(b.Script, "\r\n") {
				w.cannot("script", "script: the loaders read CRLF as LF")
			}
			yamlPut(n, "script", w.text("script", b.Script))
		}
	case Prompt:
		if b.Model != "" {
			yamlPut(n, "model", w.text("model", b.Model))
		}
		if b.MaxRejections != 0 {
			yamlPut(n, "maxRejections", yamlNumber(int64(b.MaxRejections)))
		}
		yamlPut(n, "prompt", w.text("prompt", b.Text))
	}
	return n
}

// text writes a text of a hook, which must be UTF-8: YAML would turn anything
// else into base64.
func (w *hookWriter) text(key, s string) *yaml.Node {
	if !utf8.ValidString(s) {
		w.cannot(key, "%s is not UTF-8", key)
	}
	return yamlText(s)
}

// yamlText writes a text so that a person can read it and every reader gets
// the same text back: a block for several lines, plain or quoted for one.
func yamlText(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	switch {
	case !yamlPrintable(s):
		n.Style = yaml.DoubleQuotedStyle
	case strings.Contains(s, "\n"):
		n.Style = yaml.LiteralStyle
		if !yamlBlockable(s) {
			n.Style = yaml.DoubleQuotedStyle
		}
	}
	return n
}

// yamlPrintable reports whether a text holds nothing that readers treat in
// different ways: control characters, a byte-order mark, the line ends that
// only some YAML versions know.
func yamlPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && r != '\t' && unicode.IsControl(r) || r == '\ufeff' || r == '\u2028' || r == '\u2029'
	})
}

// yamlBlockable reports whether a block holds the text unchanged: one that begins
// or ends with white space needs an indentation sign, in which writers err.
func yamlBlockable(s string) bool {
	body := strings.TrimSuffix(s, "\n")
	return body != "" && strings.TrimSpace(body) == body && !strings.Contains(s, " \n") && !strings.Contains(s, "\t\n")
}

func yamlNumber(v int64) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(v, 10)}
}

func yamlBool(b bool) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(b)}
}

// yamlMapping makes a mapping of keys and values in turn.
func yamlMapping(pairs ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i < len(pairs); i += 2 {
		yamlPut(n, pairs[i].(string), pairs[i+1].(*yaml.Node))
	}
	return n
}

func yamlPut(n *yaml.Node, key string, value *yaml.Node) {
	n.Content = append(n.Content, yamlText(key), value)
}
