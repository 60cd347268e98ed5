package hooks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// story words what became of the only hook of a decision: the outcome with its
// reason or question, and how the hook failed.
func story(d *Decision) string {
	s := slices.Collect(d.Steps())[0]
	out := d.Outcome.String() + " " + d.Reason + d.Question
	if s.Failure != nil {
		out = strings.TrimSpace(out) + " (" + string(s.Failure.Kind) + ")"
	}
	return strings.TrimSpace(out)
}

// TestFaultyAnswers runs what hooks print and how they exit through real
// processes, in both conducts and fail modes. Where the modes differ, what comes
// of failMode allow stands before a bar; an empty last column says that Hardened
// is as Contract.
func TestFaultyAnswers(t *testing.T) {
	const (
		plain   = "reject Blocked by hook"
		output  = `pass (output)|reject Hook "h" failed (output). (output)`
		exit    = `pass (exit)|reject Hook "h" failed (exit). (exit)`
		verdict = `'{"decision":"block","reason":"R"}'`
	)
	for _, tc := range []struct{ fault, line, contract, hardened string }{
		// F03: exit 2 with an odd stdout or stderr.
		{"F03", `exit 2`, plain, ""},
		{"F03", `echo '{"decision":"allow"}'; exit 2`, plain, ""},
		{"F03", `echo ` + verdict + `; exit 2`, plain, "reject R"},
		{"F03", `echo ` + verdict + `; echo S >&2; exit 2`, "reject S", ""},
		{"F03", `echo ` + verdict + ` >&2; exit 2`, `reject {"decision":"block","reason":"R"}`, ""},
		{"F03", `head -c 2000000 /dev/zero; exit 2`, plain, ""},
		// F08: a sibling of a wrong type does not lose the block.
		{"F08", `echo '{"decision":"block","continue":"false"}'`, plain, ""},
		{"F08", `echo '{"decision":"block","reason":["a"]}'`, plain, ""},
		{"F08", `echo '{"decision":"block","reason":null}'`, plain, ""},
		{"F08", `echo '{"decision":"block","reason":7}'`, plain, ""},
		{"F08", `echo '{"decision":"block","reason":"R","hookSpecificOutput":"x","ok":1}'`, "reject R", ""},
		{"F08", `echo '{"hookSpecificOutput":{"permissionDecision":"deny","additionalContext":1},"ok":"x"}'`, "deny Blocked by hook", ""},
		// F09: text around the verdict, or a second document.
		{"F09", `echo banner; echo ` + verdict, output, "reject R (output)"},
		{"F09", `echo ` + verdict + `; echo done`, output, "reject R (output)"},
		{"F09", `echo '{"decision":"allow"}'; echo ` + verdict, output, "reject R (output)"},
		{"F09", `echo '{"decision":"allow"}'; echo '{"decision":"allow"}'`, output, ""},
		{"F09", `echo banner; echo '{"decision":"allow"}'`, output, ""},
		{"F09", `printf '\xef\xbb\xbf %s \n\n' ` + verdict, "reject R", ""},
		// F14: exit 1 is no refusal.
		{"F14", `echo blocked; exit 1`, exit, ""},
		{"F14", `echo blocked >&2; exit 1`, exit, ""},
		{"F14", `exit 3`, exit, ""},
		{"F14", `exit 255`, exit, ""},
		// F19: verdicts spelled another way; QRK-9, CMD-12.
		{"F19", `echo '{"decision":"deny","reason":"R"}'`, "pass", "reject R"},
		{"F19", `echo '{"decision":"BLOCK","reason":"R"}'`, "pass", "reject R"},
		{"F19", `echo '{"decision":"approve"}'`, "pass", ""},
		{"F19", `echo '{"decision":"maybe"}'`, "pass", output},
		{"F19", `echo '{"permissionDecision":"deny"}'`, "pass", ""},
		{"F19", `echo '{"hookSpecificOutput":{"permissionDecision":"block"}}'`, output, plain},
		{"F19", `echo '{"permission":"deny"}'`, "pass", ""},
		{"F19", `echo '{"cancel":true}'`, "pass", ""},
		// F20: nothing is a pass; what is no object is not.
		{"F20", `cat >/dev/null`, "pass", ""},
		{"F20", `printf '\n  \t'`, "pass", ""},
		{"F20", `echo '{}'`, "pass", ""},
		{"F20", `echo null`, output, ""},
		{"F20", `echo '[]'`, output, ""},
		{"F20", `echo 42`, output, ""},
		{"F20", `echo '"block"'`, output, ""},
		{"F20", `echo '[{"decision":"block","reason":"R"}]'`, output, "reject R (output)"},
		{"F20", `printf '\0'`, output, ""},
		// F21: a line that cannot run its program.
		{"F21", `/nonexistent/guard`, exit, ""},
		{"F21", `"$PWD"/.`, exit, ""},
		{"F21", `printf '#!/nonexistent/sh\n' >g; chmod +x g; ./g`, exit, ""},
		{"F21", `printf x >h; ./h`, exit, ""},
		// F37: rejections without a reason; QRK-1.
		{"F37", `echo '{"ok":false}'`, plain, ""},
		{"F37", `echo '{"ok":false,"reason":""}'`, plain, ""},
		{"F37", `echo '{"ok":false,"reason":" "}'`, "pass", plain},
		{"F37", `echo '{"decision":"block","reason":"\t\n"}'`, "pass", plain},
		{"F37", `echo '  ' >&2; exit 2`, plain, ""},
		{"F37", `printf '\n\n' >&2; exit 2`, plain, ""},
		{"F37", `printf '\033\a' >&2; exit 2`, plain, ""},
		{"F37", `echo '{"ok":false,"reason":"\u0007"}'`, plain, ""},
		{"F37", `echo '{"hookSpecificOutput":{"permissionDecision":"deny"},"reason":"\u0000"}'`, "deny Blocked by hook", ""},
		{"F37", `echo '{"hookSpecificOutput":{"permissionDecision":"ask"},"reason":"\u0007"}'`, "ask A hook asks for confirmation.", ""},
		// Siblings of F36: bash must not read a line as options, on which it
		// exits with 2.
		{"F36", `-x`, exit, ""},
		{"F36", `--version`, exit, ""},
	} {
		for _, conduct := range []Conduct{Contract, Hardened} {
			want := tc.contract
			if conduct == Hardened && tc.hardened != "" {
				want = tc.hardened
			}
			allowed, blocked, ok := strings.Cut(want, "|")
			if !ok {
				blocked = allowed
			}
			for mode, want := range map[FailMode]string{FailAllow: allowed, FailBlock: blocked} {
				h := command("h", Command{Line: tc.line, Dir: t.TempDir()})
				h.FailMode = mode
				d := evaluate(t, newRuntime(t, &Options{Conduct: conduct}, h), &PreToolUse{ToolName: "T"})
				assert.Equal(t, want, story(&d), "%s in %v, failMode %v: %s", tc.fault, conduct, mode, tc.line)
			}
		}
	}
}

