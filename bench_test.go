package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/dlclark/regexp2"
)

// Each benchmark stands beside its baseline in the same run; what counts is
// the ratio, and the allocations.

func toolNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("mcp__server__tool_%d", i)
	}
	return names
}

// BenchmarkUnmatched: an event that no hook matches, however many there are.
func BenchmarkUnmatched(b *testing.B) {
	names := toolNames(50)
	b.Run("sync.Map", func(b *testing.B) {
		var m sync.Map
		keys := make([]any, len(names))
		for i, n := range names {
			keys[i] = n
			m.Store(n, i)
		}
		i := 0
		b.ReportAllocs()
		for b.Loop() {
			m.Load(keys[i%50])
			i++
		}
	})
	for _, n := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			all := make([]Hook, n)
			for i := range all {
				all[i] = says(TierSystem, fmt.Sprint("h", i), Pass())
				all[i].Matcher = fmt.Sprintf("Other%d|Another%d", i, i)
			}
			rt := newRuntime(b, nil, all...)
			events := make([]Event, len(names))
			for i, name := range names {
				events[i] = &PreToolUse{ToolName: name}
				evaluate(b, rt, events[i])
			}
			ctx, i := context.Background(), 0
			b.ReportAllocs()
			for b.Loop() {
				if d, err := rt.Evaluate(ctx, events[i%50]); err != nil || d.Blocks() {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

// BenchmarkFunc: an event with one Func hook and a payload of 1 KB, beside
// json.Marshal of the same fields.
func BenchmarkFunc(b *testing.B) {
	ev := &PreToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"` + strings.Repeat("x", 1000) + `"}`), CallID: "c"}
	b.Run("json.Marshal", func(b *testing.B) {
		fields := struct {
			HookEventName             string          `json:"hook_event_name"`
			AgentName                 string          `json:"agent_name"`
			CurrentTurn               int             `json:"current_turn"`
			MaxTurns                  int             `json:"max_turns"`
			ExecutionSummary          *string         `json:"execution_summary"`
			ToolName                  string          `json:"tool_name"`
			ToolInput                 json.RawMessage `json:"tool_input"`
			ToolDescription           *string         `json:"tool_description"`
			AgentMode                 string          `json:"agent_mode"`
			IsWriteAction             bool            `json:"is_write_action"`
			RequiresApproval          bool            `json:"requires_approval"`
			RequiresBrowserConnection bool            `json:"requires_browser_connection"`
			CallID                    string          `json:"call_id"`
		}{HookEventName: "PreToolUse", ToolName: ev.ToolName, ToolInput: ev.ToolInput, CallID: ev.CallID}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(fields); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("hooks", func(b *testing.B) {
		rt := newRuntime(b, nil, says(TierSystem, "h", Pass()))
		ctx := context.Background()
		b.ReportAllocs()
		for b.Loop() {
			if d, err := rt.Evaluate(ctx, ev); err != nil || d.Blocks() {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkMatcher: the first sight of a tool name, beside the same without
// this package.
func BenchmarkMatcher(b *testing.B) {
	names := toolNames(50)
	equal := func(want ...string) func(string) bool {
		return func(s string) bool {
			for _, w := range want {
				if s == w {
					return true
				}
			}
			return false
		}
	}
	std := regexp.MustCompile(`^(?:mcp__.*_4\d)$`)
	net := regexp2.MustCompile(`\A(?:mcp__.*_4\d)\z`, regexp2.None)
	net.MatchTimeout = matchTimeout
	for _, bm := range []struct {
		name string
		fn   func(string) bool
	}{
		{"literal/==", equal("mcp__server__tool_3")},
		{"literal/hooks", matches("mcp__server__tool_3")},
		{"alternation/==", equal("mcp__server__tool_3", "mcp__server__tool_4", "mcp__server__tool_5")},
		{"alternation/hooks", matches("mcp__server__tool_3|mcp__server__tool_4|mcp__server__tool_5")},
		{"pattern/regexp", std.MatchString},
		{"pattern/regexp2", func(s string) bool { ok, _ := net.MatchString(s); return ok }},
		{"pattern/hooks", matches(`mcp__.*_4\d`)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				bm.fn(names[i%50])
				i++
			}
		})
	}
}

func matches(pattern string) func(string) bool {
	m := compileMatcher(pattern, Contract)
	return func(s string) bool { ok, _ := m.match(s); return ok }
}

// BenchmarkAnswer: reading a command's answer, beside one json.Valid.
func BenchmarkAnswer(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		doc := []byte(`{"ok":true,"hookSpecificOutput":{"additionalContext":"` + strings.Repeat("x", size/2) + `","key":[` + strings.Repeat(`{"a":1},`, size/16) + `0]}}`)
		b.Run(fmt.Sprintf("%dKB/json.Valid", size>>10), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !json.Valid(doc) {
					b.Fatal("invalid")
				}
			}
		})
		b.Run(fmt.Sprintf("%dKB/hooks", size>>10), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if rd := readerFor(Contract).command(doc); rd.invalid != "" {
					b.Fatal(rd.invalid)
				}
			}
		})
	}
}
