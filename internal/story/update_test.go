package story_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookruntime/hooks/internal/story"
)

// update runs the stories of a text, updates the file and returns it.
func update(t *testing.T, text string) string {
	t.Helper()
	file := write(t, "a.yaml", text)
	stories, err := story.Load(file)
	require.NoError(t, err)
	var results []*story.Result
	for r := range story.RunAll(t.Context(), stories) {
		results = append(results, r)
	}
	changed, err := story.Update(results)
	require.NoError(t, err)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	if string(data) == text {
		assert.Empty(t, changed)
	} else {
		assert.Equal(t, []string{file}, changed)
		stories, err = story.Load(file)
		require.NoError(t, err, "%s", data)
		for r := range story.RunAll(t.Context(), stories) {
			assert.Empty(t, r.Differences, "%s", data)
		}
	}
	return string(data)
}

// blocking is a story up to its want, with things that an update must not touch.
const blocking = `# Head.

story:   "oddly   spaced"   # and quoted
hooks:
  agent:
  - hooks:
      Stop:
      - type: command
        command: |
          # not a comment of YAML
          printf 'one\n# two' >&2; exit 2
payload: {hook_event_name: Stop,   final_output: "a\u00e9"}
`

func TestUpdate(t *testing.T) {
	for _, tt := range []struct{ name, before, after string }{
		{
			"what is right stays as it is written",
			blocking + "want: {  outcome: reject , reason: \"one\\n# two\" }\n# tail\n",
			blocking + "want: {  outcome: reject , reason: \"one\\n# two\" }\n# tail\n",
		}, {
			"what is wrong is written anew, with its comments",
			blocking + "want:\n  # about the outcome\n  outcome: pass # beside it\n  by: a/Stop/1\n  reason: nothing\n\n# tail\n",
			blocking + "want:\n  # about the outcome\n  outcome: reject # beside it\n  by: a/Stop/1\n  reason: |-\n    one\n    # two\n\n# tail\n",
		}, {
			"a want between braces is written in lines",
			blocking + "want: {outcome: pass, fates: {a/Stop/1: no-match}}\n",
			blocking + "want:\n  outcome: reject\n  fates: {a/Stop/1: ran}\n",
		}, {
			"a missing want is written at the end",
			blocking,
			blocking + "want:\n  outcome: reject\n  reason: |-\n    one\n    # two\n  by: a/Stop/1\n",
		}, {
			"an open want is filled, in front of what follows it",
			blocking + "want: # to do\n# about conduct\nconduct: hardened\n---\n# next\nstory: next\nhooks: {}\npayload: {hook_event_name: Stop}\nwant: {outcome: pass}",
			blocking + "want:\n  outcome: reject\n  reason: |-\n    one\n    # two\n  by: a/Stop/1\n# about conduct\nconduct: hardened\n---\n# next\nstory: next\nhooks: {}\npayload: {hook_event_name: Stop}\nwant: {outcome: pass}",
		}, {
			"a block that holds what looks like a comment ends behind it",
			blocking + "want:\n  outcome: pass\n  reason: |-\n    x\n    # y\n# tail\n",
			blocking + "want:\n  outcome: reject\n  reason: |-\n    one\n    # two\n# tail\n",
		}, {
			"texts that name a part stay where they fit",
			blocking + "want: {outcome: pass, why: {a/Stop/1: decided}, explain: [decided by]}\n",
			blocking + "want:\n  outcome: reject\n  why: {a/Stop/1: decided}\n  explain: [decided by]\n",
		}, {
			"a file without a last newline",
			"story: s\nhooks: {}\npayload: {hook_event_name: Stop}",
			"story: s\nhooks: {}\npayload: {hook_event_name: Stop}\nwant:\n  outcome: pass\n",
		}, {
			"a refused event",
			"story: s\nhooks: {}\npayload: {hook_event_name: Halt}\nwant: {outcome: pass, reason: \"\"}\n",
			"story: s\nhooks: {}\npayload: {hook_event_name: Halt}\nwant:\n  error: 'hooks: event hook_event_name: it must be exactly Start, PreToolUse, PostToolUse or Stop'\n",
		}, {
			"conducts that differ get a part each",
			"story: s\nconduct: both\nhooks:\n  user:\n    - hooks:\n        Stop: [{type: command, command: 'echo ''{\"ok\": false, \"reason\": \" \"}'''}]\npayload: {hook_event_name: Stop}\nwant: {outcome: pass}\n",
			"story: s\nconduct: both\nhooks:\n  user:\n    - hooks:\n        Stop: [{type: command, command: 'echo ''{\"ok\": false, \"reason\": \" \"}'''}]\npayload: {hook_event_name: Stop}\nwant:\n  contract:\n    outcome: pass\n  hardened:\n    outcome: reject\n",
		}, {
			"parts of a conduct",
			blocking + "want:\n  contract:\n    outcome: reject\n  hardened:\n    outcome: pass\n    by: \"\"\n",
			blocking + "want:\n  contract:\n    outcome: reject\n  hardened:\n    outcome: reject\n    by: a/Stop/1\n",
		}, {
			"events that follow",
			blocking + "want: {outcome: reject}\nthen:\n  - want: {outcome: pass}\n    payload: {hook_event_name: Stop}\n  # about the next\n  - payload: {hook_event_name: Stop}\n  - payload: {hook_event_name: Start}\n    want:\n      outcome: deny\n# tail\n",
			blocking + "want: {outcome: reject}\nthen:\n  - want:\n      outcome: reject\n    payload: {hook_event_name: Stop}\n  # about the next\n  - payload: {hook_event_name: Stop}\n    want:\n      outcome: reject\n      reason: |-\n        one\n        # two\n      by: a/Stop/1\n  - payload: {hook_event_name: Start}\n    want:\n      outcome: pass\n# tail\n",
		}, {
			"metadata keeps digits",
			"story: s\nhooks:\n  user:\n    - hooks:\n        PreToolUse: [{type: command, matcher: '*', command: 'echo ''{\"hookSpecificOutput\": {\"k\": {\"n\": 12345678901234567890.10, \"s\": \"1\", \"e\": []}}}'''}]\npayload: {hook_event_name: PreToolUse, tool_name: T}\n",
			"story: s\nhooks:\n  user:\n    - hooks:\n        PreToolUse: [{type: command, matcher: '*', command: 'echo ''{\"hookSpecificOutput\": {\"k\": {\"n\": 12345678901234567890.10, \"s\": \"1\", \"e\": []}}}'''}]\npayload: {hook_event_name: PreToolUse, tool_name: T}\nwant:\n  outcome: pass\n  metadata:\n    k:\n      n: 12345678901234567890.10\n      s: \"1\"\n      e: []\n",
		}, {
			"a skipped story is left alone",
			"story: s\nneeds: [no-such-program]\nhooks: {}\npayload: {hook_event_name: Stop}\nwant: {outcome: deny}\n",
			"story: s\nneeds: [no-such-program]\nhooks: {}\npayload: {hook_event_name: Stop}\nwant: {outcome: deny}\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.after, update(t, tt.before))
			assert.Equal(t, tt.after, update(t, tt.after), "a second time changes nothing")
		})
	}
}

// A want that stands between braces with its event has no lines of its own.
func TestUpdateRefusesBraces(t *testing.T) {
	stories, err := story.Load(write(t, "a.yaml", "{story: s, hooks: {}, payload: {hook_event_name: Stop}, want: {outcome: deny}}"))
	require.NoError(t, err)
	r := stories[0].Run(t.Context(), stories[0].Conducts[0], 0)
	changed, err := story.Update([]*story.Result{r})
	assert.Empty(t, changed)
	assert.ErrorContains(t, err, "a.yaml:1: a want between braces cannot be rewritten")
}
