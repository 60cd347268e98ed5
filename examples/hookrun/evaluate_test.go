package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExitCodes(t *testing.T) {
	path := folder(t, map[string]string{
		"pass.yaml":   says("pass", `{"ok": true}`),
		"allow.yaml":  says("allow", `{"hookSpecificOutput": {"permissionDecision": "allow"}}`),
		"reject.yaml": says("reject", `{"ok": false, "reason": "No."}`),
		"deny.yaml":   says("deny", `{"reason": "Never.", "hookSpecificOutput": {"permissionDecision": "deny"}}`),
		"ask.yaml":    says("ask", `{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "Sure?"}}`),
		"call.json":   call,
	})
	for _, tt := range []struct {
		outcome string
		code    int
	}{{"pass", exitProceeds}, {"allow", exitProceeds}, {"reject", exitBlocked}, {"deny", exitBlocked}, {"ask", exitAsk}} {
		for _, tier := range []string{"-system", "-agent", "-user"} {
			r := hookrun("", tier, path(tt.outcome+".yaml"), path("call.json"))
			assert.Equal(t, tt.code, r.code)
			assert.Contains(t, r.stdout, "PreToolUse Bash (agent meta_agent): "+tt.outcome)
			assert.Empty(t, r.stderr)
		}
	}
	r := hookrun(call, "-user", path("ask.yaml"), "-child", "-")
	assert.Equal(t, exitBlocked, r.code, "a child cannot ask")
	assert.Contains(t, r.stdout, "(child): deny, decided by ask\n  reason: Sure?")
	r = hookrun(call, "-user", path("pass.yaml"), "-user", path("deny.yaml"), "-system", path("ask.yaml"), "-hardened")
	assert.Equal(t, exitBlocked, r.code, "hardened, an ask does not end the chain")
}

// decision is the object of -json.
type decision struct {
	Event, Outcome, Reason, Question, Context, By string
	Metadata                                      map[string]any
	ForModel                                      string `json:"for_model"`
	Steps                                         []struct {
		Hook, Tier, Type, Fate, Why, Decision, Reason, Failure, Stderr string
		ExitCode                                                       *int `json:"exit_code"`
	}
	Diagnostics []struct {
		Severity, File, Key, Hook, Message string
		Line                               int
	}
}

// decode reads the one object that stands on stdout.
func decode(t *testing.T, r ran) (d decision) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(r.stdout))
	require.NoError(t, dec.Decode(&d), "%s%s", r.stdout, r.stderr)
	assert.False(t, dec.More(), "one object and nothing else")
	assert.Empty(t, r.stderr)
	return d
}

func TestJSON(t *testing.T) {
	path := folder(t, map[string]string{
		"a.yaml": says("guard", `{"reason": "a && b <c>", "hookSpecificOutput": {"permissionDecision": "deny"}}`),
		"b.yaml": hook("late", "PreToolUse", "type: command\nmatcher: ' Bash'\ncommand: exit 3"),
	})
	r := hookrun(call, "-json", "-system", path("a.yaml"), "-user", path("b.yaml"))
	assert.Equal(t, exitBlocked, r.code)
	assert.Contains(t, r.stdout, `"a && b <c>"`, "nothing is escaped for HTML")
	d := decode(t, r)
	assert.Equal(t, "PreToolUse deny a && b <c> guard", d.Event+" "+d.Outcome+" "+d.Reason+" "+d.By)
	assert.Equal(t, "[Tool execution blocked] a && b <c>", d.ForModel)
	require.Len(t, d.Steps, 2)
	assert.Equal(t, "ran", d.Steps[0].Fate)
	assert.Equal(t, 0, *d.Steps[0].ExitCode)
	assert.Equal(t, "no-match", d.Steps[1].Fate)
	assert.Nil(t, d.Steps[1].ExitCode)
	require.Len(t, d.Diagnostics, 1, "the loader's warning is among them")
	w := d.Diagnostics[0]
	assert.Equal(t, path("b.yaml"), w.File)
	assert.Equal(t, 10, w.Line)
	assert.Equal(t, "warning", w.Severity)
	assert.Contains(t, w.Message, "white space")

	r = hookrun(call, "-system", path("a.yaml"), "-user", path("b.yaml"))
	assert.Contains(t, r.stderr, path("b.yaml")+":10:", "without -json the warning stands on stderr")
	assert.NotContains(t, r.stdout, "white space")
}

