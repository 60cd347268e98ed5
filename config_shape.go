package hooks

import "strings"

// apiVersion is the version of the shapes that are read here (CFG-1).
const apiVersion = "azuresre.ai/v2"

// The keys of the shapes. None of these is ever written to.
var (
	kindNames = []string{"Hook", "HookV2", "ExtendedAgent"}

	documentKeys = []string{"api_version", "kind", "metadata", "spec"}
	metadataKeys = []string{"name", "owner", "tags"}
	specKeys     = []string{"eventType", "activationMode", "description", "sources", "hook"}
	hookKeys     = []string{"type", "matcher", "command", "script", "prompt", "model", "timeout", "failMode", "maxRejections"}
	agentKeys    = []string{"hooks"} // of an ExtendedAgent's spec; the others are not ours
	bareKeys     = []string{"hooks"}
	restKeys     = []string{"name", "type", "tags", "owner", "properties"}
	eventKeys    = []string{string(OnStart), string(OnPreToolUse), string(OnPostToolUse), string(OnStop)}
)

// rightShape is shown to whoever wrote a document of another shape; on one
// line, as findings are.
const rightShape = "the shape is {api_version: " + apiVersion + ", kind: Hook, metadata: {name: …}, " +
	"spec: {eventType: …, activationMode: always, hook: {type: command, matcher: …, script: …}}}"

// document reads one document, whose shape its top-level keys tell (CFG-2).
func (r *fileReader) document(n *node) {
	r.hook, r.homes = "", nil
	if n.kind != nodeMapping {
		what := "a text"
		if n.kind == nodeList {
			what = "a list"
		}
		r.report(SeverityError, n.at, "", "", "the document is %s; it must be a mapping: %s", what, rightShape)
		return
	}
	rest := n.get("properties") != nil || n.get("kind") == nil && n.get("type") != nil && strings.EqualFold(n.get("type").text, "GlobalHook")
	switch {
	case len(n.members) == 0:
	case n.get("spec") == nil && isFlat(n):
		r.report(SeverityError, n.at, "", "", "a flat document: what a hook does stands under spec and spec.hook; %s", rightShape)
	case n.get("kind") != nil:
		r.kind(n)
	case rest:
		r.rest(n)
	case n.get("spec") != nil && n.get("spec").get("hooks") != nil:
		r.report(SeverityError, n.at, "kind", "", "kind is missing: with spec.hooks it must be ExtendedAgent")
	case n.get("spec") != nil || n.get("metadata") != nil:
		r.kind(n)
	case n.get("hooks") != nil:
		r.bare(n)
	case onlyFree(n):
	default:
		r.report(SeverityError, n.at, "", "", "not a hook document: it has neither kind and spec, nor hooks, nor properties; %s", rightShape)
	}
}

// isFlat reports whether keys of spec or spec.hook stand at the top level.
func isFlat(n *node) bool {
	if n.get("properties") != nil || n.get("hooks") != nil {
		return false
	}
	for _, m := range n.members {
		switch flatten(m.key) {
		case "eventtype", "hook", "activationmode", "failmode", "matcher", "script", "prompt", "command", "event", "maxrejections":
			return true
		}
	}
	return false
}

// onlyFree reports whether all keys are free ones.
func onlyFree(n *node) bool {
	for _, m := range n.members {
		if !strings.HasPrefix(m.key, "x-") {
			return false
		}
	}
	return true
}

// kind reads a document with kind, or one that should have it.
func (r *fileReader) kind(n *node) {
	doc := r.object(n, "", n.at, documentKeys, false)
	if doc.n.get("kind") == nil {
		doc.warn("kind", "", "kind is missing; Hook is taken")
	}
	kind := "Hook"
	if doc.n.get("kind") != nil {
		if kind = doc.word("kind", kindNames...); kind == "" {
			return
		}
	}
	switch n, ok := doc.scalar("api_version"); {
	case ok && !strings.EqualFold(n.text, apiVersion):
		doc.warn("api_version", "", "api_version is %s; the document is read as %s", n.describe(), apiVersion)
	case !ok && !doc.failed("api_version"):
		doc.warn("api_version", "", "api_version is missing; %s is taken", apiVersion)
	}
	if kind == "ExtendedAgent" {
		r.agent(doc)
		return
	}
	r.found++
	r.homes = []shapePart{{"metadata", metadataKeys}, {"spec", specKeys}, {"spec.hook", hookKeys}}
	meta := doc.object("metadata", metadataKeys, false)
	if meta == nil {
		doc.missing("metadata", "it holds the hook's name")
	}
	spec := doc.object("spec", specKeys, false)
	if spec == nil {
		doc.missing("spec", "it must be a mapping"+ofKeys(specKeys))
	}
	r.global(doc, meta, spec)
}