// TestFaultyAnswersOnStop is F37 on Stop, where a rejection keeps the loop
// running (SP-1), and F52's rule that failMode block does too.
func TestFaultyAnswersOnStop(t *testing.T) {
	for line, want := range map[string][2]string{
		`echo '{"ok":false}'`:                       {"reject Blocked by hook", ""},
		`echo '{"decision":"block","reason":""}'`:   {"reject Blocked by hook", ""},
		`echo '{"decision":"block","reason":"\n"}'`: {"pass", "reject Blocked by hook"},
		`exit 2`:                    {"reject Blocked by hook", ""},
		`printf '\033' >&2; exit 2`: {"reject Blocked by hook", ""},
		`printf ' \t' >&2; exit 2`:  {"reject Blocked by hook", ""},
		`exit 1`:                    {`reject Hook "h" failed (exit). (exit)`, ""},
		`echo '{"hookSpecificOutput":{"permissionDecision":"ask"}}'`: {"pass", ""},
	} {
		for c, want := range map[Conduct]string{Contract: want[0], Hardened: cmp.Or(want[1], want[0])} {
			h := Hook{Name: "h", On: OnStop, Tier: TierSystem, FailMode: FailBlock, Run: Command{Line: line}}
			d := evaluate(t, newRuntime(t, &Options{Conduct: c}, h), &Stop{})
			assert.Equal(t, want, story(&d), "%v: %s", c, line)
		}
	}
}

// TestFailedHookKeepsWhatItPrinted is F39 and F21: whatever became of a command,
// its step has the exit or signal, the duration, and both outputs.
func TestFailedHookKeepsWhatItPrinted(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{`echo out; echo err >&2`, `output 0 "out\n" "err\n"`},
		{`echo err >&2`, ` 0 "" "err\n"`},
		{`echo '{}'; echo warn >&2; exit 0`, ` 0 "{}\n" "warn\n"`},
		{`echo out; echo err >&2; exit 1`, `exit 1 "out\n" "err\n"`},
		{`echo out; exit 1`, `exit 1 "out\n" ""`},
		{`kill -9 $$`, `signal killed "" ""`},
		{`echo err >&2; kill -TERM $$`, `signal terminated "" "err\n"`},
		{`echo err >&2; exit 2`, ` 2 "" "err\n"`},
		{`PATH=/nonexistent; jq -r .tool_name`, `exit 127 "" "/bin/bash: line 1: jq: command not found\n"`}, // F34
	} {
		h := command("h", Command{Line: tc.line})
		d := evaluate(t, newRuntime(t, nil, h), &PreToolUse{ToolName: "T"})
		s := slices.Collect(d.Steps())[0]
		kind, exit := FailureKind(""), s.Signal
		if s.Failure != nil {
			kind = s.Failure.Kind
		}
		if s.ExitCode != nil {
			exit = fmt.Sprint(*s.ExitCode)
		}
		assert.Equal(t, tc.want, fmt.Sprintf("%s %s %q %q", kind, exit, s.Stdout, s.Stderr), tc.line)
		assert.Equal(t, "h", s.Hook.Name)
		assert.Positive(t, s.Duration)
	}
}

// TestIllegibleReasons: in every dialect, a block whose reason is nothing but
// control characters blocks, and says something.
func TestIllegibleReasons(t *testing.T) {
	for _, dialect := range []Dialect{HookContract, VSCode} {
		for _, ev := range []Event{&PreToolUse{ToolName: "T"}, &PostToolUse{ToolName: "T"}, &Stop{}} {
			for _, line := range []string{
				`printf '\a\033' >&2; exit 2`,
				`echo '{"decision":"block","reason":"\u0007"}'`,
				`echo '{"hookSpecificOutput":{"hookEventName":"` + string(ev.EventName()) + `","decision":"block","reason":"\u0007"}}'`,
				`echo '{"hookSpecificOutput":{"hookEventName":"` + string(ev.EventName()) + `","permissionDecision":"deny","permissionDecisionReason":"\u0007"}}'`,
			} {
				h := Hook{Name: "h", Dialect: dialect, On: ev.EventName(), Tier: TierSystem, Run: Command{Line: line}}
				if h.On != OnStop {
					h.Matcher = "*"
				}
				d := evaluate(t, newRuntime(t, nil, h), ev)
				assert.Equal(t, d.Blocks(), d.Reason != "", "%v: %s\n%s", dialect, line, d.Explain())
			}
		}
	}
}
