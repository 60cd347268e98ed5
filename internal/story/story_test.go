package story_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookruntime/hooks"
	"github.com/hookruntime/hooks/internal/story"
)

// write makes a file in a new folder.
func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// tell runs the only story of a text in its only conduct.
func tell(t *testing.T, text string) *story.Result {
	t.Helper()
	stories, err := story.Load(write(t, "a.yaml", text))
	require.NoError(t, err)
	require.Len(t, stories, 1)
	require.Len(t, stories[0].Conducts, 1)
	return stories[0].Run(t.Context(), stories[0].Conducts[0], time.Minute)
}

// guard is a story up to its want.
const guard = `
story: A guard blocks.
hooks:
  system:
    - hooks:
        PreToolUse:
          - type: command
            matcher: "*"
            command: |
              echo oh >&2
              echo '{"ok": false, "reason": "No.", "hookSpecificOutput": {"additionalContext": "ctx"}}'
          - type: command
            matcher: Other
            command: exit 0
payload:
  hook_event_name: PreToolUse
  tool_name: Bash
  tool_input: {n: 12345678901234567890.10, b: 0x10, a: [1, two, null, true]}
`

// Whatever is wanted wrongly fails, and says how.
func TestWrongWantFails(t *testing.T) {
	for _, tt := range []struct{ want, difference string }{
		{"{outcome: pass}", `outcome: want "pass", got "reject"`},
		{"{outcome: reject, reason: No}", `reason: want "No", got "No."`},
		{`{outcome: reject, context: ""}`, `context: want "", got "ctx"`},
		{`{outcome: reject, by: ""}`, `by:`},
		{`{outcome: reject, question: Why}`, `question:`},
		{`{outcome: reject, for_model: No.}`, `for_model:`},
		{`{outcome: reject, metadata: {a: 1}}`, `metadata: want "{\"a\":1}", got "{}"`},
		{`{outcome: reject, rejections: []}`, `rejections: want [], got ["a/PreToolUse/1"]`},
		{`{outcome: reject, allows: [x]}`, `allows:`},
		{`{outcome: reject, fates: {a/PreToolUse/1: no-match}}`, `fates.a/PreToolUse/1: want "no-match", got "ran"`},
		{`{outcome: reject, fates: {b: ran}}`, `fates.b: no hook of this event has that name`},
		{`{outcome: reject, decisions: {a/PreToolUse/2: pass}}`, `decisions.a/PreToolUse/2: want "pass", got ""`},
		{`{outcome: reject, failures: {a/PreToolUse/1: exit}}`, `failures.a/PreToolUse/1`},
		{`{outcome: reject, why: {a/PreToolUse/2: would}}`, `why.a/PreToolUse/2: want a part`},
		{`{outcome: reject, stderr: {a/PreToolUse/1: no}}`, `stderr.a/PreToolUse/1: want a part`},
		{`{outcome: reject, plan: {a/PreToolUse/1: no-match}}`, `plan.a/PreToolUse/1: want "no-match", got "planned"`},
		{`{outcome: reject, input: {a/PreToolUse/1: {tool_name: bash}}}`, `input.a/PreToolUse/1.tool_name`},
		{`{outcome: reject, input: {a/PreToolUse/1: {nothing: null}}}`, `input.a/PreToolUse/1.nothing`},
		{`{outcome: reject, input: {a/PreToolUse/2: {tool_name: Bash}}}`, `0 commands of that name were started`},
		{`{outcome: reject, input: {a/PreToolUse/1: "{}"}}`, `input.a/PreToolUse/1`},
		{`{outcome: reject, asked: [ok]}`, `asked: want 1 questions, got 0`},
		{`{outcome: reject, diagnostics: [strange]}`, `diagnostics: want a part`},
		{`{outcome: reject, explain: [strange]}`, `explain: want a part`},
		{`{error: tool_input}`, `error: want "tool_input", but there was none`},
		{`{load_error: name}`, `load_error: want "name", but there was none`},
		{`null`, `nothing is wanted yet`},
	} {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			r := tell(t, guard+"want: "+tt.want)
			require.True(t, r.Failed())
			assert.Contains(t, strings.Join(r.Differences, "\n"), tt.difference)
			assert.Contains(t, r.Explain, "PreToolUse Bash: reject")
		})
	}
}

