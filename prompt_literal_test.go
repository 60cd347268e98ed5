package hooks

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// clause: IN-13 PRM-5
//
// A literal path is not opened: a captured payload could name any file. The
// tools are there all the same, and read it in a folder that the host names.
func TestToolsDoNotOpenALiteralPath(t *testing.T) {
	bothConducts(t, func(t *testing.T, c Conduct) {
		file := filepath.Join(t.TempDir(), "run.json")
		require.NoError(t, os.WriteFile(file, []byte(`["turn one"]`), 0o600))
		path, err := json.Marshal(file)
		require.NoError(t, err)
		for _, folders := range [][]string{nil, {filepath.Dir(file)}} {
			var read, grep, search string
			reads := model(func(ctx context.Context, q ModelRequest) (ModelAnswer, error) {
				require.Len(t, q.Tools, 2)
				read, _ = q.Tools[0].Call(ctx, raw(`{"path":`+string(path)+`}`))
				grep, _ = q.Tools[1].Call(ctx, raw(`{"pattern":"turn","path":`+string(path)+`}`))
				search, _ = q.Tools[1].Call(ctx, raw(`{"pattern":"turn"}`))
				return ModelAnswer{Text: `{"ok":true}`}, nil
			})
			rt := newRuntime(t, &Options{Conduct: c, Model: reads, PromptFolders: folders},
				Hook{Name: "judge", On: OnStop, Tier: TierSystem, Run: Prompt{Text: "ok?"}})
			evaluate(t, rt, &Stop{Common: Common{ExecutionSummary: file}})
			if folders == nil {
				assert.Empty(t, read+grep+search)
				continue
			}
			assert.Equal(t, `["turn one"]`, read)
			assert.Contains(t, grep, "turn one")
		}
	})
}
