package story

import (
	"context"
	"errors"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/hookruntime/hooks"
)

// canned is one answer of the model.
type canned struct {
	answer hooks.ModelAnswer
	err    error
	late   bool
}

func (r *fileReader) answers(n *yaml.Node) (answers []canned) {
	for _, item := range r.items(n, "model") {
		if item.Kind != yaml.MappingNode {
			answers = append(answers, canned{answer: hooks.ModelAnswer{Text: r.text(item, "an answer of model")}})
			continue
		}
		var a canned
		for _, p := range r.pairs(item, "an answer of model", "text", "truncated", "error", "late") {
			switch p.key {
			case "text":
				a.answer.Text = r.text(p.value, p.key)
			case "truncated":
				a.answer.Truncated = r.boolean(p.value, p.key)
			case "error":
				a.err = errors.New(r.text(p.value, p.key))
			case "late":
				a.late = r.boolean(p.value, p.key)
			}
		}
		answers = append(answers, a)
	}
	return answers
}

// script is a model that gives canned answers in order and remembers what it
// was asked.
type script struct {
	mu      sync.Mutex
	answers []canned
	asked   []hooks.ModelRequest
}

// Answer implements [hooks.Model].
func (s *script) Answer(ctx context.Context, q hooks.ModelRequest) (hooks.ModelAnswer, error) {
	s.mu.Lock()
	i := len(s.asked)
	s.asked = append(s.asked, q)
	s.mu.Unlock()
	if i >= len(s.answers) {
		return hooks.ModelAnswer{}, errors.New("the story has no answer for this question")
	}
	a := s.answers[i]
	if a.late {
		<-ctx.Done()
		return hooks.ModelAnswer{}, ctx.Err()
	}
	return a.answer, a.err
}

// questions returns what was asked so far.
func (s *script) questions() []hooks.ModelRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[:len(s.asked):len(s.asked)]
}
