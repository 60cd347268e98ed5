package hooks_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// faults is how many faults were seen in the field; they are numbered from 1.
const faults = 56

// TestFaultsAreHeld: testdata/faults.txt names, for every fault, tests and
// stories that exist.
func TestFaultsAreHeld(t *testing.T) {
	data, err := os.ReadFile("testdata/faults.txt")
	require.NoError(t, err)
	tests, stories := testNames(t), map[string]bool{}
	for _, s := range loadStories(t) {
		stories[s.Sentence] = true
	}
	held, fault := map[string]int{}, ""
	for i, line := range strings.Split(string(data), "\n") {
		at := fmt.Sprintf("testdata/faults.txt:%d", i+1)
		holder, indented := strings.CutPrefix(line, "\t")
		sentence, isStory := strings.CutPrefix(holder, "story ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case !indented:
			fault, _, _ = strings.Cut(line, " ")
			if _, twice := held[fault]; twice {
				t.Errorf("%s: %s stands twice", at, fault)
			}
			held[fault] = 0
			continue
		case isStory && !stories[sentence]:
			t.Errorf("%s: there is no story %q", at, sentence)
		case !isStory && !tests[holder]:
			t.Errorf("%s: there is no test %q", at, holder)
		}
		held[fault]++
	}
	for n := 1; n <= faults; n++ {
		if f := fmt.Sprintf("F%02d", n); held[f] == 0 {
			t.Errorf("testdata/faults.txt: nothing holds %s", f)
		}
	}
	if len(held) != faults {
		t.Errorf("testdata/faults.txt has %d faults, not %d", len(held), faults)
	}
}

// testNames are the tests and fuzz targets of the module: Name in this package,
// folder.Name elsewhere.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	var files []string
	for _, pattern := range []string{"*_test.go", "*/*_test.go", "*/*/*_test.go"} {
		more, err := filepath.Glob(pattern)
		require.NoError(t, err)
		files = append(files, more...)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		prefix := ""
		if dir := filepath.Dir(file); dir != "." {
			prefix = filepath.ToSlash(dir) + "."
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && (strings.HasPrefix(f.Name.Name, "Test") || strings.HasPrefix(f.Name.Name, "Fuzz")) {
				names[prefix+f.Name.Name] = true
			}
		}
	}
	return names
}