func TestPlan(t *testing.T) {
	path := folder(t, map[string]string{
		"a.yaml": hook("judge", "PreToolUse", "type: prompt\nmatcher: Bash\nprompt: ok?"),
		"b.yaml": hook("other", "Stop", "type: command\ncommand: exit 0"),
		"c.yaml": hook("odd", "PreToolUse", "type: command\nmatcher: 'Ba ('\ncommand: exit 0"),
	})
	files := []string{"-user", path("a.yaml"), "-user", path("b.yaml"), "-user", path("c.yaml"), "-plan"}
	r := hookrun(call, append(files, "-json")...)
	assert.Equal(t, exitProceeds, r.code)
	d := decode(t, r)
	assert.Empty(t, d.Outcome)
	var fates []string
	for _, s := range d.Steps {
		fates = append(fates, s.Hook+" "+s.Fate)
	}
	assert.Equal(t, []string{"judge planned", "odd no-match", "other other-event"}, fates)
	require.Len(t, d.Diagnostics, 1)
	assert.Equal(t, path("c.yaml"), d.Diagnostics[0].File)

	r = hookrun(call, files...)
	assert.Equal(t, exitProceeds, r.code)
	assert.Contains(t, r.stdout, "plan, nothing was run")
	assert.Contains(t, r.stderr, path("c.yaml")+":10:")

	failedClean(t, hookrun(call, "-user", path("a.yaml")), `hook "judge"`, "-model-cmd")
}

func TestSwitches(t *testing.T) {
	demand := strings.Replace(hook("demand", "PreToolUse", "type: command\nmatcher: Bash\ncommand: exit 2"), "always", "onDemand", 1)
	path := folder(t, map[string]string{
		"demand.yaml": demand,
		"on.yaml":     hook("on", "PreToolUse", "type: command\nmatcher: Bash\ncommand: exit 2"),
		"sys.yaml":    hook("sys", "PreToolUse", "type: command\nmatcher: Bash\ncommand: exit 0"),
	})
	files := []string{"-system", path("sys.yaml"), "-user", path("demand.yaml"), "-user", path("on.yaml")}
	with := func(args ...string) ran { return hookrun(call, append(args, files...)...) }
	assert.Equal(t, exitBlocked, with().code)
	assert.Equal(t, exitProceeds, with("-deactivate", "on").code)
	assert.Equal(t, exitBlocked, with("-deactivate", "on", "-activate", "demand").code)
	failedClean(t, with("-activate", "demnad", "-activate", "on", "-deactivate", "sys", "-deactivate", "nosuch"),
		`hook "demnad": no hook has this name`, `hook "on": is always active`,
		`hook "sys": is a system hook`, `hook "nosuch": no hook has this name`)
}

// Errors of all files and of the payload are told at once, and nothing stands
// on stdout.
func TestErrors(t *testing.T) {
	path := folder(t, map[string]string{
		"bad.yaml":  "kind: Hook\nmetadata: {name: 'a b'}\nspec: {eventType: Stop}\n",
		"warn.yaml": "metadata: {name: w}\nspec: {eventType: Stop, activationMode: always, hook: {type: command, command: exit 0}}\n",
		"call.json": `{"hook_event_name": "Stop", "current_turn": "x", "final_output": 1}`,
	})
	failedClean(t, hookrun("", "-json", "-user", path("bad.yaml"), "-system", path("warn.yaml"), "-agent", path("nosuch"), path("call.json")),
		path("bad.yaml")+":2:", path("bad.yaml")+":3:", path("nosuch")+": error: ", path("warn.yaml")+":1:1: warning: ",
		path("call.json")+": hooks: event Stop.current_turn: it must be an integer", path("call.json")+": hooks: event Stop.final_output")
	failedClean(t, hookrun("", "-user", path("warn.yaml"), path("none.json")), "none.json")
	failedClean(t, hookrun(`{"hook_event_name": "Stop"}`, "-user", path("warn.yaml"), "-trajectory", path("none.json")), "none.json")
	failedClean(t, hookrun("", "-user", path("warn.yaml")), "standard input: ")

	path = folder(t, map[string]string{"a.yaml": says("a", "")})
	failedClean(t, hookrun(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"a":1,"A":2}}`, "-hardened", "-json", "-user", path("a.yaml")), "tool_input")
}

func TestTrajectory(t *testing.T) {
	path := folder(t, map[string]string{
		"stop.yaml":  hook("stop", "Stop", "type: command\ncommand: |\n  read -r line\n  file=${line#*'\"execution_summary\":\"'}\n  cat \"${file%%'\"'*}\" >&2\n  exit 2"),
		"trace.json": `[{"turn": 1}]`,
	})
	r := hookrun(`{"hook_event_name": "Stop", "execution_summary": "/elsewhere/t.txt"}`, "-user", path("stop.yaml"), "-trajectory", path("trace.json"))
	assert.Equal(t, exitBlocked, r.code)
	assert.Contains(t, r.stdout, `reason: [{"turn": 1}]`)
}
