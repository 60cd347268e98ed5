package hooks_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mutantsFlag runs TestMutants, which builds the runtime once per mutant:
//
//	go test -run TestMutants . -mutants
var mutantsFlag = flag.Bool("mutants", false, "build each mutant of testdata/mutants and see that a story notices it")

// mutant is a named fault of the runtime. Nothing of it is in the package: the
// compiler reads the changed file in the place of the real one.
type mutant struct {
	name, clause, file string
	old, new           string
}

// readMutants reads the list of mutants; its format is told at its beginning.
func readMutants(t *testing.T) []mutant {
	t.Helper()
	data, err := os.ReadFile("testdata/mutants/mutants.txt")
	require.NoError(t, err)
	var all []mutant
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		if word, rest, _ := strings.Cut(line, " "); word == "mutant" {
			all = append(all, mutant{name: strings.TrimSpace(rest)})
			continue
		}
		require.NotEmpty(t, all, "line %d stands before the first mutant", i+1)
		m := &all[len(all)-1]
		switch {
		case line[0] == '-':
			m.old = strings.TrimPrefix(m.old+"\n"+line[1:], "\n")
		case line[0] == '+':
			m.new = strings.TrimPrefix(m.new+"\n"+line[1:], "\n")
		case strings.HasPrefix(line, "clause "):
			m.clause = strings.TrimSpace(line[len("clause "):])
		case strings.HasPrefix(line, "file "):
			m.file = strings.TrimSpace(line[len("file "):])
		default:
			t.Fatalf("line %d: %q is nothing that a mutant has", i+1, line)
		}
	}
	return all
}

// apply returns the changed file.
func (m mutant) apply(t *testing.T) []byte {
	t.Helper()
	source, err := os.ReadFile(m.file)
	require.NoError(t, err)
	require.NotEmpty(t, m.old, "the mutant has no old text")
	require.Equal(t, 1, strings.Count(string(source), m.old), "%s must hold the old text once; tell it anew in mutants.txt:\n%s", m.file, m.old)
	return []byte(strings.Replace(string(source), m.old, m.new, 1))
}

// TestMutantsApply holds that the old text of each mutant still stands in its
// file, that a story can notice it, and that all clauses that must have a
// mutant do.
func TestMutantsApply(t *testing.T) {
	clauses := storyClauses(t)
	have := map[string]bool{}
	for _, m := range readMutants(t) {
		m.apply(t)
		require.Contains(t, clauses, m.clause, "no story names the clause of %q", m.name)
		have[m.clause] = true
	}
	for _, must := range strings.Fields(`
		QRK-1 QRK-2 QRK-3 QRK-4 QRK-5 QRK-6 QRK-7 QRK-8 QRK-9 QRK-10 QRK-11 QRK-12 QRK-13 QRK-14 QRK-15
		AGG-2 AGG-3 AGG-4 AGG-5 AGG-6 AGG-7 AGG-8 AGG-10 AGG-11 ST-1 ST-2 SP-1 SP-2 SP-3 PT-1
		TXT-1 TXT-2 SUB-1 SUB-3 MD-3 MAT-2`) {
		require.True(t, have[must], "%s has no mutant", must)
	}
}

// TestMutants builds each mutant and demands that a story that names its
// clause comes out differently.
func TestMutants(t *testing.T) {
	if !*mutantsFlag || testing.Short() {
		t.Skip("builds the runtime many times: run it with -mutants")
	}
	folder, err := os.Getwd()
	require.NoError(t, err)
	suffix := ""
	if runtime.GOOS == "windows" {
		suffix = ".exe"
	}
	for _, m := range readMutants(t) {
		t.Run(m.clause+"/"+m.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			changed, overlay, tell := filepath.Join(dir, m.file), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "tell"+suffix)
			require.NoError(t, os.WriteFile(changed, m.apply(t), 0o600))
			list, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(folder, m.file): changed}})
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(overlay, list, 0o600))

			// As little work as possible: this is what most of the time goes into.
			build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false",
				"-gcflags=github.com/hookruntime/hooks=-N -l -dwarf=false", "-ldflags=-s -w",
				"-overlay", overlay, "-o", tell, "./testdata/mutants/tell")
			build.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=400")
			out, err := build.CombinedOutput()
			require.NoError(t, err, "the mutant does not compile:\n%s", out)
			out, err = exec.CommandContext(t.Context(), tell, storiesDir, m.clause).CombinedOutput()
			var exit *exec.ExitError
			switch {
			case err == nil:
				t.Errorf("no story that names %s notices that %s", m.clause, m.name)
			case !errors.As(err, &exit) || exit.ExitCode() != 1:
				t.Errorf("could not tell: %v\n%s", err, out)
			default:
				t.Logf("noticed by %s", bytes.TrimSpace(out))
			}
		})
	}
}
