package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Bounds of the tools of prompt hooks: of one answer, of a searched file, and
// of the number of files a search looks at.
const (
	toolAnswer  = 32 << 10
	toolFile    = 32 << 20
	toolFiles   = 2000
	toolMatches = 100
	toolSnippet = 120 // bytes on each side of a match
)

// promptReader reads for the model that judges a prompt hook (PRM-5): the
// trajectory and the folders that the host named, nothing else. Trajectories
// are often one line of megabytes, so places are byte offsets, not lines.
type promptReader struct {
	trajectory string
	folders    []string
}

// tools returns the typed definitions with their implementations.
func (r promptReader) tools() []ModelTool {
	where := "There is no trajectory to read."
	if r.trajectory != "" {
		where = "The trajectory of this run is " + r.trajectory + "."
	}
	if len(r.folders) > 0 {
		where += " Folders: " + strings.Join(r.folders, ", ") + "."
	}
	return []ModelTool{{
		Name:        "ReadFile",
		Description: "Reads a part of a file. " + where,
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"path":{"type":"string","description":"absolute path"},` +
			`"offset":{"type":"integer","minimum":0,"description":"first byte, from 0"},` +
			`"limit":{"type":"integer","minimum":1,"maximum":32768,"description":"how many bytes"}},` +
			`"required":["path"],"additionalProperties":false}`),
		Call: r.readFile,
	}, {
		Name:        "GrepSearch",
		Description: "Searches a file, or all files of a folder, for a regular expression (RE2). Gives path, byte offset and the text around each match. " + where,
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"pattern":{"type":"string"},` +
			`"path":{"type":"string","description":"absolute path of a file or folder; the trajectory when absent"},` +
			`"limit":{"type":"integer","minimum":1,"maximum":100,"description":"how many matches"}},` +
			`"required":["pattern"],"additionalProperties":false}`),
		Call: r.grepSearch,
	}}
}

// open opens a path inside what may be read. The root refuses links that lead
// out of it.
func (r promptReader) open(path string) (root *os.Root, rel string, err error) {
	path = filepath.Clean(path)
	if r.trajectory != "" && path == filepath.Clean(r.trajectory) {
		root, err = os.OpenRoot(filepath.Dir(path))
		return root, filepath.Base(path), err
	}
	for _, folder := range r.folders {
		rel, err := filepath.Rel(filepath.Clean(folder), path)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		root, err := os.OpenRoot(folder)
		return root, rel, err
	}
	return nil, "", errors.New("the path is neither the trajectory nor in a folder that may be read")
}

// openFile opens a regular file; opening a pipe could wait for ever.
func openFile(root *os.Root, rel string) (*os.File, int64, error) {
	info, err := root.Stat(rel)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, errors.New("it is not a regular file")
	}
	f, err := root.Open(rel)
	return f, info.Size(), err
}

func (r promptReader) readFile(_ context.Context, arguments json.RawMessage) (string, error) {
	var a struct {
		Path   string `json:"path"`
		Offset int64  `json:"offset"`
		Limit  int64  `json:"limit"`
	}
	if err := strictArguments(arguments, &a); err != nil {
		return "", err
	}
	if a.Limit <= 0 || a.Limit > toolAnswer {
		a.Limit = toolAnswer
	}
	root, rel, err := r.open(a.Path)
	if err != nil {
		return "", err
	}
	defer root.Close()
	f, size, err := openFile(root, rel)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, max(a.Offset, 0), a.Limit))
	if err != nil {
		return "", err
	}
	end := max(a.Offset, 0) + int64(len(text))
	out := strings.ToValidUTF8(string(text), "\ufffd")
	if end < size {
		out += fmt.Sprintf("\n[%d of %d bytes; continue at offset %d]", len(text), size, end)
	}
	return out, nil
}

func (r promptReader) grepSearch(ctx context.Context, arguments json.RawMessage) (string, error) {
	var a struct {
		Pattern string `json:"pattern"`
		Path    string `json:"path"`
		Limit   int    `json:"limit"`
	}
	if err := strictArguments(arguments, &a); err != nil {
		return "", err
	}
	re, err := regexp.Compile(a.Pattern)
	if err != nil {
		return "", fmt.Errorf("the pattern is no RE2 regular expression: %w", err)
	}
	if a.Path == "" {
		a.Path = r.trajectory
	}
	root, rel, err := r.open(a.Path)
	if err != nil {
		return "", err
	}
	defer root.Close()
	g := grep{re: re, root: root, left: toolMatches}
	if a.Limit > 0 {
		g.left = min(a.Limit, toolMatches)
	}
	files := 0
	err = fs.WalkDir(root.FS(), filepath.ToSlash(rel), func(p string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && p == filepath.ToSlash(rel):
			return err
		case err != nil || d.IsDir():
			return nil // a part that cannot be read is skipped
		case g.left <= 0 || files == toolFiles || g.out.Len() >= toolAnswer:
			g.cut = true
			return fs.SkipAll
		}
		files++
		g.file(filepath.FromSlash(p))
		return nil
	})
	if err != nil {
		return "", err
	}
	if g.cut {
		g.out.WriteString("[more was not searched]\n")
	}
	if g.out.Len() == 0 {
		return "no match", nil
	}
	return g.out.String(), nil
}

// grep gathers matches.
type grep struct {
	re   *regexp.Regexp
	root *os.Root
	left int
	cut  bool
	out  strings.Builder
}

func (g *grep) file(rel string) {
	f, _, err := openFile(g.root, rel)
	if err != nil {
		return
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, toolFile))
	if err != nil || bytes.IndexByte(text[:min(len(text), 1024)], 0) >= 0 {
		return // unreadable, or binary
	}
	for _, m := range g.re.FindAllIndex(text, g.left) {
		if g.out.Len() >= toolAnswer {
			g.cut = true
			return
		}
		from, to := max(m[0]-toolSnippet, 0), min(min(m[1], m[0]+toolSnippet)+toolSnippet, len(text))
		snippet := strings.ToValidUTF8(string(text[from:to]), "\ufffd")
		fmt.Fprintf(&g.out, "%s:%d: %s\n", filepath.Join(g.root.Name(), rel), m[0], strings.ReplaceAll(snippet, "\n", " "))
		g.left--
	}
}

// strictArguments decodes what the model passed; an unknown key is told to it.
func strictArguments(raw json.RawMessage, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("the arguments do not fit the parameters: %w", err)
	}
	return nil
}
