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
	require.NoError(t, judge(t.Context(), &out, "", "claude-test", "ls"))
	assert.Equal(t, "ANTHROPIC_API_KEY is not set: nothing is asked.\n", out.String())
}

func TestJudge(t *testing.T) {
	reply := `{"type":"message","role":"assistant","content":[{"type":"text",
		"text":"{\"ok\": false, \"reason\": \"There is no backup.\"}"}],"stop_reason":"end_turn"}`
	status := http.StatusOK
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		io.WriteString(w, reply)
	}))
	defer s.Close()
	t.Setenv("ANTHROPIC_BASE_URL", s.URL)

	var out strings.Builder
	require.NoError(t, judge(t.Context(), &out, "key", "claude-test", "rm -rf /srv"))
	assert.Contains(t, out.String(), "reject, decided by backup-first")
	assert.Contains(t, out.String(), "the agent is told: [Tool execution blocked] There is no backup.\n")

	reply, status = `{"type":"error","error":{"type":"authentication_error"}}`, http.StatusUnauthorized
	out.Reset()
	require.NoError(t, judge(t.Context(), &out, "key", "claude-test", "rm -rf /srv"))
	assert.Contains(t, out.String(), "the judge failed: model: anthropic: the service answered 401 authentication_error\n")
}
