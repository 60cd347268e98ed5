package hooks

import (
	"strings"

	"github.com/hookruntime/hooks/internal/wire"
)

// prompt reads a model's answer (PRM-2, PRM-3, QRK-5). Only ok and reason
// count. A non-empty invalid means that the answer is not usable.
func (ar answerReader) prompt(text string, truncated bool) reading {
	doc := strings.TrimSpace(text)
	members, err := wire.Members([]byte(doc))
	if err != nil && ar.conduct == Hardened {
		members, err = wire.Members([]byte(unfence(doc)))
	}
	if err == nil {
		if ok, reason := judgement(members); ok == 'f' || ok == 't' && !(truncated && ar.conduct == Hardened) {
			return reading{result: judged(ok, reason)}
		}
		return reading{invalid: "the answer has no boolean ok, or was cut"}
	}
	if ar.conduct == Hardened {
		var cut bool
		for members := range objects([]byte(doc), &cut) {
			// In prose only a rejection counts: {"ok":true} may be a quotation.
			if ok, reason := judgement(members); ok == 'f' {
				return reading{result: judged(ok, reason)}
			}
		}
		if cut {
			return reading{result: judged('f', "")}
		}
	}
	return reading{invalid: "the answer is not exactly one JSON object"}
}

// judgement returns the kind of ok, 0 when there is none, and the reason. Of
// an ok given twice, false counts, else it is none.
func judgement(members []wire.Member) (ok byte, reason string) {
	seen := 0
	for _, m := range members {
		switch m.Key {
		case "ok":
			seen++
			if ok != 'f' {
				ok = wire.Kind(m.Value)
			}
		case "reason":
			reason, _ = wire.Unquote(m.Value)
		}
	}
	if seen > 1 && ok != 'f' {
		ok = 0
	}
	return ok, reason
}

func judged(ok byte, reason string) Result {
	if ok == 't' {
		return Pass()
	}
	return Reject(firstUsable(reason, defaultPromptReason))
}

// unfence returns what stands inside a text that is one whole code fence, with
// or without a language; any other text as it is.
func unfence(s string) string {
	inner, ok := strings.CutPrefix(s, "```")
	if !ok {
		return s
	}
	if inner, ok = strings.CutSuffix(inner, "```"); !ok || strings.Contains(inner, "```") {
		return s
	}
	if lang, rest, ok := strings.Cut(inner, "\n"); ok && !strings.ContainsAny(lang, "{}") {
		inner = rest
	}
	return strings.TrimSpace(inner)
}
