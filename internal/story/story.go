// Package story reads and runs stories: YAML documents that tell hooks, an
// event, and what must come of it. The project's own tests and the policy
// tests of "hookrun -test" are stories; a new behaviour is a new story, not new
// Go. The format is described in examples/hookrun/TESTING.md.
package story

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/hookruntime/hooks"
)

// Story is one document of a story file. It is not changed after [Load] and
// may be run by several goroutines.
type Story struct {
	File string
	Line int
	// Sentence says what the story shows.
	Sentence string
	// Clauses are the clauses of the contract that it holds up, as CMD-1.
	Clauses []string
	// Needs names programs without which it cannot run.
	Needs []string
	// Conducts are those that it is told for, in order.
	Conducts []hooks.Conduct
	// Events happen one after the other; there is at least one, unless the
	// hooks are to be refused.
	Events []*Event

	dialect hooks.Dialect // of the payloads
	hooks   []source
}

// Place returns "file:line", where the story begins.
func (s *Story) Place() string { return fmt.Sprintf("%s:%d", s.File, s.Line) }

// Event is one event of a story with its circumstances and what is wanted.
type Event struct {
	Line    int
	payload []byte
	with    with
	answers []canned
	noModel bool

	want    [2]expectation // by conduct
	section section        // where the wanted part stands in the file
}

// with are the circumstances of an event: what the payload does not say.
type with struct {
	child, cannotAsk, resumed bool
	switches                  hooks.Switches
	trajectory                func(ctx context.Context, w io.Writer) error
	budget                    time.Duration
	limits                    hooks.Limits
	untrusted                 []string
	validInput                []string // keys; nil: the host checks no input
}

// expectation is a wanted result: aspects in the order of the file. nil is
// none, which only an update may leave standing.
type expectation []wanted

type wanted struct {
	name       string
	key, value *yaml.Node
	aspect
}

// has reports whether something is wanted of an aspect.
func (e expectation) has(name string) bool {
	for _, w := range e {
		if w.name == name {
			return true
		}
	}
	return false
}

// FormatError reports everything that is wrong with the format of story files.
type FormatError struct{ Findings []hooks.Diagnostic }

// Error lists the findings, one on a line, with their places.
func (e *FormatError) Error() string {
	lines := make([]string, len(e.Findings))
	for i, d := range e.Findings {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}

// got is what came of one event.
type got struct {
	decision  hooks.Decision
	plan      hooks.Plan
	err       error
	loadErr   error
	warnings  []hooks.Diagnostic
	questions []hooks.ModelRequest
	inputs    map[string][]json.RawMessage // by hook
}