func TestRightWantPasses(t *testing.T) {
	r := tell(t, guard+`
want:
  outcome: reject
  reason: No.
  context: ctx
  metadata: {}
  rejections: [a/PreToolUse/1]
  fates: {"system:a/PreToolUse/1": ran, a/PreToolUse/2: no-match}
  failures: {a/PreToolUse/1: ""}
  stderr: {a/PreToolUse/1: oh}
  diagnostics: []
  explain: [decided by a/PreToolUse/1]
  input:
    a/PreToolUse/1: |
      {"hook_event_name":"PreToolUse","agent_name":"","current_turn":0,"max_turns":0,"execution_summary":null,"tool_name":"Bash","tool_input":{"n":12345678901234567890.10,"b":16,"a":[1,"two",null,true]},"tool_description":null,"agent_mode":"","is_write_action":false,"requires_approval":false,"requires_browser_connection":false,"call_id":""}
`)
	assert.Empty(t, r.Differences)
	assert.Positive(t, r.Took)
}

// prompted is a story with a prompt hook, up to its model.
const prompted = `
story: A model judges.
conduct: hardened
hooks:
  user:
    - hooks:
        PreToolUse: [{type: prompt, matcher: "*", prompt: 'ok? $ARGUMENTS', failMode: allow, timeout: 1}]
payload: {hook_event_name: PreToolUse, tool_name: Bash}
`

func TestModel(t *testing.T) {
	for _, tt := range []struct{ name, text, difference string }{
		{"an answer", "model: ['{\"ok\": false}']\nwant: {outcome: reject, asked: [{text: 'ok? {', model: default, tools: []}]}", ""},
		{"whole", "model: ['{\"ok\": true}']\nwant: {outcome: pass, asked: [{whole: 'ok?'}]}", "asked[0]"},
		{"a cut answer", "model: {text: '{\"ok\": true}', truncated: true}\nwant: {outcome: pass, failures: {a/PreToolUse/1: output}}", "model must be a list"},
		{"truncated", "model: [{text: '{\"ok\": true}', truncated: true}]\nwant: {outcome: pass, failures: {a/PreToolUse/1: output}}", ""},
		{"an error", "model: [{error: down}]\nwant: {outcome: pass, failures: {a/PreToolUse/1: model}, explain: [down]}", ""},
		{"late", "model: [{late: true}]\nwith: {budget: 20ms}\nwant: {outcome: pass, failures: {a/PreToolUse/1: timeout}}", ""},
		{"no answer", "want: {outcome: pass}", "the model was asked 1 times; the story has 0 answers"},
		{"no model", "model: none\nwant: {load_error: Options.Model is not set}", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			stories, err := story.Load(write(t, "a.yaml", prompted+tt.text))
			if err != nil {
				require.NotEmpty(t, tt.difference)
				require.ErrorContains(t, err, tt.difference)
				return
			}
			r := stories[0].Run(t.Context(), hooks.Hardened, 0)
			if tt.difference == "" {
				assert.Empty(t, r.Differences, r.Explain)
				return
			}
			assert.Contains(t, strings.Join(r.Differences, "\n"), tt.difference)
		})
	}
}

