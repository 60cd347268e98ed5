package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWithoutKey(t *testing.T) {
	var out strings.Builder
	require.NoError(t, judge(t.Context(), &out, "", "gpt-test", "ls"))
	assert.Equal(t, "OPENAI_API_KEY is not set: nothing is asked.\n", out.String())
}

func TestJudge(t *testing.T) {
	reply := `{"object":"chat.completion","choices":[{"index":0,"finish_reason":"stop","message":
		{"role":"assistant","content":"{\"ok\": false, \"reason\": \"There is no backup.\"}"}}]}`
	status := http.StatusOK
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		io.WriteString(w, reply)
	}))
	defer s.Close()
	t.Setenv("OPENAI_BASE_URL", s.URL)

	var out strings.Builder
	require.NoError(t, judge(t.Context(), &out, "key", "gpt-test", "rm -rf /srv"))
	assert.Contains(t, out.String(), "reject, decided by backup-first")
	assert.Contains(t, out.String(), "the agent is told: [Tool execution blocked] There is no backup.\n")

	reply, status = `{"error":{"type":"invalid_request_error","code":"invalid_api_key"}}`, http.StatusUnauthorized
	out.Reset()
	require.NoError(t, judge(t.Context(), &out, "key", "gpt-test", "rm -rf /srv"))
	assert.Contains(t, out.String(), "the judge failed: model: openai: the service answered 401 invalid_request_error invalid_api_key\n")
}
