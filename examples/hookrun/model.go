package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hookruntime/hooks"
)

// commandModel answers prompt hooks with a command of the user's: any
// command-line client of a model will do. The prompt is its standard input,
// the answer its standard output; a code other than 0 is a model error. It runs
// as hooks do, and so is killed with its process group at the hook's deadline;
// but with the user's whole environment, where the client finds its key.
type commandModel struct {
	local hooks.Local
	argv  []string
}

func newCommandModel(command string) (*commandModel, error) {
	m := &commandModel{local: hooks.Local{InheritEnv: true}}
	bash, err := m.local.Interpreter("bash")
	if err != nil {
		return nil, fmt.Errorf("-model-cmd: %w", err)
	}
	m.argv = append(bash, "--noprofile", "--norc", "-c", command)
	return m, nil
}

// The most that is kept of what a model command prints.
const (
	maxAnswer   = 1 << 20
	maxMessages = 4 << 10
)

// Answer implements [hooks.Model].
func (m *commandModel) Answer(ctx context.Context, q hooks.ModelRequest) (hooks.ModelAnswer, error) {
	stdout, stderr := &head{limit: maxAnswer}, &head{limit: maxMessages}
	exit, err := m.local.Exec(ctx, hooks.Process{
		Argv:   m.argv,
		Env:    []string{"HOOK_MODEL=" + q.Model, "HOOK_TRAJECTORY=" + trajectoryOf(q)},
		Stdin:  strings.NewReader(q.Text),
		Stdout: stdout,
		Stderr: stderr,
	})
	said := hooks.ModelAnswer{Text: stdout.String(), Truncated: stdout.cut}
	switch {
	case ctx.Err() != nil && (err != nil || exit.Signal != ""):
		return said, ctx.Err()
	case err != nil:
		return said, err
	case exit.Signal != "":
		return said, fmt.Errorf("the model command was ended by signal %q", exit.Signal)
	case exit.Code != 0:
		return said, fmt.Errorf("the model command exited with code %d: %s", exit.Code, strings.TrimSpace(stderr.String()))
	}
	return said, nil
}

// trajectoryOf returns the path of the trajectory that the hook may look at,
// empty when there is none. The first entry of the key is the runtime's own;
// metadata could only add a later one.
func trajectoryOf(q hooks.ModelRequest) string {
	var fields hooks.Metadata
	var path *string
	if fields.UnmarshalJSON([]byte(q.Payload)) != nil ||
		json.Unmarshal(fields.Get("execution_summary"), &path) != nil || path == nil {
		return ""
	}
	return *path
}

// head keeps the first bytes that are written to it. It does not embed its
// buffer, whose ReadFrom would go past the limit.
type head struct {
	buf   bytes.Buffer
	limit int
	cut   bool
}

func (h *head) Write(p []byte) (int, error) {
	keep := min(len(p), h.limit-h.buf.Len())
	h.cut = h.cut || keep < len(p)
	h.buf.Write(p[:keep])
	return len(p), nil
}

func (h *head) String() string { return h.buf.String() }

// noModel stands in for a model where nothing is run.
type noModel struct{}

// Answer implements [hooks.Model].
func (noModel) Answer(context.Context, hooks.ModelRequest) (hooks.ModelAnswer, error) {
	return hooks.ModelAnswer{}, errors.New("a plan asks no model")
}
