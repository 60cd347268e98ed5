package main

import (
	"context"
	"encoding/json"
	"fmt"
)

// taskResult is what the tool Task returns.
type taskResult struct {
	Status       string `json:"status"`
	SubagentType string `json:"subagent_type"`
	Content      string `json:"content"`
}

// tool returns a tool by name, nil for none. A child cannot start others.
func (l *loop) tool(name string) *tool {
	if name == "Task" && !l.child {
		return &tool{description: "Starts a sub-agent", run: l.task}
	}
	return l.tools[name]
}

// task is the tool that starts a sub-agent. The child shares the runtime; the
// runtime chooses the child's hooks by its name and by Child. What a child may
// not do by itself, such as asking, its hooks need not know.
func (l *loop) task(ctx context.Context, input json.RawMessage) (any, error) {
	var in struct {
		SubagentType string `json:"subagent_type"`
		Prompt       string `json:"prompt"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	if in.SubagentType != "helper" {
		return nil, fmt.Errorf("there is no sub-agent %q", in.SubagentType)
	}
	child := &loop{
		agent: in.SubagentType, mode: l.mode, child: true, // it inherits the mode
		runtime: l.runtime, model: helperScript(), tools: l.tools, transcript: l.transcript,
	}
	content, err := child.run(ctx, in.Prompt)
	if err != nil {
		return nil, err
	}
	l.transcript.head("back in %s, turn %d", l.agent, l.turn)
	return taskResult{"completed", in.SubagentType, content}, nil
}
