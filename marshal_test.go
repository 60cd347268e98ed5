package hooks_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/hookruntime/hooks"
)

// sayable is a random hook that the YAML shape can say.
type sayable hooks.Hook

func (sayable) Generate(r *rand.Rand, size int) reflect.Value {
	// Texts that YAML writers and readers have been seen to change.
	parts := []string{
		"a", "ok", " ", "  ", "\n", "\n\n", "\t", "#", ": ", "- ", "'", `"`, `\`, "*", "&", "!", "|", ">", "%", "@", "`", "---", "\n---\n",
		"...", "~", "null", "Yes", "123", "0x1", "1e3", "ü", "\u00a0", "\u0085", "\u2028", "\ufeff", "\r", "{", "}", "[", "]", ",", "<<", "=", "\x1b", "\U0001f600",
	}
	text := func(begin string) string {
		var b strings.Builder
		b.WriteString(begin)
		for range r.Intn(8) {
			b.WriteString(parts[r.Intn(len(parts))])
		}
		s := b.String()
		for strings.Contains(s, "\r\n") { // again: "\r\r\n" leaves one
			s = strings.ReplaceAll(s, "\r\n", "\n")
		}
		return s
	}
	line := func(begin string) string {
		return strings.Map(func(c rune) rune {
			if c < ' ' || c == '\u0085' {
				return 'x'
			}
			return c
		}, text(begin))
	}
	pick := func(words ...string) string { return words[r.Intn(len(words))] }
	h := hooks.Hook{
		Name:     pick("guard", "123", "Yes", "null", "1e3", "-", "a_b-C"),
		On:       hooks.EventName(pick("Start", "PreToolUse", "PostToolUse", "Stop")),
		Tier:     hooks.Tier(1 + r.Intn(3)),
		Matcher:  pick("*", "Bash", "A|B", "^(?!mcp__).*$", "'", "123", "~", "~*", "yes", "- a"),
		OnDemand: r.Intn(2) == 0,
		Timeout:  time.Duration(r.Intn(500)) * time.Second,
		FailMode: hooks.FailMode(r.Intn(3)), Independent: r.Intn(2) == 0,
	}
	if h.On == hooks.OnStart && r.Intn(2) == 0 {
		h.Sources = []string{line("Alert"), line("123")}
	}
	switch r.Intn(3) {
	case 0:
		h.Run = hooks.Command{Line: text(pick("a", "*", "- ", "yes"))}
	case 1:
		h.Run = hooks.Command{Script: pick("#!/bin/bash\n", "#!/bin/bash -eu\n", "#!/usr/bin/env python3\n") + text("")}
	case 2:
		h.Run = hooks.Prompt{Text: text(pick("ok", "\nok", " ok", "\tok")), Model: text(""), MaxRejections: r.Intn(26)}
	}
	return reflect.ValueOf(sayable(h))
}

// What is written loads as the same hook, in every tier.
func TestMarshalLoadIdentity(t *testing.T) {
	err := quick.Check(func(s sayable) bool {
		want := hooks.Hook(s)
		data, err := yaml.Marshal(want)
		if !assert.NoError(t, err, "%#v", want) {
			return false
		}
		got, _, err := hooks.Parse(want.Tier, "a.yaml", data)
		return assert.NoError(t, err, "%s", data) && assert.Equal(t, []hooks.Hook{want}, got, "%s", data)
	}, &quick.Config{MaxCount: 3000})
	assert.NoError(t, err)
}

// What is loaded is written, and loads again as the same.
func TestLoadMarshalIdentity(t *testing.T) {
	files, err := filepath.Glob("testdata/config/good/*")
	require.NoError(t, err)
	for _, f := range files {
		want, _, err := hooks.Load(hooks.TierAgent, f)
		require.NoError(t, err)
		var data []byte
		switch {
		case want[0].Agent != "":
			data, err = hooks.MarshalAgent(want[0].Agent, want...)
		case strings.Contains(want[0].Name, "/"):
			continue // named after its file, which is no name to write
		default:
			data, err = yaml.Marshal(want[0])
			want = want[:1]
		}
		require.NoError(t, err, f)
		got, warnings, err := hooks.Parse(hooks.TierAgent, "a.yaml", data)
		require.NoError(t, err, f)
		assert.Empty(t, warnings, f)
		assert.Equal(t, want, got, "%s:\n%s", f, data)
	}
}

