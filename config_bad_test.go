package hooks_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookruntime/hooks"
)

var updateBad = flag.Bool("update-bad", false, "write testdata/config/bad.want from what is found")

// TestBadFiles holds one fault per file of testdata/config/bad, and bad.want
// what is found: nothing but the fault and what follows from it, at its place
// and under its key. The files are loaded as a user's; those of agents as an
// agent's.
func TestBadFiles(t *testing.T) {
	files, err := os.ReadDir("testdata/config/bad")
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(files), 60)
	var got strings.Builder
	for _, f := range files {
		tier := hooks.TierUserGlobal
		if strings.HasPrefix(f.Name(), "agent-") {
			tier = hooks.TierAgent
		}
		data, err := os.ReadFile(filepath.Join("testdata/config/bad", f.Name()))
		require.NoError(t, err)
		loaded, warnings, err := hooks.Parse(tier, f.Name(), data)
		found := warnings
		if err != nil {
			var ce *hooks.ConfigError
			require.ErrorAs(t, err, &ce)
			assert.Nil(t, loaded, "%s: hooks beside an error", f.Name())
			found = append(found, ce.Diagnostics...)
		}
		assert.NotEmpty(t, found, "%s: nothing is found", f.Name())
		for _, d := range found {
			assert.Positive(t, d.Line, "%s: %v", f.Name(), d)
			assert.Positive(t, d.Column, "%s: %v", f.Name(), d)
			got.WriteString(renderFinding(d))
		}
	}
	if *updateBad {
		require.NoError(t, os.WriteFile("testdata/config/bad.want", []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile("testdata/config/bad.want")
	require.NoError(t, err)
	assert.Equal(t, strings.Split(string(want), "\n"), strings.Split(got.String(), "\n"))
}

// renderFinding writes a finding on one line, its key and suggestion included.
func renderFinding(d hooks.Diagnostic) string {
	line := strings.ReplaceAll(d.String(), "\n    ", " / ")
	if d.Key != "" {
		line += " [" + d.Key
		if d.Suggestion != "" {
			line += " → " + d.Suggestion
		}
		line += "]"
	}
	return line + "\n"
}
