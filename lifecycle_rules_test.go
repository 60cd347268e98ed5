package hooks

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLifecycleRules holds testdata/lifecycle-rules.txt against the tests: each
// rule names one that exists, with its subtest.
func TestLifecycleRules(t *testing.T) {
	tests := map[string]map[string]bool{} // test to the texts in it
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil {
				continue
			}
			texts := map[string]bool{}
			ast.Inspect(fn, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if s, err := strconv.Unquote(lit.Value); err == nil {
						texts[s] = true
					}
				}
				return true
			})
			tests[fn.Name.Name] = texts
		}
	}
	data, err := os.ReadFile("testdata/lifecycle-rules.txt")
	require.NoError(t, err)
	rules := 0
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		rules++
		parts := strings.Split(line, " | ")
		require.Len(t, parts, 3, "line %d", i+1)
		test, sub, _ := strings.Cut(parts[2], "/")
		texts, ok := tests[test]
		if !ok {
			t.Errorf("line %d: there is no %s", i+1, test)
		} else if sub != "" && !texts[sub] {
			t.Errorf("line %d: %s has no subtest %q", i+1, test, sub)
		}
	}
	require.Greater(t, rules, 100)
}
