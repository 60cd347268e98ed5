package hooks

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/hookruntime/hooks/internal/proc"
	"github.com/hookruntime/hooks/internal/wire"
)

// This file is the only reader of what VSCode's hooks write. A broken answer
// has no effect in this dialect, so everything that has none leaves a note: a
// block that was mistyped must not vanish without a word.

// vscodeReader reads what hooks of one event write.
type vscodeReader struct {
	row *eventRow
	lim Limits
}

func newVSCodeReader(row *eventRow, _ Conduct, lim Limits) exitReader {
	return &vscodeReader{row, lim}
}

func (vr *vscodeReader) terms() *eventTerms { return &vr.row.terms[VSCode] }

// exited reads an ordinary end of a process. Only exit 2 is an opinion beside
// exit 0; a reader of its own tells it from a rejection in JSON, since its
// message counts for more.
func (vr *vscodeReader) exited(code int, stdout, stderr *proc.Capture) answer {
	switch {
	case code == 2:
		return vr.blocked(stderr.String())
	case code != 0:
		return failed(FailureExit, nil, "exited with code %d", code)
	case stdout.Overflowed():
		return failed(FailureOutput, nil, "stdout has more than %d bytes", vr.lim.Stdout)
	}
	return vr.read(stdout.Bytes())
}

func (vr *vscodeReader) blocked(stderr string) answer {
	r := Reject(strings.TrimSpace(withoutANSI(stderr)))
	r.byExit = true
	a := answer{result: r}
	switch {
	case vr.terms().reject == deaf:
		a.notes = append(a.notes, note{"", fmt.Sprintf("exit 2 is ignored: %s cannot be blocked", vr.terms().spelled)})
	case vr.terms().needsReason && r.Reason == "":
		a.notes = append(a.notes, note{"", "exit 2 is ignored: stderr gives no reason"})
	}
	return a
}

// read reads the stdout of a process that exited with 0.
func (vr *vscodeReader) read(stdout []byte) answer {
	doc := bytes.TrimSpace(wire.TrimBOM(stdout))
	members, err := wire.Members(doc)
	if err != nil {
		if !bytes.ContainsAny(doc, "{[") { // ordinary output
			return answer{}
		}
		return answer{notes: []note{{"", "stdout is not exactly one JSON object: it has no effect"}}}
	}
	o := vscodeObject{reader: *vr}
	o.notes = doubles(members, "")
	o.top(lastOnes(members))
	if o.dropped != "" {
		return answer{notes: append(o.notes, note{"", "the whole answer is dropped: " + o.dropped})}
	}
	return answer{result: o.result, notes: o.notes}
}

// vscodeObject is one answer while it is read. Of a key given twice the last
// counts, as for JSON.parse.
type vscodeObject struct {
	reader   vscodeReader
	result   Result
	notes    []note
	dropped  string // why the whole answer, or the object being read, is dropped
	specific []byte // hookSpecificOutput, nil for none
}

// lastOnes returns the members without those whose key is given again: what
// does not count cannot be wrong either. It reuses members.
func lastOnes(members []wire.Member) []wire.Member {
	last := make(map[string]int, len(members))
	for i, m := range members {
		last[m.Key] = i
	}
	kept := members[:0]
	for i, m := range members {
		if last[m.Key] == i {
			kept = append(kept, m)
		}
	}
	return kept
}

func (o *vscodeObject) note(key, format string, args ...any) {
	o.notes = append(o.notes, note{key, fmt.Sprintf(format, args...)})
}

func (o *vscodeObject) drop(format string, args ...any) {
	if o.dropped == "" {
		o.dropped = fmt.Sprintf(format, args...)
	}
}

// top reads the top level. What is wrong there drops the whole answer.
func (o *vscodeObject) top(members []wire.Member) {
	var block vscodeBlock
	for _, m := range members {
		switch m.Key {
		case "continue":
			switch k := wire.Kind(m.Value); k {
			case 't', 'f', 'n':
				o.result.StopRun = k == 'f'
			default:
				o.drop("continue is not true or false")
			}
		case "stopReason":
			o.text(m, "", &o.result.StopReason)
		case "systemMessage":
			o.text(m, "", &o.result.SystemMessage)
		case "decision":
			o.text(m, "", &block.decision)
		case "reason":
			o.text(m, "", &block.reason)
		case "hookEventName":
			o.eventName(m, "")
		case "hookSpecificOutput":
			if o.specific = m.Value; wire.IsNull(m.Value) {
				o.specific = nil
			} else if wire.Kind(m.Value) != '{' {
				o.drop("hookSpecificOutput is not an object")
			}
		case "suppressOutput": // another product's, without a meaning here
		case "ok":
			o.note(m.Key, "ok is ignored: it is a verdict of the hook data contract; here decision or hookSpecificOutput tell it")
		default:
			if msg := foreignVerdict(m.Key); msg != "" {
				o.note(m.Key, "%s", msg)
			}
		}
	}
	if o.dropped != "" {
		return
	}
	o.block(block, "")
	if o.specific == nil {
		return
	}
	inner := vscodeObject{reader: o.reader, result: o.result}
	inner.inside(o.specific)
	o.notes = append(o.notes, inner.notes...)
	if inner.dropped != "" {
		o.note("hookSpecificOutput", "hookSpecificOutput is dropped: %s", inner.dropped)
		return
	}
	o.result = inner.result
}

