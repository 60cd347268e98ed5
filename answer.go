package hooks

import (
	"bytes"
	"fmt"
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
