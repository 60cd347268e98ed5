package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTable: the table of canned output is the one in testdata. There, one
// benchmark misses its goal in time, one in memory, and one is not there.
func TestTable(t *testing.T) {
	f, err := os.Open("testdata/bench.txt")
	require.NoError(t, err)
	defer f.Close()
	r, err := parse(f)
	require.NoError(t, err)
	var table bytes.Buffer
	writeTable(&table, r)
	want, err := os.ReadFile("testdata/table.md")
	require.NoError(t, err)
	assert.Equal(t, string(want), table.String())
}

// TestShort runs all of it: the benchmarks of the table are there, and the
// curves are drawn.
func TestShort(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a thousand processes")
	}
	dir := t.TempDir()
	require.NoError(t, run(t.Context(), options{short: true, module: "../..", out: dir}))
	table, err := os.ReadFile(filepath.Join(dir, "table.md"))
	require.NoError(t, err)
	assert.NotContains(t, string(table), "not measured")
	for _, c := range curves(true) {
		assertSVG(t, filepath.Join(dir, c.file), c)
	}
}

// TestCurve: a curve is measured where it says, and drawn.
func TestCurve(t *testing.T) {
	c := curves(true)[0]
	lines, err := c.measure(t.Context())
	require.NoError(t, err)
	require.Len(t, lines, len(c.sides))
	for _, l := range lines {
		require.Len(t, l.points, len(c.at))
		for i, p := range l.points {
			assert.Equal(t, float64(c.at[i]), p.X)
			assert.Positive(t, p.Y)
		}
	}
	path := filepath.Join(t.TempDir(), c.file)
	require.NoError(t, c.draw(path, lines))
	assertSVG(t, path, c)
}

// TestReport: the report that is committed is whole, and the README shows it.
func TestReport(t *testing.T) {
	for _, c := range curves(false) {
		assertSVG(t, filepath.Join("report", c.file), c)
	}
	table, err := os.ReadFile("report/table.md")
	require.NoError(t, err)
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	assert.Contains(t, string(readme), string(table))
}

// assertSVG checks that the file is well-formed and names all sides.
func assertSVG(t *testing.T, path string, c curve) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Less(t, len(data), 64<<10)
	d := xml.NewDecoder(bytes.NewReader(data))
	var root string
	var text strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			if root == "" {
				root = token.Name.Local
			}
		case xml.CharData:
			text.Write(token)
		}
	}
	assert.Equal(t, "svg", root)
	for _, s := range c.sides {
		assert.Contains(t, text.String(), s.name)
	}
}