// rest reads the body that the REST interface takes and returns.
func (r *fileReader) rest(n *node) {
	r.homes = []shapePart{{"", restKeys}, {"properties", specKeys}, {"properties.hook", hookKeys}}
	doc := r.object(n, "", n.at, restKeys, false)
	if n.get("type") == nil {
		doc.missing("type", "with properties it must be GlobalHook")
	} else {
		doc.word("type", "GlobalHook")
	}
	r.found++
	spec := doc.object("properties", specKeys, false)
	if spec == nil {
		doc.missing("properties", "it must be a mapping"+ofKeys(specKeys))
	}
	r.global(doc, doc, spec)
}

// agent reads an ExtendedAgent, of which only the hooks are ours.
func (r *fileReader) agent(doc *object) {
	meta := doc.object("metadata", []string{"name"}, true)
	name := ""
	switch {
	case meta == nil:
		doc.missing("metadata", "it holds the agent's name")
	default:
		if name = meta.text("name"); strings.TrimSpace(name) == "" {
			name = ""
			meta.missing("name", "it is the agent_name of the loop that the hooks belong to")
		}
	}
	tier := r.tier
	switch tier {
	case TierAgent:
	case 0:
		tier = TierAgent
	default:
		doc.fail("kind", "", "an ExtendedAgent belongs to tier agent, and its hooks cannot be loaded for tier %s", tier)
	}
	spec := doc.object("spec", agentKeys, true)
	if spec == nil {
		doc.missing("spec", "it holds hooks")
		return
	}
	prefix := name
	if name == "" {
		prefix = fileStem(r.file)
	}
	r.hookMap(spec, tier, name, prefix, len(doc.bad) > 0 || meta == nil || len(meta.bad) > 0)
}

// bare reads a document that is only a map of hooks.
func (r *fileReader) bare(n *node) {
	doc := r.object(n, "", n.at, bareKeys, false)
	tier := r.tier
	if tier == 0 {
		tier = TierAgent
	}
	r.hookMap(doc, tier, "", fileStem(r.file), false)
}

// hookMap reads hooks by event: the value of the key hooks of o. ruined says
// that none of them can be handed out, whatever they are.
func (r *fileReader) hookMap(o *object, tier Tier, agent, prefix string, ruined bool) {
	hooks := o.object("hooks", nil, true)
	if hooks == nil {
		return
	}
	seen := make(map[EventName]place)
	for i := range hooks.n.members {
		m := &hooks.n.members[i]
		if m.odd != "" || strings.HasPrefix(m.key, "x-") || hooks.n.member(m.key) != m {
			continue // reported already, or free
		}
		event, err := ParseEventName(m.key)
		if err != nil {
			guess := near(m.key, eventKeys)
			hooks.fail(m.key, guess, "unknown event %s; it must be %s%s", excerpt(m.key), sentence(eventKeys, "or"), didYouMean(guess))
			continue
		}
		if first, twice := seen[event]; twice {
			hooks.fail(m.key, "", "event %s is given twice, in line %d and in line %d", event, first.line, m.at.line)
			continue
		}
		seen[event] = m.at
		switch {
		case m.value.kind == nodeNull:
			continue
		case !hooks.usable(m.key, m.value):
			continue
		case m.value.kind != nodeList:
			hooks.fail(m.key, "", "%s is %s; it must be a list of hooks, each a mapping%s", event, m.value.shape(), ofKeys(hookKeys))
			continue
		}
		for i, item := range m.value.items {
			r.item(hooks, m, item, i, Hook{On: event, Tier: tier, Agent: agent}, prefix, ruined)
		}
	}
}
