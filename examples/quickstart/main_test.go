package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookruntime/hooks"
)

var update = flag.Bool("update", false, "rewrite the golden transcripts")

func TestTranscripts(t *testing.T) {
	for golden, args := range map[string][]string{
		"transcript": nil,
		"approve":    {"-approve"},
		"hardened":   {"-hardened", "-approve"},
	} {
		t.Run(golden, func(t *testing.T) {
			if _, err := new(hooks.Local).Interpreter("python3"); err != nil {
				t.Skip("there is no python3; TestTranscriptWithoutPython has the transcript")
			}
			compare(t, golden, transcriptOf(t, args...))
		})
	}
}

func TestTranscriptWithoutPython(t *testing.T) {
	t.Setenv("PATH", pathWithoutPython(t))
	compare(t, "without-python", transcriptOf(t))
}

// A hook whose absence changes nothing would show nothing. The tables, which
// change in any case, are not looked at.
func TestEveryHookMatters(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the whole story once for each hook")
	}
	whole := story(transcriptOf(t))
	for _, h := range goHooks(nil) {
		t.Run("hook "+h.Name, func(t *testing.T) {
			t.Parallel()
			assert.NotEqual(t, whole, story(transcriptOf(t, "-without", h.Name)))
		})
	}
	for _, name := range hookFiles(t) {
		t.Run("file "+name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, builtIn(t)))
			require.NoError(t, os.Remove(filepath.Join(dir, filepath.FromSlash(name))))
			assert.NotEqual(t, whole, story(transcriptOf(t, "-hooks", dir)))
		})
	}
}

// A tier without files is fine, but not unnoticed.
func TestNoFilesIsSaid(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, builtIn(t)))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "agent")))
	assert.Contains(t, transcriptOf(t, "-hooks", dir), "hooks in agent: none, there is no file\n")

	err := run(t.Context(), []string{"-hooks", filepath.Join(dir, "misspelled")}, new(bytes.Buffer))
	require.ErrorContains(t, err, "no hook files")
}

func TestNothingIsLeftBehind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir) // Windows
	require.NoError(t, run(t.Context(), nil, new(bytes.Buffer)))
	assertEmpty(t, dir)

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, run(cancelled, nil, new(bytes.Buffer)), context.Canceled)
	assertEmpty(t, dir)

	require.Error(t, run(t.Context(), []string{"-without", "no-such-hook"}, new(bytes.Buffer)))
	assertEmpty(t, dir)
}

func TestBrokenOutputIsAnError(t *testing.T) {
	require.ErrorIs(t, run(t.Context(), nil, brokenWriter{}), errBroken)
}

var errBroken = errors.New("broken")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func assertEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

// transcriptOf runs the program. What differs from run to run is taken out:
// durations, and the widths of columns, which depend on them.
func transcriptOf(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), args, &out))
	var b strings.Builder
	for line := range strings.Lines(out.String()) {
		if rest, ok := strings.CutPrefix(line, bar); ok {
			rest = durations.ReplaceAllString(rest, "  0s  ")
			line = bar + gaps.ReplaceAllString(rest, "  ")
		}
		b.WriteString(line)
	}
	return b.String()
}

const bar = "    | "

var (
	durations = regexp.MustCompile(`  \d+(\.\d+)?(ns|µs|ms|s)  `)
	gaps      = regexp.MustCompile(` {2,}`)
)

// story is a transcript without the lists and tables of hooks.
func story(transcript string) string {
	var b strings.Builder
	for line := range strings.Lines(transcript) {
		if !strings.HasPrefix(line, bar) && !strings.HasPrefix(line, "hooks in ") && !strings.HasPrefix(line, "left out: ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update to write it")
	assert.Equal(t, strings.ReplaceAll(string(want), "\r\n", "\n"), got)
}

func builtIn(t *testing.T) fs.FS {
	t.Helper()
	files, err := fs.Sub(embedded, "hooks")
	require.NoError(t, err)
	return files
}

// hookFiles returns the files that hold a hook that can run here.
func hookFiles(t *testing.T) []string {
	t.Helper()
	files, err := fs.Glob(builtIn(t), "*/*.yaml")
	require.NoError(t, err)
	if _, err := new(hooks.Local).Interpreter("python3"); err == nil {
		return files
	}
	var list []string
	for _, name := range files {
		data, err := fs.ReadFile(builtIn(t), name)
		require.NoError(t, err)
		if !bytes.Contains(data, []byte("#!/usr/bin/env python3")) {
			list = append(list, name)
		}
	}
	return list
}

// pathWithoutPython returns a PATH with the few commands of the scripts, as on
// a machine with nothing else.
func pathWithoutPython(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"bash", "cp", "grep"} {
		path, err := exec.LookPath(name)
		require.NoError(t, err)
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			t.Skip("no links here: ", err)
		}
	}
	return dir
}