// inside reads hookSpecificOutput. What is wrong there drops that object only.
func (o *vscodeObject) inside(raw []byte) {
	const at = "hookSpecificOutput."
	members, err := wire.Members(raw)
	if err != nil {
		o.drop("it is %v", err)
		return
	}
	o.notes = doubles(members, at)
	var block vscodeBlock
	var permission []byte
	var reason string
	for _, m := range lastOnes(members) {
		switch m.Key {
		case "hookEventName":
			o.eventName(m, at)
		case "permissionDecision":
			permission = m.Value
		case "permissionDecisionReason":
			o.text(m, at, &reason)
		case "updatedInput":
			if o.result.UpdatedInput = nil; !wire.IsNull(m.Value) {
				o.result.UpdatedInput = bytes.Clone(m.Value)
			}
		case "additionalContext":
			o.text(m, at, &o.result.Context)
		case "decision":
			o.text(m, at, &block.decision)
		case "reason":
			o.text(m, at, &block.reason)
		}
	}
	if o.dropped != "" {
		return
	}
	o.permission(permission, reason)
	o.block(block, at)
	terms := o.reader.terms()
	if o.result.UpdatedInput != nil && !terms.input {
		o.note(at+"updatedInput", "updatedInput is ignored: %s has no tool input to replace", terms.spelled)
	}
	if o.result.Context != "" && !terms.context {
		o.note(at+"additionalContext", "additionalContext is ignored: %s takes none", terms.spelled)
	}
}

// text reads a text; null is none.
func (o *vscodeObject) text(m wire.Member, at string, p *string) {
	s, ok := wire.Unquote(m.Value)
	if !ok && !wire.IsNull(m.Value) {
		o.drop("%s%s is not a string", at, m.Key)
	}
	*p = s
}

// eventName checks the event that an answer names. A sub-agent's hook may name
// the event that the main loop has in its place.
func (o *vscodeObject) eventName(m wire.Member, at string) {
	var name string
	if o.text(m, at, &name); name == "" {
		return
	}
	want := o.reader.terms().spelled
	switch {
	case name == want:
	case o.reader.row.name == OnSubagentStop && name == OnStop.row().terms[VSCode].spelled:
	case o.reader.row.name == OnSubagentStart && name == OnStart.row().terms[VSCode].spelled:
	default:
		o.drop("%shookEventName is not %s", at, want)
	}
}

func (o *vscodeObject) permission(raw []byte, reason string) {
	const key = "hookSpecificOutput.permissionDecision"
	terms := o.reader.terms()
	if raw == nil || wire.IsNull(raw) {
		return
	}
	if terms.allow == deaf {
		o.note(key, "permissionDecision is ignored: only PreToolUse has one")
		return
	}
	r := &o.result
	switch word, _ := wire.Unquote(raw); word {
	case "allow":
		r.Permission = PermissionAllow
	case "ask":
		r.Permission, r.Question = PermissionAsk, reason
	case "deny":
		r.Permission, r.Reason = PermissionDeny, reason
	default:
		o.note(key, "permissionDecision is none of allow, ask, deny: ignored")
	}
}

// vscodeBlock is a decision with its reason.
type vscodeBlock struct{ decision, reason string }

// block reads a decision. One inside hookSpecificOutput counts where a loop
// ends: documentation and source differ about its place.
func (o *vscodeObject) block(b vscodeBlock, at string) {
	row, terms := o.reader.row, o.reader.terms()
	key := at + "decision"
	switch {
	case b.decision == "":
	case b.decision != "block":
		o.note(key, `a decision other than "block" is ignored`)
	case terms.reject != heard || at != "" && !row.ending:
		o.note(key, "decision is ignored: it does not stand there in an answer to %s", terms.spelled)
	case terms.needsReason && strings.TrimSpace(b.reason) == "":
		o.note(key, "a block without a reason is ignored")
	case !o.result.Rejects:
		o.result.Rejects, o.result.Reason = true, b.reason
	}
}

// ansiPattern finds escape sequences: control (CSI), operating system (OSC)
// and the short ones.
var ansiPattern = regexp.MustCompile("(?:\x1b\\[|\u009b)[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|\x1b[ -/]*[0-~]")

// withoutANSI removes the escape sequences of terminals from a text.
func withoutANSI(s string) string {
	if !strings.ContainsAny(s, "\x1b\u009b") {
		return s
	}
	return ansiPattern.ReplaceAllString(s, "")
}
