package hooks

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hookruntime/hooks/internal/wire"
)

// This file is the only reader of what hooks write. A typo in an answer may
// make a hook fail; it must never make a block vanish, and never loosen
// (CMD-5a). So every key is read on its own, by its exact spelling, and an
// answer that is wrong somewhere still blocks if it validly blocks anywhere.

// answerReader reads answers by one conduct.
type answerReader struct {
	conduct Conduct
	lim     Limits
}

// reading is what one JSON object says.
type reading struct {
	result  Result
	invalid string // why it is invalid output; "" when it is not, or when it blocks
	notes   []note
}

// command reads the stdout of a command that exited with 0 (CMD-1, CMD-2,
// CMD-5). A non-empty invalid means that the answer is invalid output.
func (ar answerReader) command(stdout []byte) reading {
	doc := wire.TrimBOM(stdout)
	if len(bytes.TrimSpace(doc)) == 0 {
		return reading{}
	}
	members, end, err := wire.Object(doc, 0)
	if err != nil {
		return reading{invalid: misfit(doc, err)}
	}
	if rest := bytes.TrimSpace(doc[end:]); len(rest) > 0 {
		if _, err := wire.Skip(rest, 0); err == nil {
			return reading{invalid: "more than one JSON document on stdout"}
		}
		return reading{invalid: "text around the JSON on stdout"}
	}
	return ar.object(members)
}

// misfit says in which way a document is not one JSON object.
func misfit(doc []byte, err error) string {
	if end, err := wire.Skip(doc, 0); err == nil && len(bytes.TrimSpace(doc[end:])) == 0 {
		return "the JSON on stdout is not an object"
	}
	if first := bytes.TrimSpace(doc); first[0] != '{' && bytes.IndexByte(first, '{') >= 0 {
		return "text around the JSON on stdout"
	}
	return "stdout is " + err.Error()
}

// verdicts gathers what the occurrences of the verdict keys say.
type verdicts struct {
	okSeen, decisionSeen, permissionSeen int
	okFalse, decisionBlocks              bool
	decisionWord                         bool // a valid decision that does not block
	deny, ask, allow                     bool
	permissionGiven                      bool // something other than null and ""
	unknownRejects                       bool // QRK-11, Hardened
	textWrong                            bool // a text key of a wrong type
	invalid                              []string
}

func (ar answerReader) object(members []wire.Member) reading {
	var rd reading
	var v verdicts
	specific := 0
	rd.notes = doubles(members, "", "ok", "decision", "hookSpecificOutput")
	for _, m := range members {
		switch m.Key {
		case "ok":
			v.ok(m.Value)
		case "decision":
			rd.notes = append(rd.notes, v.decision(m.Value, ar.conduct)...)
		case "reason":
			rd.text(&v, m.Key, m.Value, &rd.result.Reason)
		case "hookSpecificOutput":
			specific++
			ar.specific(&rd, &v, m.Value)
		case "systemMessage", "suppressOutput", "continue", "stopReason": // CMD-9
		default:
			if msg := foreignVerdict(m.Key); msg != "" {
				rd.notes = append(rd.notes, note{m.Key, msg})
			}
		}
	}
	for _, k := range [...]struct {
		key  string
		seen int
	}{{"ok", v.okSeen}, {"decision", v.decisionSeen}, {"hookSpecificOutput", specific}, {"permissionDecision", v.permissionSeen}} {
		if k.seen > 1 {
			v.invalid = append(v.invalid, k.key+" is given twice")
		}
	}
	ar.conclude(&rd, &v)
	return rd
}

