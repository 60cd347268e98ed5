package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const key = "sk-canary-key"

// service speaks the wire format of the real one. It gives each request the
// next of its replies, the last one again and again.
type service struct {
	*httptest.Server
	mu   sync.Mutex
	seen []request
}

// request is what the tests look at in a request.
type request struct {
	Model       string
	MaxTokens   int `json:"max_completion_tokens"`
	Temperature *float64
	Messages    []message
	Tools       []struct {
		Type     string
		Function struct {
			Name, Description string
			Parameters        json.RawMessage
		}
	}
	ToolChoice string `json:"tool_choice"`
}

type message struct {
	Role, Content string
	ToolCallID    string            `json:"tool_call_id"`
	ToolCalls     []json.RawMessage `json:"tool_calls"`
}

// serve starts a service. It answers no request that the real one would not
// understand.
func serve(t *testing.T, replies ...http.HandlerFunc) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		assert.Equal(t, "POST /chat/completions", r.Method+" "+r.URL.Path)
		assert.Equal(t, "Bearer "+key, r.Header.Get("Authorization"))
		var q request
		assert.NoError(t, json.Unmarshal(body, &q))
		s.mu.Lock()
		s.seen = append(s.seen, q)
		reply := replies[min(len(s.seen), len(replies))-1]
		s.mu.Unlock()
		reply(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// requests returns what was asked so far.
func (s *service) requests() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

func (s *service) model(opts *Options) *Model {
	return New(sdk.NewClient(option.WithBaseURL(s.URL),
		option.WithAPIKey(key), option.WithHTTPClient(s.Client())), opts)
}

// says is an answer of the model. The content is JSON.
func says(finish, content string, calls ...string) http.HandlerFunc {
	return replies(finish, fmt.Sprintf(`{"role":"assistant","content":%s,"refusal":null,"tool_calls":[%s]}`,
		content, strings.Join(calls, ",")))
}

func replies(finish, message string) http.HandlerFunc {
	return raw(200, fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"gpt-test",
		"choices":[{"index":0,"logprobs":null,"finish_reason":%q,"message":%s}],
		"usage":{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18}}`, finish, message))
}

func text(s string) string {
	quoted, _ := json.Marshal(s)
	return string(quoted)
}

func toolCall(id, name, arguments string) string {
	return fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}`, id, name, text(arguments))
}

// fails is an error of the service, whose text quotes more than it should.
func fails(status int, kind, code string, header ...string) http.HandlerFunc {
	return raw(status, fmt.Sprintf(`{"error":{"type":%q,"code":%q,"param":null,"message":"%s %s"}}`,
		kind, code, key, policy), append(header, "X-Request-Id", "req_1")...)
}

func raw(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func decode[T any](t *testing.T, data string) (v T) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(data), &v))
	return v
}
