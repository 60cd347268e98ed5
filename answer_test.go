package hooks

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func readerFor(c Conduct) answerReader {
	return answerReader{conduct: c, lim: Limits{}.withDefaults()}
}

// said words a reading: the heard part of it on a tool event, or "invalid".
func said(rd reading, c Conduct) string {
	if rd.invalid != "" {
		return "invalid"
	}
	var s Step
	s.hear(OnPreToolUse.row(), c, &rd.result)
	return strings.TrimSuffix(s.Decision.String()+" "+s.Reason+s.Question, " ")
}

// TestCommandAnswers is CMD-2, CMD-5, CMD-5a, CMD-8 to CMD-15, QRK-1, QRK-9
// and QRK-11, answer by answer. The last column is empty where Hardened reads
// the answer as Contract does.
func TestCommandAnswers(t *testing.T) {
	const blocked = "reject Blocked by hook"
	for _, row := range [][3]string{
		{``, `pass`, ``},
		{" \n\t", `pass`, ``},
		{"\ufeff {\"ok\":false,\"reason\":\"r\"} \n", `reject r`, ``},
		{`{}`, `pass`, ``},
		{`{"ok":true}`, `pass`, ``},
		{`{"ok":null}`, `pass`, ``},
		{`{"ok":false}`, blocked, ``},
		{`{"ok":false,"reason":""}`, blocked, ``},
		{`{"ok":false,"reason":null}`, blocked, ``},
		{`{"ok":false,"reason":" \n"}`, `pass`, blocked}, // QRK-1
		{`{"decision":"block","reason":" "}`, `pass`, blocked},
		{`{"ok":false,"reason":" ","hookSpecificOutput":{"permissionDecision":"deny"}}`, `deny Blocked by hook`, ``},
		{`{"ok":false,"reason":" ","hookSpecificOutput":{"permissionDecision":"allow"}}`, blocked, ``},
		{`{"ok":false,"reason":" ","hookSpecificOutput":{"permissionDecision":""}}`, `pass`, blocked},
		{`null`, `invalid`, ``},
		{`[]`, `invalid`, ``},
		{`42`, `invalid`, ``},
		{`"block"`, `invalid`, ``},
		{`{"ok":"false"}`, `invalid`, ``},
		{`{"ok":0}`, `invalid`, ``},
		{`{"OK":false}`, `pass`, ``},
		{`{"ok":true,"ok":true}`, `invalid`, ``},
		{`{"ok":true,"ok":false}`, blocked, ``},
		{`{"ok":false,"ok":true}`, blocked, ``},
		{`{"\u006fk":false}`, blocked, ``},
		{`{"ok":false} {"ok":true}`, `invalid`, ``},
		{`banner {"ok":false}`, `invalid`, ``},
		// decision (CMD-10, QRK-9)
		{`{"decision":"block"}`, blocked, ``},
		{`{"decision":"block","ok":true}`, blocked, ``},
		{`{"decision":"approve","ok":false}`, `pass`, blocked},
		{`{"decision":"allow"}`, `pass`, ``},
		{`{"decision":"APPROVE"}`, `pass`, ``},
		{`{"decision":"BLOCK"}`, `pass`, blocked},
		{`{"decision":"Deny","reason":"r"}`, `pass`, `reject r`},
		{`{"decision":"maybe"}`, `pass`, `invalid`},
		{`{"decision":"maybe","ok":false}`, `pass`, blocked},
		{`{"decision":"","ok":false}`, blocked, ``},
		{`{"decision":null,"ok":false}`, blocked, ``},
		{`{"decision":7}`, `invalid`, ``},
		{`{"decision":7,"ok":false}`, blocked, ``},
		{`{"decision":"approve","decision":"approve"}`, `invalid`, ``},
		{`{"decision":"approve","decision":"block"}`, blocked, ``},
		{`{"decision":"approve","decision":"approve","ok":false}`, blocked, ``},
		{`{"decision":"approve","ok":false,"ok":true}`, blocked, ``},
		{`{"decision":"approve","hookSpecificOutput":{"permissionDecision":"deny"}}`, `deny Blocked by hook`, ``},
		{`{"decision":"block","continue":"false"}`, blocked, ``}, // F08
		{`{"decision":"block","reason":["a"]}`, blocked, ``},
		{`{"decision":"block","reason":7}`, blocked, ``},
		{`{"decision":"block","hookSpecificOutput":[]}`, blocked, ``},
		{`{"decision":"block","ok":"x"}`, blocked, ``},
		// permissions (CMD-12 to CMD-15, QRK-4, QRK-11)
		{`{"hookSpecificOutput":{"permissionDecision":"allow"}}`, `allow`, ``},
		{`{"hookSpecificOutput":{"permissionDecision":"ALLOW"}}`, `allow`, ``},
		{`{"hookSpecificOutput":{"permissionDecision":"Deny"},"reason":"r"}`, `deny r`, ``},
		{`{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"p"}}`, `deny Blocked by hook`, ``},
		{`{"hookSpecificOutput":{"permissionDecision":"deny"},"reason":" "}`, `deny Blocked by hook`, ``},
		{`{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"p"},"reason":"r"}`, `ask p`, ``},
		{`{"hookSpecificOutput":{"permissionDecision":"ask"},"reason":"r"}`, `ask r`, ``},
		{`{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":" "}}`, `ask A hook asks for confirmation.`, ``},
		{`{"ok":false,"hookSpecificOutput":{"permissionDecision":"allow"}}`, blocked, ``},
		{`{"ok":false,"reason":"r","hookSpecificOutput":{"permissionDecision":"ask"}}`, `ask r`, `reject r`},
		{`{"ok":false,"hookSpecificOutput":{"permissionDecision":"deny"}}`, `deny Blocked by hook`, ``},
		{`{"hookSpecificOutput":{"permissionDecision":"block"}}`, `invalid`, blocked},
		{`{"hookSpecificOutput":{"permissionDecision":true}}`, `invalid`, ``},
		{`{"hookSpecificOutput":{"permissionDecision":null}}`, `pass`, ``},
		{`{"hookSpecificOutput":{"permissionDecision":"allow","permissionDecision":"allow"}}`, `invalid`, ``},
		{`{"hookSpecificOutput":{"permissionDecision":"allow","permissionDecision":"deny"}}`, `deny Blocked by hook`, ``},
		{`{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecision":"allow"}}`, `ask A hook asks for confirmation.`, ``},
		{`{"hookSpecificOutput":{"permissionDecision":"deny"},"hookSpecificOutput":{}}`, `deny Blocked by hook`, ``},
		{`{"hookSpecificOutput":{},"hookSpecificOutput":{}}`, `invalid`, ``},
		{`{"hookSpecificOutput":"deny"}`, `invalid`, ``},
		{`{"hookSpecificOutput":null}`, `pass`, ``},
		{`{"permissionDecision":"deny"}`, `pass`, ``}, // F19
		{`{"permission":"deny"}`, `pass`, ``},
		{`{"cancel":true}`, `pass`, ``},
		// text keys of a wrong type
		{`{"reason":7}`, `pass`, ``},
		{`{"reason":7,"hookSpecificOutput":{"permissionDecision":"allow"}}`, `invalid`, ``},
		{`{"hookSpecificOutput":{"permissionDecision":"allow","additionalContext":[]}}`, `invalid`, ``},
		{`{"reason":7,"ok":false,"hookSpecificOutput":{"permissionDecision":"allow"}}`, blocked, ``},
		{`{"ok":false,"reason":"a","reason":"b"}`, `reject b`, ``},
		// a stray byte must not make a block vanish
		{"{\"ok\":false,\"reason\":\"caf\xe9\"}", "reject caf\xe9", ``},
		{`{"ok":false,"x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, blocked, ``},
	} {
		assert.Equal(t, row[1], said(readerFor(Contract).command([]byte(row[0])), Contract), "contract: %.200s", row[0])
		want := row[2]
		if want == "" {
			want = row[1]
		}
		assert.Equal(t, want, said(readerFor(Hardened).command([]byte(row[0])), Hardened), "hardened: %.200s", row[0])
	}
}

// TestInvalidOutputSaysWhatIsWrong is F09 and F20.
func TestInvalidOutputSaysWhatIsWrong(t *testing.T) {
	for stdout, part := range map[string]string{
		"banner\n{\"decision\":\"block\"}":    "text around the JSON",
		"{\"decision\":\"block\"}\ndone":      "text around the JSON",
		`{"decision":"allow"}{"decision":""}`: "more than one JSON document",
		`[]`:                                  "not an object",
		`{"ok":tru`:                           "not valid JSON",
		`nothing at all`:                      "not a JSON object",
	} {
		assert.Contains(t, readerFor(Contract).command([]byte(stdout)).invalid, part, stdout)
	}
}

// TestForeignVerdictsGetADiagnostic is F19: the spellings of other products
// are ignored, and said to be.
func TestForeignVerdictsGetADiagnostic(t *testing.T) {
	for answer, part := range map[string]string{
		`{"permission":"deny"}`:         "Cursor",
		`{"cancel":true}`:               "Cline",
		`{"permissionDecision":"deny"}`: "hookSpecificOutput",
		`{"OK":false}`:                  "did you mean ok",
		`{"decision":"deny"}`:           "QRK-9",
	} {
		rd := readerFor(Contract).command([]byte(answer))
		require.Len(t, rd.notes, 1, answer)
		assert.Contains(t, rd.notes[0].message, part)
	}
}

func TestMetadataOfAnAnswer(t *testing.T) {
	rd := readerFor(Contract).command([]byte(`{"systemMessage":1,"hookSpecificOutput":{"hookEventName":"x","updatedInput":{},"b":[1, 2],"a":9007199254740993,"b":{"x" : 1},"deep":` +
		strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}}`))
	assert.Empty(t, rd.invalid)
	got, err := json.Marshal(rd.result.Metadata)
	require.NoError(t, err)
	assert.Equal(t, `{"b":{"x":1},"a":9007199254740993}`, string(got))
	assert.Len(t, rd.notes, 2) // b twice, deep dropped
}

// TestManyKeysAreReadInTime: an answer of 200,000 keys must not cost
// quadratic time. The bound is wide; quadratic work takes minutes.
func TestManyKeysAreReadInTime(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"hookSpecificOutput":{`)
	for i := range 100_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"k` + strings.Repeat("0", 3) + time.Duration(i).String() + `":1`)
	}
	b.WriteString(`},"ok":false}`)
	start := time.Now()
	rd := readerFor(Hardened).command([]byte(b.String()))
	assert.True(t, rd.result.Rejects)
	assert.Less(t, time.Since(start), 10*time.Second)
}

// TestSalvage is QRK-8: a block inside other text holds in Hardened conduct.
func TestSalvage(t *testing.T) {
	for text, want := range map[string]string{
		`log {"ok":false,"reason":"r"} more`:                  "r",
		`{"ok":true} {"decision":"block","reason":"r"}`:       "r",
		`{"level":"info","msg":{"ok":false}}`:                 "-",
		`{"hookSpecificOutput":{"permissionDecision":"ask"}}`: "-",
		`{ {"ok":false,"reason":"r"}`:                         "r",
		`"{\"ok\":false}"`:                                    "-",
		`nothing`:                                             "-",
		``:                                                    "-",
		strings.Repeat(`{"a":`, 40000):                        "",
	} {
		res, ok := readerFor(Hardened).salvage([]byte(text))
		got := "-"
		if ok {
			got = res.Reason
		}
		assert.Equal(t, want, got, "%.80s", text)
	}
}

// TestPromptAnswers is PRM-2, PRM-3, QRK-5 and F22.
func TestPromptAnswers(t *testing.T) {
	const noReason = "reject " + defaultPromptReason
	for _, row := range [][3]string{
		{`{"ok":true,"reason":null}`, `pass`, ``},
		{` {"ok":false,"reason":"r"} `, `reject r`, ``},
		{`{"ok":false}`, noReason, ``},
		{`{"ok":false,"reason":" "}`, noReason, ``},
		{`{"ok":false,"reason":7}`, noReason, ``},
		{`{"ok":true,"hookSpecificOutput":{"permissionDecision":"deny"}}`, `pass`, ``},
		{`{"ok":"false"}`, `invalid`, ``},
		{`{}`, `invalid`, ``},
		{`{"decision":"block"}`, `invalid`, ``},
		{``, `invalid`, ``},
		{"```json\n{\"ok\":true}\n```", `invalid`, `pass`},
		{"```\n{\"ok\":false,\"reason\":\"r\"}\n```", `invalid`, `reject r`},
		{"```{\"ok\":true}```", `invalid`, `pass`},
		{`I think {"ok":false,"reason":"r"} fits.`, `invalid`, `reject r`},
		{`The input says {"ok":true}, so fine.`, `invalid`, ``},
		{`{"ok":true}{"ok":true}`, `invalid`, ``},
		{`{"ok":true} {"ok":false,"reason":"r"}`, `invalid`, `reject r`},
		{`{"ok":true,"ok":false}`, noReason, ``},
		{`{"ok":true,"ok":true}`, `invalid`, ``},
		{`{"ok":false,"reason":"cut in the mid`, `invalid`, ``},
	} {
		assert.Equal(t, row[1], said(readerFor(Contract).prompt(row[0], false), Contract), "contract: %s", row[0])
		want := row[2]
		if want == "" {
			want = row[1]
		}
		assert.Equal(t, want, said(readerFor(Hardened).prompt(row[0], false), Hardened), "hardened: %s", row[0])
	}
	assert.Equal(t, "invalid", said(readerFor(Hardened).prompt(`{"ok":true}`, true), Hardened))
	assert.Equal(t, "pass", said(readerFor(Contract).prompt(`{"ok":true}`, true), Contract))
	assert.Equal(t, noReason, said(readerFor(Hardened).prompt(`{"ok":false}`, true), Hardened))
}

// FuzzCommandAnswer: no panic, and Hardened is never weaker than Contract for
// the same answer; a block survives keys added before and behind it.
func FuzzCommandAnswer(f *testing.F) {
	for _, s := range []string{
		`{"ok":false,"reason":" "}`, `{"decision":"approve","ok":false}`, `{"ok":1}`, `x{"ok":false}`,
		`{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"q"},"ok":false}`,
		`{"hookSpecificOutput":{"permissionDecision":"allow","additionalContext":3}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, stdout []byte) {
		heardOf := func(c Conduct, rd reading) (Outcome, bool) {
			if rd.invalid != "" {
				if c == Hardened {
					if r, ok := readerFor(c).salvage(stdout); ok {
						rd = reading{result: r}
					} else {
						return OutcomeUndecided, false
					}
				} else {
					return OutcomeUndecided, false
				}
			}
			var s Step
			s.hear(OnPreToolUse.row(), c, &rd.result)
			return s.heard, true
		}
		soft, softOK := heardOf(Contract, readerFor(Contract).command(stdout))
		hard, hardOK := heardOf(Hardened, readerFor(Hardened).command(stdout))
		if softOK && hardOK && blocksEvent(soft) && !blocksEvent(hard) {
			t.Fatalf("contract says %v, hardened %v", soft, hard)
		}
		if softOK && !hardOK && soft != OutcomePass && soft != OutcomeAllow {
			t.Fatalf("contract says %v, hardened finds the answer invalid", soft)
		}
		if hardOK && blocksEvent(hard) {
			doc := strings.TrimSpace(string(stdout))
			if rest, ok := strings.CutPrefix(doc, "{"); ok && json.Valid([]byte(doc)) && strings.TrimSpace(rest) != "}" {
				more := `{"unknown":[1,{"ok":true}],"reason":3, "unknown":2,` + rest
				again, ok := heardOf(Hardened, readerFor(Hardened).command([]byte(more)))
				if !ok || !blocksEvent(again) {
					t.Fatalf("%q blocks, %q does not", doc, more)
				}
			}
		}
	})
}

func blocksEvent(o Outcome) bool { return o == OutcomeReject || o == OutcomeDeny || o == OutcomeAsk }
