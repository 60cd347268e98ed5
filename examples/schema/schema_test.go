package schema

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/hookruntime/hooks"
)

const config = "../../testdata/config/"

// beyond are the faults that no schema sees: they are in what a text means, or
// in how the file is written.
var beyond = map[string]bool{
	"agent-broken-matcher.yaml": true, "matcher-broken.yaml": true, "matcher-broken-wrapped.yaml": true, "matcher-broken-post.yaml": true,
	"matcher-argument.yaml": true, "matcher-argument-colon.yaml": true, "matcher-space.yaml": true, "matcher-space-bar.yaml": true,
	"matcher-comma.yaml": true, "matcher-backspace.yaml": true, "matcher-on-start.yaml": true, "matcher-on-stop.yaml": true,
	"agent-event-twice.yaml": true, // in two letter cases
	"name-twice.yaml":        true, // over documents
	"name-system.yaml":       true, // the system tier may
	"command-nul.yaml":       true,
	"failmode-stop.yaml":     true,
	"prompt-no-ok.yaml":      true, "prompt-on-start.yaml": true,
	"timeout-long.yaml": true,
	"timeout-hex.yaml":  true, "timeout-octal.yaml": true, "timeout-underscore.yaml": true, // one number, other spellings
	"timeout-exponent.yaml": true, "json-timeout-fraction.json": true,
	"script-crlf.yaml":   true,
	"script-folded.yaml": true,
	"key-merge.yaml":     true, "value-alias.yaml": true, // the parser resolves them
	"json-duplicate.json": true,
	"hooks-empty.yaml":    true,
	"utf16.yaml":          true,
}

func TestGoodFiles(t *testing.T) {
	s, err := Compile()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(config + "good/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	folder, _ := filepath.Glob(config + "folder/[0-9]*")
	for _, f := range append(files, folder...) {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := Validate(s, f, data); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// The bad files are refused, but for the faults listed above.
func TestBadFiles(t *testing.T) {
	s, err := Compile()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(config + "bad/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	wild, _ := filepath.Glob(config + "wild/*")
	for _, f := range append(files, wild...) {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := Validate(s, f, data); (err == nil) != beyond[filepath.Base(f)] {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// What the library writes is what the schema describes.
func TestWritten(t *testing.T) {
	s, err := Compile()
	if err != nil {
		t.Fatal(err)
	}
	loaded, _, err := hooks.Load(hooks.TierUserGlobal, config+"good/contract.yaml", config+"good/rest.json", config+"good/several.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range loaded {
		data, err := yaml.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		if err := Validate(s, "a.yaml", data); err != nil {
			t.Errorf("%s%v", data, err)
		}
	}
	agent, _, err := hooks.Load(hooks.TierAgent, config+"good/agent.yaml")
	if err != nil {
		t.Fatal(err)
	}
	data, err := hooks.MarshalAgent("deployer", agent...)
	if err != nil {
		t.Fatal(err)
	}
	if err := Validate(s, "a.yaml", data); err != nil {
		t.Errorf("%s%v", data, err)
	}
	if !strings.HasPrefix(string(hooks.Schema()), "{") {
		t.Error("the schema is no object")
	}
}
