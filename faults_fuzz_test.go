package hooks

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/hookruntime/hooks/internal/wire"
)

// weakness lists the outcomes from the weakest.
var weakness = [...]Outcome{OutcomeAllow, OutcomePass, OutcomeAsk, OutcomeReject, OutcomeDeny}

func strength(o Outcome) int { return slices.Index(weakness[:], o) }

// heardIn is what a tool event hears of the stdout of a hook that exited with
// 0; OutcomeUndecided when it is invalid.
func heardIn(c Conduct, stdout string) Outcome {
	rd := readerFor(c).command([]byte(stdout))
	if rd.invalid != "" {
		return OutcomeUndecided
	}
	var s Step
	s.hear(OnPreToolUse.row(), c, &rd.result)
	return s.heard
}

// FuzzBlockStays: in both conducts, a blocking answer still blocks when white
// space, keys or second occurrences of keys are added, and none but a valid
// document allows. Two additions can lift a block in Contract, as documented: a
// decision (CMD-10) and a reason of white space (QRK-1).
func FuzzBlockStays(f *testing.F) {
	for _, s := range []string{
		`{"ok":false}`, `{"decision":"block","reason":"r"}`, `{"hookSpecificOutput":{"permissionDecision":"deny"}}`,
		`{"hookSpecificOutput":{"permissionDecision":"ask"},"ok":false,"reason":" "}`, `{"hookSpecificOutput":{"permissionDecision":"allow"}}`,
		`{"hookSpecificOutput":{"permissionDecision":"allow"},"ok":1}`, `{"decision":"approve","ok":false,"decision":null}`,
	} {
		f.Add(s, `"x":1`)
		f.Add(s, `"ok":true`)
		f.Add(s, `"hookSpecificOutput":{"permissionDecision":"allow"}`)
	}
	f.Fuzz(func(t *testing.T, answer, more string) {
		body, isObject := strings.CutPrefix(strings.TrimSpace(answer), "{")
		body, closes := strings.CutSuffix(body, "}")
		if isObject = isObject && closes && strings.TrimSpace(body) != "" && json.Valid([]byte(answer)); !isObject {
			for _, c := range []Conduct{Contract, Hardened} {
				if heardIn(c, answer) == OutcomeAllow && !json.Valid(wire.TrimBOM([]byte(answer))) {
					t.Fatalf("%v: the malformed %q allows", c, answer)
				}
			}
			return
		}
		added, err := wire.Members([]byte("{" + more + "}"))
		if err != nil || len(added) == 0 || !json.Valid([]byte("{"+more+"}")) {
			return
		}
		lifts := slices.ContainsFunc(added, func(m wire.Member) bool { return m.Key == "decision" || m.Key == "reason" })
		for _, c := range []Conduct{Contract, Hardened} {
			if !blocksEvent(heardIn(c, answer)) {
				continue
			}
			variants := []string{" \n\t" + answer + "\r\n ", "\ufeff" + answer}
			if !(c == Contract && lifts) {
				variants = append(variants, "{"+more+","+body+"}", "{"+body+","+more+"}", "{ "+body+" ,"+body+"}", "{"+more+","+body+","+more+"}")
			}
			for _, v := range variants {
				if !blocksEvent(heardIn(c, v)) {
					t.Fatalf("%v: %q blocks, %q does not", c, answer, v)
				}
			}
		}
	})
}

// FuzzPromptAnswer: no panic; no answer of a model allows, or passes unless it
// has a boolean ok; what rejects in Contract does so in Hardened; and a
// rejection stays when keys and white space are added.
func FuzzPromptAnswer(f *testing.F) {
	for _, s := range []string{
		`{"ok":true}`, `{"ok":false,"reason":"r"}`, "```json\n{\"ok\":true}\n```", `{"ok":"false"}`, `I say {"ok":false}.`,
		`{"ok":true}{"ok":false}`, `{"ok":false,"ok":true}`, `{"ok":fal`, "\ufeff{\"ok\":true}", strings.Repeat(`{"a":`, 50),
	} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, truncated bool) {
		soft, hard := readerFor(Contract).prompt(text, truncated), readerFor(Hardened).prompt(text, truncated)
		for _, rd := range []reading{soft, hard} {
			r := rd.result
			if r.Permission != PermissionNone || r.Context != "" || r.Metadata != nil {
				t.Fatalf("%q says more than ok and reason: %+v", text, r)
			}
			if rd.invalid == "" && !r.Rejects && !strings.Contains(text, "true") {
				t.Fatalf("%q passes", text)
			}
			if r.Rejects && strings.TrimSpace(r.Reason) == "" {
				t.Fatalf("%q rejects without a reason", text)
			}
		}
		if soft.result.Rejects && !hard.result.Rejects {
			t.Fatalf("%q rejects in Contract alone", text)
		}
		if soft.invalid == "" && hard.invalid != "" && !truncated {
			t.Fatalf("%q is usable in Contract alone: %s", text, hard.invalid)
		}
		if rest, ok := strings.CutPrefix(strings.TrimSpace(text), "{"); ok && json.Valid([]byte(text)) && soft.result.Rejects {
			more := " \n{\"unknown\":{\"ok\":true}, \"ok\":true," + rest + "\n"
			if !readerFor(Contract).prompt(more, false).result.Rejects || !readerFor(Hardened).prompt(more, true).result.Rejects {
				t.Fatalf("%q rejects, %q does not", text, more)
			}
		}
	})
}