// Every fault of the format has its place.
func TestFormatErrors(t *testing.T) {
	const ok = "story: s\nhooks: {}\npayload: {hook_event_name: Stop}\n"
	for _, tt := range []struct{ name, text, message string }{
		{"no story", "hooks: {}\npayload: {}\nwant: {outcome: pass}", "1:1: error: story is missing"},
		{"unknown key", ok + "wants: {outcome: pass}", `4:1: error: unknown key "wants"; the keys of a story are story, clauses,`},
		{"unknown aspect", ok + "want: {outcome: pass, reasons: x}", `4:23: error: unknown key "reasons"`},
		{"key twice", ok + "story: again", `4:1: error: key "story" is given twice`},
		{"no outcome", ok + "want: {reason: x}", "4:7: error: want.outcome is missing"},
		{"unknown outcome", ok + "want: {outcome: block}", `4:17: error: want.outcome must be one of pass, allow, reject, deny, ask, not "block"`},
		{"outcome and error", ok + "want: {outcome: pass, error: x}", "4:7: error: want has an outcome beside an error"},
		{"wrong type", ok + "want: {outcome: pass, fates: [ran]}", "4:30: error: want.fates must be a mapping, not a list"},
		{"null text", ok + "want: {outcome: pass, reason: }", `4:31: error: want.reason must be a text, not nothing (an empty text is written "")`},
		{"wrong fate", ok + "want: {outcome: pass, fates: {a: run}}", `4:34: error: want.fates.a must be one of ran,`},
		{"no hooks", "story: s\npayload: {}\nwant: {outcome: pass}", "1:1: error: hooks is missing"},
		{"no payload", "story: s\nwant: {outcome: pass}", "1:1: error: payload is missing"},
		{"two payloads", ok + "payload_file: x\nwant: {outcome: pass}", "4:1: error: payload and payload_file are both given"},
		{"no such payload", "story: s\npayload_file: nosuch.json", "2:15: error: payload_file: cannot be read: no such file"},
		{"payload is a list", "story: s\npayload: [1]", "2:10: error: payload (a mapping, or JSON as text) must be a text, not a list"},
		{"no JSON", "story: s\npayload: {a: .nan}", `2:14: error: ".nan" is nothing that JSON can say`},
		{"alias", "story: s\npayload: {a: &x 1, b: *x}", "2:23: error: JSON is written out here, not as a YAML alias"},
		{"merge", "story: s\npayload: {<<: {a: 1}}", "2:11: error: a key of a JSON object must be a plain text"},
		{"with", ok + "with: {childs: true}", `4:8: error: unknown key "childs"`},
		{"bool", ok + "with: {child: yes please}", `4:15: error: with.child must be true or false, not "yes please"`},
		{"duration", ok + "with: {budget: 1}", `4:16: error: with.budget must be a duration such as 200ms or 2s, not "1"`},
		{"number", ok + "with: {limits: {depth: deep}}", `4:24: error: with.limits.depth must be a whole number, not "deep"`},
		{"tier", "story: s\nhooks: {global: []}", `2:9: error: unknown key "global"; the keys of hooks are system, agent, user`},
		{"hook", "story: s\nhooks: {user: [[]]}", "2:16: error: an entry of hooks.user must be"},
		{"answer", ok + "model: [{txt: x}]", `4:10: error: unknown key "txt"`},
		{"conduct", ok + "conduct: both\nwant: {contract: {outcome: pass}}", "1:1: error: want has no part for conduct hardened"},
		{"other conduct", ok + "conduct: contract\nwant: {contract: {outcome: pass}, hardened: {outcome: pass}}", "1:1: error: want has a part for hardened, but conduct is contract"},
		{"then", ok + "then: {}", "4:7: error: then must be a list, not a mapping"},
		{"a list", "- story: s", "1:1: error: a story must be a mapping of story,"},
		{"no YAML", "story: [", "error: is not valid YAML"},
		{"no UTF-8", "story: \xff", "error: is not UTF-8"},
		{"empty", "", "no stories"},
		{"second document", ok + "want: {outcome: pass}\n---\nstory: t\npayload: {}\nwant: {outcome: x}", "8:17: error: want.outcome must be one of"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := write(t, "a.yaml", tt.text)
			_, err := story.Load(file)
			var fe *story.FormatError
			require.True(t, errors.As(err, &fe), "%v", err)
			assert.Contains(t, err.Error(), file+":")
			assert.Contains(t, err.Error(), tt.message)
		})
	}
}