// What the shape cannot say is an error that names the field.
func TestMarshalRefuses(t *testing.T) {
	good := hooks.Hook{
		Name: "guard", On: hooks.OnPreToolUse, Tier: hooks.TierAgent, Matcher: "*",
		Run: hooks.Command{Script: "#!/bin/bash\nexit 0\n"},
	}
	for key, change := range map[string]func(h *hooks.Hook){
		"type": func(h *hooks.Hook) {
			h.Run = hooks.Func(func(context.Context, hooks.Call) (hooks.Result, error) { return hooks.Result{}, nil })
		},
		"dir":       func(h *hooks.Hook) { h.Run = hooks.Command{Line: "a", Dir: "sub"} },
		"env":       func(h *hooks.Hook) { h.Run = hooks.Command{Line: "a", Env: []string{"A=b"}} },
		"timeout":   func(h *hooks.Hook) { h.Timeout = 1500 * time.Millisecond },
		"agent":     func(h *hooks.Hook) { h.Agent = "deployer" },
		"name":      func(h *hooks.Hook) { h.Name = "deployer/Stop/1" },
		"script":    func(h *hooks.Hook) { h.Run = hooks.Command{Script: "#!/bin/bash\r\nexit 0\r\n"} },
		"command":   func(h *hooks.Hook) { h.Run = hooks.Command{Line: "\xff"} },
		"eventType": func(h *hooks.Hook) { h.On = "BeforeTool" },
		"tier":      func(h *hooks.Hook) { h.Tier = 0 },
	} {
		h := good
		change(&h)
		_, err := h.MarshalYAML()
		var ce *hooks.ConfigError
		if assert.ErrorAs(t, err, &ce, key) {
			assert.Len(t, ce.Diagnostics, 1, key)
			assert.Equal(t, key, ce.Diagnostics[0].Key, "%v", err)
		}
		_, err = yaml.Marshal(map[string]hooks.Hook{"a": h})
		assert.True(t, errors.As(err, &ce), "%s: the encoder passes the error on", key)
	}
	_, err := hooks.MarshalAgent("deployer", good)
	assert.ErrorContains(t, err, `the shape would name this hook "deployer/PreToolUse/1"`)
	assert.ErrorContains(t, err, `agent "": the hooks are written for agent "deployer"`)
}

func ExampleHook_MarshalYAML() {
	guard := hooks.Hook{
		Name: "guard", On: hooks.OnPreToolUse, Tier: hooks.TierUserGlobal,
		Matcher: "*", Timeout: 5 * time.Second, FailMode: hooks.FailBlock,
		Run: hooks.Command{Script: "#!/bin/bash\ngrep -q 'rm -rf' && exit 2\nexit 0\n"},
	}
	enc := yaml.NewEncoder(os.Stdout)
	enc.SetIndent(2)
	if err := enc.Encode(guard); err != nil {
		fmt.Println(err)
	}
	// Output:
	// api_version: azuresre.ai/v2
	// kind: Hook
	// metadata:
	//   name: guard
	// spec:
	//   eventType: PreToolUse
	//   activationMode: always
	//   hook:
	//     type: command
	//     matcher: '*'
	//     timeout: 5
	//     failMode: block
	//     script: |
	//       #!/bin/bash
	//       grep -q 'rm -rf' && exit 2
	//       exit 0
}

func ExampleMarshalAgent() {
	data, err := hooks.MarshalAgent("deployer", hooks.Hook{
		Name: "deployer/Stop/1", On: hooks.OnStop, Tier: hooks.TierAgent, Agent: "deployer",
		Run: hooks.Prompt{Text: `Is the work done? Answer {"ok": true} or {"ok": false, "reason": "…"}. $ARGUMENTS`},
	})
	fmt.Print(string(data), err)
	// Output:
	// api_version: azuresre.ai/v2
	// kind: ExtendedAgent
	// metadata:
	//   name: deployer
	// spec:
	//   hooks:
	//     Stop:
	//       - type: prompt
	//         prompt: 'Is the work done? Answer {"ok": true} or {"ok": false, "reason": "…"}. $ARGUMENTS'
	// <nil>
}
