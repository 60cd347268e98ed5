package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hookruntime/hooks"
)

// tool is a tool with its annotations.
type tool struct {
	description   string
	writes        bool // is_write_action
	needsApproval bool // requires_approval: the host's own rule asks
	// run returns any value that encodes as JSON. An error means that the tool
	// broke; a tool that worked and has bad news returns the news.
	run func(ctx context.Context, input json.RawMessage) (any, error)
}

// toolbox holds the tools of one workspace. They are confined to it without
// the help of hooks: files by an [os.Root], commands by as much as the sandbox
// gives, which is little for one on the local machine.
type toolbox struct {
	root    *os.Root
	sandbox *hooks.Local
	bash    []string
}

func newToolbox(workspace string, sandbox *hooks.Local) (*toolbox, error) {
	bash, err := sandbox.Interpreter("bash")
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, err
	}
	return &toolbox{root: root, sandbox: sandbox, bash: bash}, nil
}

func (b *toolbox) close() { b.root.Close() }

// tools returns the tools by name.
func (b *toolbox) tools() map[string]*tool {
	return map[string]*tool{
		"ReadFile":      {description: "Reads a file", run: b.readFile},
		"CreateFile":    {description: "Writes a file", writes: true, run: b.createFile},
		"RunInTerminal": {description: "Runs a command", needsApproval: true, run: b.runInTerminal},
	}
}

func (b *toolbox) has(name string) bool {
	_, err := b.root.Stat(name)
	return err == nil
}

func (b *toolbox) readFile(_ context.Context, input json.RawMessage) (any, error) {
	var in struct {
		FilePath string `json:"filePath"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	data, err := b.root.ReadFile(in.FilePath)
	return string(data), err
}

func (b *toolbox) createFile(_ context.Context, input json.RawMessage) (any, error) {
	var in struct {
		FilePath string `json:"filePath"`
		Content  string `json:"content"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	if err := b.root.WriteFile(in.FilePath, []byte(in.Content), 0o644); err != nil {
		return nil, err
	}
	return fmt.Sprintf("wrote %d bytes", len(in.Content)), nil
}

// encode returns a result as JSON. [json.Marshal] would write & as \u0026, and
// a hook that looks for && in the text would not see it.
func encode(value any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(buf.Bytes()), nil
}

// terminalResult is what RunInTerminal returns, also for a command that fails:
// the tool itself has worked.
type terminalResult struct {
	ExitCode int    `json:"exit_code"`
	Output   string `json:"output"`
}

func (b *toolbox) runInTerminal(ctx context.Context, input json.RawMessage) (any, error) {
	var in struct {
		Command string `json:"command"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	var output strings.Builder
	exit, err := b.sandbox.Exec(ctx, hooks.Process{
		Argv:   append(slices.Clone(b.bash), "-c", "exec 2>&1\n"+in.Command),
		Stdout: &output,
	})
	switch {
	case err != nil:
		return nil, err
	case exit.Signal != "":
		return nil, errors.New("the command was ended by a signal: " + exit.Signal)
	}
	return terminalResult{exit.Code, output.String()}, nil
}