// In a folder, hook files are left alone, but not a misspelled story.
func TestLoadFolder(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	put("guard.yaml", "hooks: {Stop: [{type: command, command: exit 0}]}")
	put("notes.txt", "story: no")
	put(".hidden/a.yaml", "story: no")
	_, err := story.Load(dir)
	require.ErrorContains(t, err, "no stories: a story is a YAML document with the key story")

	put("b.yml", "story: b\nhooks: {user: guard.yaml}\npayload: {hook_event_name: Stop}\nwant: {outcome: pass, fates: {guard/Stop/1: ran}}")
	put("sub/a.yaml", "story: a\nhooks: {user: ../guard.yaml}\npayload: {hook_event_name: Stop}\nwant: {outcome: pass}")
	stories, err := story.Load(dir)
	require.NoError(t, err)
	require.Len(t, stories, 2)
	for i, sentence := range []string{"b", "a"} {
		assert.Equal(t, sentence, stories[i].Sentence)
		assert.Empty(t, stories[i].Run(t.Context(), hooks.Contract, 0).Differences)
	}

	put("c.yaml", "stroy: c\nwant: {outcome: pass}")
	_, err = story.Load(dir)
	require.ErrorContains(t, err, `unknown key "stroy"`)
	_, err = story.Load(filepath.Join(dir, "nosuch"))
	require.ErrorContains(t, err, "nosuch: error: ")
}

// What the loader says about a hook in a story names the line of the story.
func TestHookErrorsHavePlaces(t *testing.T) {
	for place, hook := range map[string]string{
		"8:13": "- hooks:\n        Stop:\n          - type: command\n            comand: exit 0\n",
		"7:9":  "- {hooks: {Stop: [\n        {type: command,\n\n      comand: exit 0}]}}\n",
	} {
		t.Run(place, func(t *testing.T) {
			text := "story: s\nhooks:\n  user:\n    - nosuch.yaml\n    # a comment\n    " + hook + "  agent: []\nwant: {load_error: 'a.yaml:"
			r := tell(t, text+place+": error: neither command nor script'}")
			assert.Empty(t, r.Differences)
			assert.Contains(t, r.Explain, "nosuch.yaml: error: ")
			assert.Contains(t, r.Explain, "comand")
		})
	}
}

func TestSkip(t *testing.T) {
	r := tell(t, "story: s\nhooks: {}\nneeds: [bash, no-such-program]\npayload: {hook_event_name: Stop}\nwant: {outcome: deny}")
	assert.Equal(t, "needs no-such-program", r.Skipped)
	assert.False(t, r.Failed())
}

func TestTimeout(t *testing.T) {
	stories, err := story.Load(write(t, "a.yaml", "story: s\nhooks:\n  user:\n    - hooks: {Stop: [{type: command, command: sleep 60}]}\npayload: {hook_event_name: Stop}\nwant: {outcome: pass}"))
	require.NoError(t, err)
	start := time.Now()
	r := stories[0].Run(t.Context(), hooks.Contract, 50*time.Millisecond)
	assert.Contains(t, strings.Join(r.Differences, "\n"), "the story did not end in time")
	assert.Less(t, time.Since(start), 20*time.Second)
}