// ending is how a scripted hook ends; a negative code is a signal.
type ending struct {
	code           int
	stdout, stderr string
}

// scripted is a sandbox in which every line ends as it is told.
func scripted(endings map[string]ending) sandboxFunc {
	return func(_ context.Context, p Process) (Exit, error) {
		e := endings[p.Argv[len(p.Argv)-1]]
		_, _ = io.WriteString(p.Stdout, e.stdout)
		_, _ = io.WriteString(p.Stderr, e.stderr)
		if e.code < 0 {
			return Exit{Code: -1, Signal: "killed"}, nil
		}
		return Exit{Code: e.code}, nil
	}
}

// FuzzHardenedIsNoWeaker: whatever two hooks of an event answer, and whatever
// their fail mode, the Hardened outcome is never weaker than that of Contract;
// and what leaves for the model is clean and says what the outcome says.
func FuzzHardenedIsNoWeaker(f *testing.F) {
	answers := []string{
		``, `{"ok":false,"reason":" "}`, `{"decision":"approve","ok":false}`, `log {"ok":false}`, `{"hookSpecificOutput":{"permissionDecision":"ask"}}`,
		`{"hookSpecificOutput":{"permissionDecision":"allow","additionalContext":"c","tool_name":"x","approval":1}}`,
		`{"hookSpecificOutput":{"permissionDecision":"never"}}`, `{"decision":"maybe"}`, "\x00\xff",
	}
	for i, a := range answers {
		f.Add(i, 0, a, "", i%3, answers[len(answers)-1-i], "s\x1b")
		f.Add(i, i-1, a, "e", 0, a, "")
	}
	f.Fuzz(func(t *testing.T, pick, codeA int, outA, errA string, codeB int, outB, errB string) {
		pick = max(pick, -pick-1)
		name := []EventName{OnPreToolUse, OnPostToolUse, OnStop, OnStart}[pick%4]
		event := map[EventName]Event{OnPreToolUse: &PreToolUse{ToolName: "T"}, OnPostToolUse: &PostToolUse{ToolName: "T"}, OnStop: &Stop{}, OnStart: &Start{}}[name]
		mode := FailMode(pick / 4 % 3)
		sandbox := scripted(map[string]ending{"a": {codeA % 4, outA, errA}, "b": {codeB % 4, outB, errB}})
		decide := func(c Conduct) Decision {
			var hooks []Hook
			for _, line := range []string{"a", "b"} {
				h := Hook{Name: line, On: name, Tier: TierSystem, FailMode: mode, Run: Command{Line: line}}
				if name == OnPreToolUse || name == OnPostToolUse {
					h.Matcher = "*"
				}
				hooks = append(hooks, h)
			}
			return evaluate(t, newRuntime(t, &Options{Conduct: c, Sandbox: sandbox}, hooks...), event)
		}
		soft, hard := decide(Contract), decide(Hardened)
		if strength(hard.Outcome) < strength(soft.Outcome) {
			t.Fatalf("%s: contract says %v, hardened %v\n%s%s", name, soft.Outcome, hard.Outcome, soft.Explain(), hard.Explain())
		}
		for _, d := range []Decision{soft, hard} {
			text := d.ForModel()
			if told := d.Outcome == OutcomeReject || d.Outcome == OutcomeDeny; told != (text != "") {
				t.Fatalf("%v tells the model %q", d.Outcome, text)
			}
			dirty := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
			if all := text + d.Context + d.Question; !utf8.ValidString(all) || strings.ContainsFunc(all, dirty) {
				t.Fatalf("not clean: %q", all)
			}
			if data, err := json.Marshal(d); err != nil || !json.Valid(data) {
				t.Fatalf("no JSON: %v", err)
			}
			if d.Event == OnStart && d.Outcome != OutcomePass {
				t.Fatalf("Start heard a %v", d.Outcome)
			}
		}
	})
}
