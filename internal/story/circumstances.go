package story

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/hookruntime/hooks/internal/wire"
)

// withKeys are the keys of with; never written to.
var withKeys = []string{
	"child", "cannot_ask", "resumed", "activate", "deactivate",
	"trajectory", "trajectory_error", "budget", "limits", "untrusted", "valid_input",
}

// with reads what the payload does not say. Keys that are not given stay as
// they are.
func (r *fileReader) with(n *yaml.Node, w *with) {
	for _, p := range r.pairs(n, "with", withKeys...) {
		what := "with." + p.key
		switch p.key {
		case "child":
			w.child = r.boolean(p.value, what)
		case "cannot_ask":
			w.cannotAsk = r.boolean(p.value, what)
		case "resumed":
			w.resumed = r.boolean(p.value, what)
		case "activate":
			w.switches.Activated = r.texts(p.value, what)
		case "deactivate":
			w.switches.Deactivated = r.texts(p.value, what)
		case "trajectory":
			w.trajectory = r.trajectory(p.value, what)
		case "trajectory_error":
			err := errors.New(r.text(p.value, what))
			w.trajectory = func(context.Context, io.Writer) error { return err }
		case "budget":
			w.budget = r.duration(p.value, what)
		case "limits":
			for _, l := range r.pairs(p.value, what, "depth", "number", "stdout", "stderr", "text") {
				i := r.integer(l.value, what+"."+l.key)
				switch l.key {
				case "depth":
					w.limits.Depth = i
				case "number":
					w.limits.Number = i
				case "stdout":
					w.limits.Stdout = i
				case "stderr":
					w.limits.Stderr = i
				case "text":
					w.limits.Text = i
				}
			}
		case "valid_input":
			w.validInput = append([]string{}, r.texts(p.value, what)...)
		case "untrusted":
			w.untrusted = r.texts(p.value, what)
		}
	}
}

// trajectory is a text as it is, or JSON as a mapping or a list.
func (r *fileReader) trajectory(n *yaml.Node, what string) func(context.Context, io.Writer) error {
	var data []byte
	if n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode {
		data = r.json(n)
	} else {
		data = []byte(r.text(n, what))
	}
	return func(_ context.Context, w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// validate accepts an input whose keys are all among those that the story
// says are valid.
func (w *with) validate(_ string, input json.RawMessage) error {
	members, err := wire.Members(input)
	if err != nil {
		return err
	}
	for _, m := range members {
		if !slices.Contains(w.validInput, m.Key) {
			return fmt.Errorf("the tool has no %s", m.Key)
		}
	}
	return nil
}