func TestRunAll(t *testing.T) {
	const stories = 6
	var text strings.Builder
	for range stories {
		text.WriteString("---\nstory: s\nconduct: both\nhooks:\n  user:\n    - hooks: {Stop: [{type: command, command: exit 2}]}\npayload: {hook_event_name: Stop}\nwant: {outcome: reject}\n")
	}
	all, err := story.Load(write(t, "a.yaml", text.String()))
	require.NoError(t, err)
	var lines []int
	for r := range story.RunAll(t.Context(), all) {
		assert.Empty(t, r.Differences)
		lines = append(lines, r.Story.Line)
	}
	assert.Len(t, lines, 2*stories)
	assert.IsIncreasing(t, []int{lines[0], lines[2], lines[4]})

	for range story.RunAll(t.Context(), all) {
		break // leaves nothing running
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range story.RunAll(ctx, all) {
		break
	}
}

// What one event leaves to the next.
func TestThen(t *testing.T) {
	r := tell(t, `
story: Metadata travels, unless the call was paused.
hooks:
  user:
    - hooks:
        PreToolUse:
          - {type: command, matcher: "*", command: 'echo ''{"hookSpecificOutput": {"k": 1, "approval": 2}}'''}
        PostToolUse:
          - {type: command, matcher: "*", command: exit 0}
payload: &pre {hook_event_name: PreToolUse, agent_name: a, current_turn: 3, tool_name: T, tool_input: {x: 1.0}, call_id: c}
want: {outcome: pass, metadata: {approval: 2, k: 1}}
then:
  - payload: {hook_event_name: PostToolUse, tool_result: r, approval: 3}
    want:
      outcome: pass
      input: {a/PostToolUse/1: {agent_name: a, current_turn: 3, tool_name: T, tool_input: {x: 1.0}, call_id: c, k: 1, approval: 3}}
  - payload: {hook_event_name: PostToolUse, tool_name: U, tool_result: r}
    want:
      outcome: pass
      input: {a/PostToolUse/1: '{"hook_event_name":"PostToolUse","agent_name":"a","current_turn":3,"max_turns":0,"execution_summary":null,"tool_name":"U","tool_input":null,"tool_result":"r","tool_succeeded":false,"call_id":""}'}
  - payload: {hook_event_name: PreToolUse, tool_name: T}
    want: {outcome: pass}
  - payload: {hook_event_name: PostToolUse, tool_result: null, own: 1}
    with: {resumed: true}
    want:
      outcome: pass
      input: {a/PostToolUse/1: {current_turn: 0, max_turns: 250, own: 1}}
      why: {a/PostToolUse/1: passed}
`)
	assert.Empty(t, r.Differences, r.Explain)
}

// The circumstances of an event reach the runtime, and stay for the next one.
func TestWith(t *testing.T) {
	r := tell(t, `
story: s
hooks:
  system:
    - hooks:
        PreToolUse:
          - {type: command, matcher: "*", command: 'echo ''{"hookSpecificOutput": {"permissionDecision": "ask"}}'''}
  user:
    - metadata: {name: demand}
      spec: {eventType: PreToolUse, activationMode: onDemand, hook: {type: command, matcher: "*", command: exit 0}}
    - metadata: {name: off}
      spec: {eventType: PreToolUse, activationMode: always, hook: {type: command, matcher: "*", command: exit 0}}
    - metadata: {name: strange}
      spec: {eventType: PreToolUse, activationMode: always, hook: {type: command, matcher: "*", command: exit 0}}
payload: {hook_event_name: PreToolUse, tool_name: T}
with: {child: true, activate: [demand], deactivate: [off], untrusted: [strange], limits: {depth: 9, number: 9, stdout: 999, stderr: 9, text: 5}}
want: &w
  outcome: deny
  reason: "A hoo… [cut: 5 of 29 bytes shown]"
  fates: {a/PreToolUse/1: ran, demand: not-reached, "off": inactive, strange: untrusted}
  diagnostics: [kind is missing]
then:
  - payload: {hook_event_name: PreToolUse}
    with: {child: false, limits: {text: 0}}
    want:
      outcome: ask
      question: A hook asks for confirmation.
      fates: {"off": inactive}
  - payload: {hook_event_name: PreToolUse}
    with: {cannot_ask: true}
    want: {outcome: deny}
`)
	assert.Empty(t, r.Differences, r.Explain)
}

func TestTrajectory(t *testing.T) {
	const text = `
hooks:
  user:
    - hooks:
        Stop:
          - type: command
            command: |
              read -r line
              file=${line#*'"execution_summary":"'}
              cat "${file%%'"'*}" >&2
              exit 2
payload: {hook_event_name: Stop}
`
	r := tell(t, "story: s"+text+"with: {trajectory: {turns: [{n: 1}]}}\nwant: {outcome: reject, reason: '{\"turns\":[{\"n\":1}]}'}")
	assert.Empty(t, r.Differences)
	r = tell(t, "story: s"+text+"with: {trajectory: plain}\nwant: {outcome: reject, reason: plain}")
	assert.Empty(t, r.Differences)
	r = tell(t, "story: s"+text+"conduct: hardened\nwith: {trajectory_error: disk full}\nwant: {outcome: pass, explain: [disk full]}")
	assert.Empty(t, r.Differences)
}
