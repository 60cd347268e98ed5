package hooks_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/hookruntime/hooks"
)

// FuzzLoad looks for files that make the loader panic, hang or allocate more
// than 1 MB per KB, that are neither loaded nor refused, or that load as
// hooks which do not survive being written.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"good", "bad", "wild"} {
		files, err := filepath.Glob("testdata/config/" + pattern + "/*")
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			if len(data) < 4<<10 {
				f.Add(strings.HasSuffix(name, ".json"), data)
			}
		}
	}
	for _, s := range costly(1) {
		f.Add(false, []byte(s))
		f.Add(true, []byte(s))
	}
	f.Fuzz(func(t *testing.T, json bool, data []byte) {
		name := "fuzz.yaml"
		if json {
			name = "fuzz.json"
		}
		for _, tier := range []hooks.Tier{hooks.TierAgent, hooks.TierUserGlobal} {
			loaded, warnings, err := parseWithin(t, tier, name, data)
			if (err == nil) == (len(loaded) == 0) {
				t.Fatalf("%d hooks beside the error %v", len(loaded), err)
			}
			lines := bytes.Count(data, []byte("\n")) + 1
			found := warnings
			if ce := (*hooks.ConfigError)(nil); errors.As(err, &ce) {
				found = append(found, ce.Diagnostics...)
			}
			for _, d := range found {
				if d.File != name || d.Line < 1 || d.Line > lines || d.Column < 1 || d.Message == "" {
					t.Errorf("no place in %d lines: %#v", lines, d)
				}
				if len(d.Message) > 1000 {
					t.Errorf("a message of %d bytes", len(d.Message))
				}
			}
			for _, h := range loaded {
				if h.Agent != "" || strings.Contains(h.Name, "/") {
					continue
				}
				written, err := yaml.Marshal(h)
				if err != nil {
					t.Fatalf("%v: %#v", err, h)
				}
				again, _, err := hooks.Parse(tier, "again.yaml", written)
				if err != nil || !reflect.DeepEqual(again, []hooks.Hook{h}) {
					t.Fatalf("%#v was written as\n%s\nand read as %#v, %v", h, written, again, err)
				}
			}
		}
	})
}

// parseWithin is Parse that fails the test when it allocates too much.
func parseWithin(t *testing.T, tier hooks.Tier, name string, data []byte) ([]hooks.Hook, []hooks.Diagnostic, error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	loaded, warnings, err := hooks.Parse(tier, name, data)
	runtime.ReadMemStats(&after)
	if used, most := after.TotalAlloc-before.TotalAlloc, uint64(max(len(data), 1<<10))<<10; used > most {
		t.Errorf("%d bytes of %s cost %d bytes, more than %d: %.80q", len(data), name, used, most, data)
	}
	return loaded, warnings, err
}

// costly are texts that have made readers expensive, n times 1 KB large or
// more.
func costly(n int) []string {
	r := func(s string) string { return strings.Repeat(s, (n<<10)/len(s)+1) }
	bomb := "a: &a [x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 8) + "]\n"
	}
	item := func(hook string) string { return "hooks:\n  PreToolUse:\n" + r("  - "+hook+"\n") }
	matcher := func(p string) string {
		return "hooks:\n  PreToolUse:\n  - {type: command, command: a, matcher: '" + p + "'}\n"
	}
	return []string{
		bomb, "hooks: *a\n" + bomb, bomb + "hooks: {Stop: *j}\n",
		r("["), r("{"), r("- "), r("? "), r("- ? "), r("{a: "), r("[[],"), "[" + r("[],"+"{},") + "]", r("&a "), r("!a "), r("*a "),
		r("---\n"), r("---\n@\n"), r("--- a\n"), r("---\n{}\n"), r("---\nhooks: 1\n"), r("%TAG !a! b\n"), r("#\n"), r(" #x\n- b\n"), r("'"), r("\""),
		"a:\n" + r(" "), "a: |\n" + r("\n"), r("a:\n"), r("a: 1\n"), r("? a\n"), r("fail_mode: 1\n"), "hooks:\n" + r(" Stap: 1\n"), "hooks:\n" + r(" Stop:\n"),
		item("1"), item("{}"), item("[]"), item("*a"), item("{type: prompt}"), item("{typ: 1}"), item("{type: command, command: a}"),
		item("{a: 1}"), item("{<<: 1}"), item("{type: command, command: a, matcher: '(?i)[a-z]'}"),
		matcher(r("(") + r(")")), matcher(r("(a|") + r(")")), matcher(r("a|b*|")), matcher(r("[a-")), matcher(r("(?i)[^a]")), matcher(r(`\p{L}`)), matcher(r("a{9}{9}")),
		"metadata: {name: g}\nspec:\n  eventType: Stop\n  hook:\n    type: command\n    script: |\n" + r("      \r\n"),
	}
}

// No file costs more than 1 MB of allocations per KB, whatever its size.
func TestLoadCost(t *testing.T) {
	sizes := []int{1, 10, 200}
	if testing.Short() {
		sizes = sizes[:2]
	}
	for _, n := range sizes {
		for _, s := range costly(n) {
			parseWithin(t, hooks.TierUserGlobal, "a.yaml", []byte(s))
			parseWithin(t, hooks.TierUserGlobal, "a.json", []byte(s))
		}
	}
}
