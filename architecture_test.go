package hooks

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// floors lists the files of the package from the ground up. A file uses what
// is declared on its own floor and below it, never what is above.
var floors = [][]string{
	{"conduct.go", "diagnostic.go", "limits.go", "matcher.go", "metadata.go", "text.go", "tier.go"},
	{"dialect.go", "event.go", "vscode_event.go", "eventrow.go", "hooks.go", "digest.go", "result.go", "guard.go"},
	{"node.go", "node_yaml.go", "node_json.go", "near.go", "config.go", "config_files.go", "config_hook.go", "config_object.go", "config_shape.go", "jsonc.go", "vscode_config.go", "lint.go", "marshal.go", "schema.go"},
	{"payload.go", "payloadreader.go", "parse.go", "answer.go", "salvage.go", "judgement.go", "depth.go", "sandbox.go", "local.go", "environ.go", "shell.go", "vscode_payload.go"},
	{"command.go", "prompt.go", "prompttools.go", "func.go", "trajectory.go", "rules.go", "step.go", "plan.go", "aggregate.go", "carry.go", "explain.go", "vscode_answer.go", "vscode_fold.go", "combine.go", "manner.go"},
	{"runtime.go", "input.go", "chain.go", "flight.go", "record.go"},
	// The lifecycle hooks: what they are, who runs them, the three owners.
	{"change.go", "message.go", "toolcall.go", "parent.go", "thread.go"},
	{"lifecycle.go"},
	{"report.go", "lifecycleoptions.go", "composefault.go", "recursion.go", "progress.go", "compose.go"},
	{"dispatch.go", "pair.go"},
	{"gateway.go", "assemble.go", "track.go", "callsteps.go", "memthread.go", "memexecution.go"},
	// Checks of what hosts supply.
	{"check.go", "checksandbox.go", "checksandbox_exec.go", "checksandbox_files.go", "checkmodel.go"},
}

// TestArchitecture holds every use of a package-level name, and of a method or
// field, against the floors.
func TestArchitecture(t *testing.T) {
	floorOf := map[string]int{}
	for i, files := range floors {
		for _, f := range files {
			floorOf[f] = i
		}
	}
	fset := token.NewFileSet()
	var files []*ast.File
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_windows.go") {
			continue
		}
		require.Contains(t, floorOf, name, "the file has no floor yet")
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, f)
	}
	require.Len(t, files, len(floorOf), "a floor names a file that does not exist")

	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	// Other packages are not loaded: names of ours resolve without them.
	conf := types.Config{Error: func(error) {}, Importer: noImports{}}
	pkg, _ := conf.Check("hooks", fset, files, info)
	uses := 0
	idents := slices.SortedFunc(maps.Keys(info.Uses), func(a, b *ast.Ident) int { return int(a.Pos() - b.Pos()) })
	for _, id := range idents {
		obj := info.Uses[id]
		if obj.Pkg() != pkg || obj.Pos() == token.NoPos {
			continue
		}
		at, decl := fset.Position(id.Pos()), fset.Position(obj.Pos())
		if uses++; floorOf[at.Filename] < floorOf[decl.Filename] {
			t.Errorf("%s: %s uses %s of %s, which is on a higher floor", at, at.Filename, id.Name, decl.Filename)
		}
	}
	require.Greater(t, uses, 2000, "the test sees hardly any uses: it checks nothing")
}

type noImports struct{}

func (noImports) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, filepath.Base(path))
	p.MarkComplete()
	return p, nil
}
