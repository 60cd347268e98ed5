package anthropic

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
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
	MaxTokens   int `json:"max_tokens"`
	Temperature *float64
	System      []struct{ Text string }
	Messages    []struct {
		Role    string
		Content []block
	}
	Tools []struct {
		Name, Description string
		InputSchema       json.RawMessage `json:"input_schema"`
	}
	ToolChoice struct{ Type string } `json:"tool_choice"`
}

type block struct {
	Type      string
	Text      string
	ID        string
	ToolUseID string `json:"tool_use_id"`
	IsError   bool   `json:"is_error"`
	Content   []struct{ Text string }
}

// serve starts a service. It answers no request that the real one would not
// understand.
func serve(t *testing.T, replies ...http.HandlerFunc) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		assert.Equal(t, "POST /v1/messages", r.Method+" "+r.URL.Path)
		assert.Equal(t, key, r.Header.Get("X-Api-Key"))
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
	return New(sdk.NewClient(option.WithoutEnvironmentDefaults(), option.WithBaseURL(s.URL),
		option.WithAPIKey(key), option.WithHTTPClient(s.Client())), opts)
}

// says is a message of the model.
func says(stop string, content ...string) http.HandlerFunc {
	return raw(200, fmt.Sprintf(`{"id":"msg_1","type":"message","role":"assistant","model":"claude-test",
		"content":[%s],"stop_reason":%q,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":9}}`,
		strings.Join(content, ","), stop))
}

func text(s string) string {
	quoted, _ := json.Marshal(s)
	return fmt.Sprintf(`{"type":"text","text":%s}`, quoted)
}

func toolUse(id, name, input string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":%s}`, id, name, input)
}

// fails is an error of the service, whose text quotes more than it should.
func fails(status int, kind string, header ...string) http.HandlerFunc {
	return raw(status, fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":"%s %s"},"request_id":"req_1"}`,
		kind, key, policy), append(header, "Request-Id", "req_1")...)
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
