package hooks_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookruntime/hooks"
)

// F17: what YAML makes of a matcher.
func TestMatcherScalars(t *testing.T) {
	for _, c := range []struct{ yaml, want, finding string }{
		{`"*"`, "*", ""},
		{`'*'`, "*", ""},
		{`123`, "123", ""},
		{`1e3`, "1e3", ""},
		{`Yes`, "Yes", ""},
		{`2024-01-01`, "2024-01-01", ""},
		{`!!str 0x1F`, "0x1F", ""},
		{`'\bBash\b'`, `\bBash\b`, ""},
		{`^(delete_|remove_).*`, `^(delete_|remove_).*`, ""},
		{`'^(?!mcp__).*$'`, `^(?!mcp__).*$`, ""},
		{`mcp__x.{1,3}`, `mcp__x.{1,3}`, ""},
		{`mcp__(a|b)_.*`, `mcp__(a|b)_.*`, ""},
		{`Task(Create|Update)?`, `Task(Create|Update)?`, ""},
		{`mcp__srv__(.*)`, `mcp__srv__(.*)`, ""},
		{`""`, "", "never fires"},
		{`~`, "", "never fires"},
		{``, "", "never fires"},
		{`Bash(ls)`, "Bash(ls)", "arguments"},
		{`Edit(src/*)`, "Edit(src/*)", "arguments"},
	} {
		got, warnings, err := hooks.Parse(hooks.TierUserGlobal, "a.yaml",
			fmt.Appendf(nil, "hooks:\n  PreToolUse:\n    - type: command\n      command: ./guard\n      matcher: %s\n", c.yaml))
		if assert.NoError(t, err, c.yaml) {
			assert.Equal(t, c.want, got[0].Matcher, c.yaml)
			assert.Equal(t, c.finding != "", len(warnings) > 0, "%s: %v", c.yaml, warnings)
			if c.finding != "" {
				assert.Contains(t, warnings[0].Message, c.finding)
			}
		}
	}
}

// Lines are those of editors, not of YAML, to which more characters end one.
func TestYAMLLines(t *testing.T) {
	_, _, err := hooks.Parse(hooks.TierUserGlobal, "a.yaml", []byte(
		"x-a: |\r  a\u2028  b\u0085\r\nx-b: b\n---\r\nhooks:\n  Stap: []\n---\nx-a: |\r  a\nhooks:\n  Step: []\n@\n"))
	assert.ErrorContains(t, err, "a.yaml:5:3: error: unknown event Stap")
	assert.ErrorContains(t, err, "a.yaml:10:1: error: not valid YAML")
}

// The parser's own line is often missing or another one.
func TestSyntaxPlaces(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a\n\tb: c\n", "2:2: error: not valid YAML: a tab"},
		{"\ta: c\n", "1:2: error: not valid YAML: a tab"},
		{"hooks:\n  Stop: *x\n", "2:9: error: an unquoted *"},
		{"hooks: [a\n", "1:1: error: not valid YAML: a bracket is opened"},
		{"a: 1\nb: {a\nc: 1\n", "2:1: error: not valid YAML: a bracket is opened"},
		{"a: \"b\n", "1:1: error: not valid YAML: a quotation mark is opened"},
		{"a: 1\nb: 'b\nc: 1\n", "2:1: error: not valid YAML: a quotation mark is opened"},
		{"a: 1\n- b\nc: 1\n", "2:1: error: not valid YAML"},
		{"a: |\n  x\n y\n", "3:2: error: not valid YAML"},
		{"hooks:\n  Stop:\n    - type: command\n      command: a\n     timeout: 3\n  Start:\n", "5:6: error: not valid YAML"},
		{"a:\n  b:\n    c: d\n    # why\n\n   e: f\n\n# more\n\ng: 1\n", "6:4: error: not valid YAML"},
		{"hooks: {}\n---\na: 'b\n---\nc: d\n", "3:1: error: not valid YAML: a quotation mark is opened"},
	} {
		_, _, err := hooks.Parse(hooks.TierUserGlobal, "a.yaml", []byte(c.text))
		assert.ErrorContains(t, err, "a.yaml:"+c.want, "%q", c.text)
	}
}

// A finding is one line, whatever the file holds.
func TestFindingsAreLines(t *testing.T) {
	_, _, err := hooks.Parse(hooks.TierUserGlobal, "a.yaml", []byte(`hooks: {"St\nap": [], Stop: [{type: "a\n\e[1mb", "c\rd": 1, "c\rd": 1}]}`))
	assert.Equal(t, `hooks: a.yaml:1:9: error: unknown event St\nap; it must be Start, PreToolUse, PostToolUse or Stop
a.yaml:1:31: error: type is the text "a\n\x1b[1mb"; it must be command or prompt
a.yaml:1:61: error: key c\rd is given twice, in line 1 and in line 1`, err.Error())
}

// CRLF in a block, in quotes and in JSON: always LF, always said.
func TestScriptCRLF(t *testing.T) {
	for name, data := range map[string]string{
		"block.yaml":  "hooks:\r\n  Stop:\r\n    - type: command\r\n      script: |\r\n        #!/bin/bash -e\r\n        exit 0\r\n",
		"quotes.yaml": "hooks:\n  Stop:\n    - type: command\n      script: \"#!/bin/bash -e\\r\\nexit 0\\r\\n\"\n",
		"json.json":   `{"hooks": {"Stop": [{"type": "command", "script": "#!/bin/bash -e\r\nexit 0\r\n"}]}}`,
	} {
		got, warnings, err := hooks.Parse(hooks.TierUserGlobal, name, []byte(data))
		require.NoError(t, err, name)
		assert.Equal(t, "#!/bin/bash -e\nexit 0\n", got[0].Run.(hooks.Command).Script, name)
		if assert.Len(t, warnings, 1, name) {
			assert.Contains(t, warnings[0].Message, "CRLF", name)
		}
	}
}
