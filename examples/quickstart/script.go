package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hookruntime/hooks"
)

// model is what an agent loop needs of a language model.
type model interface {
	next(ctx context.Context, history []message) (reply, error)
}

// reply is one turn of the model: calls to make, or the final answer.
type reply struct {
	text  string
	calls []call
}

// call is a tool call as a model asks for it.
type call struct {
	id    string
	tool  string
	input json.RawMessage
}

// script stands in for a model: it says the same whatever it hears.
type script struct {
	agent string
	turns []reply
	said  int
	ids   int
}

func (s *script) next(context.Context, []message) (reply, error) {
	if s.said == len(s.turns) {
		return reply{}, errors.New("the script is over, but the loop goes on")
	}
	r := s.turns[s.said]
	s.said++
	for i := range r.calls {
		s.ids++
		r.calls[i].id = fmt.Sprintf("%s-%d", s.agent, s.ids)
	}
	return r, nil
}

func use(tool, input string) call { return call{tool: tool, input: json.RawMessage(input)} }

// assistantScript meets every kind of decision once.
func assistantScript() *script {
	return &script{agent: "assistant", turns: []reply{
		{"I read the notes.", []call{
			use("ReadFile", `{"filePath":"notes.md"}`),
		}},
		{"The drafts look old: I remove them.", []call{
			use("RunInTerminal", `{"command":"rm -rf drafts"}`),
		}},
		{"Then I look for settings, here and elsewhere.", []call{
			use("ReadFile", `{"filePath":"settings.env"}`),
			use("ReadFile", `{"filePath":"../settings.env"}`),
		}},
		{"How many lines do the notes have?", []call{
			use("RunInTerminal", `{"command":"grep -c . notes.md"}`),
		}},
		{"I write the report and check it.", []call{
			use("CreateFile", `{"filePath":"REPORT.md","content":"# Report\n"}`),
			use("RunInTerminal", `{"command":"bash check.sh"}`),
		}},
		{"It can be published.", []call{
			use("RunInTerminal", `{"command":"bash publish.sh"}`),
		}},
		{"Perhaps a helper can publish it.", []call{
			use("Task", `{"subagent_type":"helper","prompt":"Publish REPORT.md.","description":"Publish the report"}`),
		}},
		{"The report is written.", nil},
		{"The report is written.\nChecked: it is probably complete.", nil},
		{"I add the numbers and check again.", []call{
			use("CreateFile", `{"filePath":"REPORT.md","content":"# Report\n\n## Numbers\n\n41 answers, 3 of them empty.\n"}`),
			use("RunInTerminal", `{"command":"bash check.sh"}`),
		}},
		{"The report is written.\nChecked: check.sh finds REPORT.md complete.", nil},
	}}
}

// helperScript is the sub-agent's.
func helperScript() *script {
	return &script{agent: "helper", turns: []reply{
		{"I publish it.", []call{
			use("RunInTerminal", `{"command":"bash publish.sh"}`),
		}},
		{"I am not permitted to publish.", nil},
	}}
}

// judge stands in for the model of prompt hooks. A real client sends q.Policy
// and q.Payload to a model, best in two messages: the payload is not trusted.
type judge struct{}

// Answer implements [hooks.Model].
func (judge) Answer(_ context.Context, q hooks.ModelRequest) (hooks.ModelAnswer, error) {
	var event struct {
		FinalOutput string `json:"final_output"`
	}
	if err := json.Unmarshal([]byte(q.Payload), &event); err != nil {
		return hooks.ModelAnswer{}, err
	}
	if strings.Contains(event.FinalOutput, "probably") {
		return hooks.ModelAnswer{Text: `{"ok": false, "reason": "Do not guess: run the check until it passes."}`}, nil
	}
	return hooks.ModelAnswer{Text: `{"ok": true}`}, nil
}