// conclude turns the verdicts into a result (CMD-10, CMD-12, CMD-15, QRK-1,
// QRK-9, QRK-11).
func (ar answerReader) conclude(rd *reading, v *verdicts) {
	r := &rd.result
	// In Contract conduct any other decision is a plain pass, also over
	// ok:false. Hardened never lifts an ok:false.
	lifted := ar.conduct == Contract && v.decisionWord && v.decisionSeen == 1 && v.okSeen < 2
	r.Rejects = v.decisionBlocks || v.okFalse && !lifted || v.unknownRejects
	switch {
	case v.deny:
		r.Permission = PermissionDeny
	case v.ask:
		r.Permission = PermissionAsk
	case v.allow:
		r.Permission = PermissionAllow
	}
	if v.allow && v.textWrong {
		v.invalid = append(v.invalid, "an allow stands beside a text of a wrong type")
	}
	if ar.conduct == Contract && r.Rejects && !v.permissionGiven && r.Reason != "" && strings.TrimSpace(r.Reason) == "" {
		r.Rejects = false // QRK-1
		rd.notes = append(rd.notes, note{"reason", "a reason of white space alone: no rejection (QRK-1)"})
	}
	if len(v.invalid) == 0 {
		return
	}
	if r.blocks() {
		for _, msg := range v.invalid {
			rd.notes = append(rd.notes, note{"", msg})
		}
		return
	}
	rd.invalid = strings.Join(v.invalid, "; ")
	rd.result = Result{}
}

func (v *verdicts) ok(raw []byte) {
	v.okSeen++
	switch wire.Kind(raw) {
	case 'f':
		v.okFalse = true
	case 't', 'n':
	default:
		v.invalid = append(v.invalid, "ok is not true, false or null")
	}
}

func (v *verdicts) decision(raw []byte, c Conduct) []note {
	word, isText := wire.Unquote(raw)
	switch {
	case wire.IsNull(raw) || isText && word == "":
		v.decisionSeen++
		return nil
	case !isText:
		v.decisionSeen++
		v.invalid = append(v.invalid, "decision is not a string or null")
		return nil
	}
	v.decisionSeen++
	if c == Contract {
		if word == "block" {
			v.decisionBlocks = true
			return nil
		}
		v.decisionWord = true
		return []note{{"decision", `a decision other than "block" is a plain pass (QRK-9)`}}
	}
	switch strings.ToLower(word) {
	case "block", "deny":
		v.decisionBlocks = true
	case "allow", "approve":
		v.decisionWord = true
	default:
		v.invalid = append(v.invalid, "decision is none of block, deny, allow, approve")
	}
	return nil
}

// specific reads hookSpecificOutput; every key of it that is not ours is
// metadata (CMD-8).
func (ar answerReader) specific(rd *reading, v *verdicts, raw []byte) {
	if wire.IsNull(raw) {
		return
	}
	members, err := wire.Members(raw)
	if err != nil {
		v.invalid = append(v.invalid, "hookSpecificOutput is not an object or null")
		return
	}
	rd.notes = append(rd.notes, doubles(members, "hookSpecificOutput.", "permissionDecision")...)
	metadata := metadataSet{list: rd.result.Metadata}
	defer func() { rd.result.Metadata = metadata.list }()
	for _, m := range members {
		switch m.Key {
		case "permissionDecision":
			v.permission(m.Value, ar.conduct)
		case "permissionDecisionReason":
			rd.text(v, "hookSpecificOutput."+m.Key, m.Value, &rd.result.Question)
		case "additionalContext":
			rd.text(v, "hookSpecificOutput."+m.Key, m.Value, &rd.result.Context)
		case "hookEventName", "updatedInput": // CMD-9
		default:
			entry := MetadataEntry{Key: m.Key, Value: m.Value}
			if n := ar.clean(&entry); n != nil {
				rd.notes = append(rd.notes, *n)
				continue
			}
			metadata.set(entry) // the last of two counts (CMD-5a)
		}
	}
}

// clean compacts the value of a metadata entry and says why it must be
// dropped: a value over the limits of IN-10 would make a later event fail.
func (ar answerReader) clean(e *MetadataEntry) *note {
	if !utf8.ValidString(e.Key) {
		return &note{"hookSpecificOutput", "metadata was dropped: the key is not UTF-8"}
	}
	value := e.Value
	if value == nil {
		value = []byte("null")
	}
	compact, err := wire.Compact(nil, value, wire.Limits{Depth: ar.lim.Depth, Number: ar.lim.Number})
	if err != nil {
		return &note{"hookSpecificOutput." + e.Key, "metadata was dropped: the value is " + err.Error()}
	}
	e.Value = compact
	return nil
}

