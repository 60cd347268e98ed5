package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
)

// Model judges prompt hooks. It may be called concurrently. The tests of a
// client should call [CheckModel].
type Model interface {
	// Answer asks the model once. It should honour ctx, which ends at the
	// hook's deadline; a call that does not return by then is abandoned, and
	// counted by [Runtime.Abandoned] until it does. An error, like a late
	// answer, is a failure of the hook (QRK-5).
	Answer(ctx context.Context, q ModelRequest) (ModelAnswer, error)
}

// ModelRequest is one question for a model.
type ModelRequest struct {
	// Text is the whole prompt: the policy with the payload in its place
	// (PRM-1).
	Text string
	// Policy and Payload are the two parts of Text: what the hook's author
	// wrote, and the event as one line of JSON. The payload is not trusted; a
	// client that can should send it in a message of its own.
	Policy, Payload string
	// Model is the hook's model, else [Options.DefaultModel]; opaque, may be
	// empty (PRM-6).
	Model string
	// Tools are offered exactly when the event has a trajectory (PRM-5). They
	// are usable until Answer returns.
	Tools []ModelTool
}

// ModelTool is a tool that the judging model may call. Its calls never fire
// hooks (PRM-8).
type ModelTool struct {
	Name        string
	Description string
	// Parameters is the JSON Schema of the arguments.
	Parameters json.RawMessage
	// Call runs the tool. The error, if any, is meant for the model; the text
	// is bounded. It may be called concurrently.
	Call func(ctx context.Context, arguments json.RawMessage) (string, error)
}

// ModelAnswer is what the model said.
type ModelAnswer struct {
	Text string
	// Truncated tells that the answer was cut, by a token limit for example.
	Truncated bool
}

// argumentsMark is what a policy has in the payload's place.
const argumentsMark = "$ARGUMENTS"

// combine puts the payload into the policy, in one pass: a mark inside the
// payload is text (PRM-1).
func combine(policy, payload string) string {
	if strings.Contains(policy, argumentsMark) {
		return strings.ReplaceAll(policy, argumentsMark, payload)
	}
	return policy + "\n\nContext:\n" + payload
}

// promptRunner runs a Prompt.
type promptRunner struct {
	prompt    Prompt
	model     Model
	name      string
	folders   []string
	abandoned *atomic.Int64
	reader    answerReader
}

func (r *promptRunner) run(ctx context.Context, in *invocation, a *answer) {
	payload := strings.TrimSuffix(string(in.payload.append(nil, in.summary)), "\n")
	q := ModelRequest{
		Text: combine(r.prompt.Text, payload), Policy: r.prompt.Text, Payload: payload,
		Model: r.name,
	}
	if in.summary != nil && *in.summary != "" {
		reader := promptReader{folders: r.folders}
		if in.trajectory != nil {
			// A literal path is not opened (IN-13): it may come from a
			// captured payload, and lead anywhere.
			reader.trajectory = *in.summary
		}
		q.Tools = reader.tools()
	}
	said, failure := guarded(ctx, r.abandoned, r.model.Answer, q)
	if failure != nil {
		// A model that panics or errs failed as a model; only its deadline is
		// told apart (F29).
		own := errors.Is(failure.Err, context.Canceled) && !errors.Is(ctx.Err(), context.Canceled)
		if failure.Kind != FailureTimeout || own {
			failure.Kind = FailureModel
		}
		a.failure = failure
		return
	}
	rd := r.reader.prompt(said.Text, said.Truncated)
	if rd.invalid != "" {
		*a = failed(FailureOutput, nil, "%s", rd.invalid)
		return
	}
	a.result = rd.result
}
