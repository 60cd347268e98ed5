package hooks_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookruntime/hooks"
)

func readme(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("README.md")
	require.NoError(t, err)
	return strings.ReplaceAll(string(data), "\r\n", "\n")
}

// The loop in the README is the one that Example_loop runs.
func TestReadmeShowsTheExample(t *testing.T) {
	source, err := os.ReadFile("example_loop_test.go")
	require.NoError(t, err)
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", source, parser.ParseComments)
	require.NoError(t, err)
	from, to := token.NoPos, token.NoPos
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.Name == "runAgent" {
				from = d.Doc.Pos()
			}
		case *ast.GenDecl:
			if d.Tok == token.TYPE {
				to = d.End()
			}
		}
	}
	require.True(t, from.IsValid() && to > from)
	want := strings.ReplaceAll(string(source[fset.Position(from).Offset:fset.Position(to).Offset]), "\r\n", "\n")

	_, rest, found := strings.Cut(readme(t), "```go\n")
	require.True(t, found)
	block, _, _ := strings.Cut(rest, "\n```")
	assert.Equal(t, want, block)
}

// The README's table of verdict spellings is run, row by row (F19).
func TestReadmeVerdictTable(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| `(\\{.*\\})` \\| (.*) \\| (.*) \\|$").FindAllStringSubmatch(readme(t), -1)
	require.NotEmpty(t, rows)
	for _, row := range rows {
		for i, conduct := range []hooks.Conduct{hooks.Contract, hooks.Hardened} {
			assert.Equal(t, row[2+i], verdictOf(t, row[1], conduct), "%s in %s conduct", row[1], conduct)
		}
	}
}

// verdictOf evaluates a hook that prints the answer, in the words of the table.
func verdictOf(t *testing.T, answer string, conduct hooks.Conduct) string {
	t.Helper()
	hook := hooks.Hook{
		Name: "hook", Tier: hooks.TierSystem, On: hooks.OnPreToolUse, Matcher: "*",
		FailMode: hooks.FailAllow, Run: hooks.Command{Line: "true"},
	}
	rt, err := hooks.New([]hooks.Hook{hook}, &hooks.Options{Conduct: conduct, Sandbox: printing{answer: answer}})
	require.NoError(t, err)
	d, err := rt.Evaluate(t.Context(), readNotes())
	require.NoError(t, err)
	for s := range d.Steps() {
		if s.Failure != nil {
			return "failMode"
		}
	}
	if len(d.Diagnostics) > 0 {
		return d.Outcome.String() + ", with a diagnostic"
	}
	return d.Outcome.String()
}

// printing is a sandbox in which every process prints the answer. It has no
// files.
type printing struct {
	hooks.Sandbox
	answer string
}

func (p printing) Exec(_ context.Context, proc hooks.Process) (hooks.Exit, error) {
	_, err := io.WriteString(proc.Stdout, p.answer)
	return hooks.Exit{}, err
}

// Every promise of the README names the tests that hold it, and they exist.
func TestReadmePromisesAreHeld(t *testing.T) {
	_, section, found := strings.Cut(readme(t), "## Guaranteed, and not\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n### ")
	tests, promises := testNames(t), 0
	for _, line := range strings.Split(section, "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 2 || strings.HasSuffix(cells[0], "guaranteed") {
			continue
		}
		promises++
		named := regexp.MustCompile("`([\\w./]*\\b(?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(cells[1], -1)
		assert.True(t, len(named) > 0 || cells[1] == "–", "nothing holds %q", cells[0])
		for _, name := range named {
			assert.True(t, tests[name[1]], "there is no test %q", name[1])
		}
	}
	assert.Greater(t, promises, 15)
}