func (v *verdicts) permission(raw []byte, c Conduct) {
	v.permissionSeen++
	word, isText := wire.Unquote(raw)
	switch {
	case wire.IsNull(raw) || isText && word == "":
		return
	case !isText:
		v.permissionGiven = true
		v.invalid = append(v.invalid, "permissionDecision is not a string or null")
		return
	}
	v.permissionGiven = true
	switch strings.ToLower(word) {
	case "allow":
		v.allow = true
	case "deny":
		v.deny = true
	case "ask":
		v.ask = true
	default:
		if c == Hardened {
			v.unknownRejects = true
			return
		}
		v.invalid = append(v.invalid, "permissionDecision is none of allow, deny, ask")
	}
}

// text reads a text key: a string or null; the last of two counts.
func (rd *reading) text(v *verdicts, key string, raw []byte, p *string) {
	s, isText := wire.Unquote(raw)
	if !isText && !wire.IsNull(raw) {
		v.textWrong = true
		rd.notes = append(rd.notes, note{key, key + " is not a string or null: ignored"})
	}
	*p = s
}

// doubles notes the keys that are given twice, except those that have a rule
// of their own.
func doubles(members []wire.Member, prefix string, except ...string) []note {
	if len(members) < 2 {
		return nil
	}
	var notes []note
	seen := make(map[string]bool, len(members))
	for _, m := range members {
		if seen[m.Key] && !slices.Contains(except, m.Key) {
			notes = append(notes, note{prefix + m.Key, "given twice: the last counts"})
		}
		seen[m.Key] = true
	}
	return notes
}

// foreignVerdict says which product's spelling an unknown top-level key looks
// like (CMD-8); "" for any other key.
func foreignVerdict(key string) string {
	where := ""
	switch key {
	case "permission":
		where = "Cursor's spelling"
	case "cancel":
		where = "Cline's spelling"
	case "permissionDecision":
		where = "Copilot CLI's spelling; here it stands inside hookSpecificOutput"
	case "behavior":
		where = "Claude Code's spelling for permission requests"
	case "permissionDecisionReason", "additionalContext":
		return fmt.Sprintf("%s at top level is ignored; it stands inside hookSpecificOutput", key)
	case "allow", "allowed", "approve", "approved", "deny", "denied", "block", "blocked", "verdict", "action":
		where = "another product's spelling"
	default:
		for _, ours := range [...]string{"ok", "decision", "reason", "hookSpecificOutput"} {
			if strings.EqualFold(key, ours) {
				return fmt.Sprintf("unknown key, ignored; did you mean %s?", ours)
			}
		}
		return ""
	}
	return fmt.Sprintf("%s at top level is ignored: it looks like a verdict in %s", key, where)
}

// salvage looks for the first rejection or deny among the JSON objects in a
// text (QRK-5, QRK-8, both Hardened). An ask or a pass is none.
func (ar answerReader) salvage(text []byte) (Result, bool) {
	var cut bool // the safe reading of a text that hides its answer is a rejection
	for members := range objects(text, &cut) {
		rd := ar.object(members)
		if rd.result.Rejects || rd.result.Permission == PermissionDeny {
			return rd.result, true
		}
	}
	if cut {
		return Result{Rejects: true}, true
	}
	return Result{}, false
}

// objects yields the members of the JSON objects in a text, one inside
// another not counted. Searching costs at most some 16 passes over the text:
// a text made of opening braces would cost a pass for each. Then cut is set.
func objects(text []byte, cut *bool) iter.Seq[[]wire.Member] {
	return func(yield func([]wire.Member) bool) {
		budget := 16*len(text) + 64<<10
		for at := 0; ; {
			brace := bytes.IndexByte(text[at:], '{')
			if brace < 0 {
				return
			}
			at += brace
			members, end, err := wire.Object(text, at)
			if err == nil && !yield(members) {
				return
			}
			if budget -= end - at; budget < 0 {
				*cut = true
				return
			}
			if at++; err == nil {
				at = end
			}
		}
	}
}

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
