package hooks_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookruntime/hooks"
)

// TestPayloads holds that captured payloads are what the encoder writes, byte
// for byte, and that a story replays each (IN-13, DOC-1).
func TestPayloads(t *testing.T) {
	files, err := filepath.Glob("testdata/payloads/*.json")
	require.NoError(t, err)
	stories, err := os.ReadFile(filepath.Join(storiesDir, "payloads.yaml"))
	require.NoError(t, err)
	tools := []string{
		"ReadFile", "CreateFile", "ReplaceStringInFile", "MultiReplaceStringInFile", "GrepSearch",
		"FileSearch", "ListDir", "RunInTerminal", "Task", "Agent", "read_skill_file",
	}
	for _, tool := range tools {
		assert.Contains(t, files, filepath.Join("testdata", "payloads", tool+".json"), "a row of the tool table")
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			ev, err := hooks.ParseEvent(data)
			require.NoError(t, err)
			again, err := hooks.EncodeEvent(ev)
			require.NoError(t, err)
			assert.Equal(t, string(data), string(again))
			assert.Contains(t, string(stories), "payload_file: ../payloads/"+name+"\n")
			if pre, ok := ev.(*hooks.PreToolUse); ok {
				assert.Equal(t, strings.TrimSuffix(name, ".json"), pre.ToolName)
			}
		})
	}
}
