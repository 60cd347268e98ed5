package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hookruntime/hooks/internal/proc"
)

// memorySandbox is a Sandbox that is not the local disk: its files are in a
// map. What runs in it is up to exec, which plays a hook that is told what lies
// behind execution_summary.
//
// Without exec it runs real processes. Those cannot look into a map, so root
// must be a folder of theirs, and Exec writes there what the map holds.
type memorySandbox struct {
	root string // of all paths; empty is one that no process can see
	fail error  // of Put
	exec func(ctx context.Context, summary *string, content string) (Exit, string)

	mu    sync.Mutex
	puts  int
	files map[string]string
}

func (m *memorySandbox) Put(ctx context.Context, name string, r io.Reader) (string, error) {
	data, err := io.ReadAll(untilDone{ctx, r})
	if err := errors.Join(err, ctx.Err(), m.fail); err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.files == nil {
		m.files = map[string]string{}
	}
	m.puts++
	path := fmt.Sprintf("%s/%d/%s", cmp.Or(m.root, "/remote"), m.puts, name)
	m.files[path] = string(data)
	return path, nil
}

func (m *memorySandbox) Remove(_ context.Context, path string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.files[path]; !ok || m.root == "" {
		delete(m.files, path)
		return nil
	}
	delete(m.files, path)
	return os.RemoveAll(filepath.Dir(path))
}

func (m *memorySandbox) Exec(ctx context.Context, p Process) (Exit, error) {
	if m.exec == nil {
		return m.run(ctx, p)
	}
	var in struct {
		Summary *string `json:"execution_summary"`
	}
	if err := json.NewDecoder(p.Stdin).Decode(&in); err != nil {
		return Exit{}, err
	}
	content := ""
	if in.Summary != nil {
		m.mu.Lock()
		content = m.files[*in.Summary]
		m.mu.Unlock()
	}
	exit, out := m.exec(ctx, in.Summary, content)
	_, err := io.WriteString(p.Stdout, out)
	return exit, err
}

func (m *memorySandbox) run(ctx context.Context, p Process) (Exit, error) {
	if err := m.writeOut(); err != nil {
		return Exit{}, err
	}
	exit, err := proc.Run(ctx, &proc.Cmd{
		Argv: p.Argv, Dir: p.Dir, Env: append([]string{"PATH=" + os.Getenv("PATH")}, p.Env...),
		Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr,
	})
	return Exit(exit), err
}

// writeOut writes each file once: processes may have changed it since.
func (m *memorySandbox) writeOut() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for path, content := range m.files {
		err := os.Mkdir(filepath.Dir(path), 0o700)
		if err == nil {
			err = writeNew(path, strings.NewReader(content))
		}
		if err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}
