package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dlclark/regexp2"
)

// compare measures hooks beside a baseline that does the same without this
// package; both are told how often. They run in turn, so that whatever else
// the machine does hits both, and what counts is the median of the ratios. The
// ordinary metrics are those of hooks alone.
func compare(b *testing.B, baseline, hooks func(n int)) {
	b.Helper()
	n := 1
	for took(baseline, n) < 200*time.Microsecond { // far above what reading the clock takes
		n *= 2
	}
	hooks(n) // whatever is made once is there now
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	hooks(n)
	runtime.ReadMemStats(&after)

	var base, ours, ratios []float64
	b.ReportAllocs()
	for b.Loop() {
		x, y := float64(took(baseline, n)), float64(took(hooks, n))
		base, ours, ratios = append(base, x), append(ours, y), append(ratios, y/x)
	}
	times := float64(n)
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(base)/times, "baseline-ns/op")
	b.ReportMetric(median(ours)/times, "ns/op")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/times, "B/op")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/times, "allocs/op")
}

func took(f func(n int), n int) time.Duration {
	start := time.Now()
	f(n)
	return time.Since(start)
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// evaluations evaluates events in turn, none of which is blocked.
func evaluations(b *testing.B, rt *Runtime, events ...Event) func(n int) {
	ctx := context.Background()
	return func(n int) {
		for i := range n {
			if d, err := rt.Evaluate(ctx, events[i%len(events)]); err != nil || d.Blocks() {
				b.Fatal(d.Outcome, err)
			}
		}
	}
}

func toolNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("mcp__server__tool_%d", i)
	}
	return names
}

// BenchmarkUnmatched: an event that no hook matches, however many there are,
// beside one load from a sync.Map.
func BenchmarkUnmatched(b *testing.B) {
	names := toolNames(50)
	var m sync.Map
	keys, events := make([]any, len(names)), make([]Event, len(names))
	for i, name := range names {
		keys[i], events[i] = name, &PreToolUse{ToolName: name}
		m.Store(name, i)
	}
	load := func(n int) {
		for i := range n {
			m.Load(keys[i%len(keys)])
		}
	}
	for _, count := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			all := make([]Hook, count)
			for i := range all {
				all[i] = says(TierSystem, fmt.Sprint("h", i), Pass())
				all[i].Matcher = fmt.Sprintf("Other%d|Another%d", i, i)
			}
			compare(b, load, evaluations(b, newRuntime(b, nil, all...), events...))
		})
	}
}

// BenchmarkFunc: an event with one Func hook and a payload of 1 KB, beside
// json.Marshal of the same fields.
func BenchmarkFunc(b *testing.B) {
	ev := &PreToolUse{ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"` + strings.Repeat("x", 1000) + `"}`), CallID: "c"}
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
	marshal := func(n int) {
		for range n {
			if _, err := json.Marshal(fields); err != nil {
				b.Fatal(err)
			}
		}
	}
	compare(b, marshal, evaluations(b, newRuntime(b, nil, says(TierSystem, "h", Pass())), ev))
}

// BenchmarkMatcher: the first sight of a tool name, beside the same without
// this package.
func BenchmarkMatcher(b *testing.B) {
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
	hooks := func(pattern string) func(string) bool {
		m := compileMatcher(pattern, Contract)
		return func(s string) bool { ok, _ := m.match(s); return ok }
	}
	const pattern = `mcp__.*_4\d`
	net := regexp2.MustCompile(`\A(?:`+pattern+`)\z`, regexp2.None)
	net.MatchTimeout = matchTimeout

	names := toolNames(50)
	each := func(match func(string) bool) func(n int) {
		return func(n int) {
			for i := range n {
				match(names[i%len(names)])
			}
		}
	}
	for _, bm := range []struct {
		name            string
		baseline, hooks func(string) bool
	}{
		{"literal", equal(names[3]), hooks(names[3])},
		{"alternation", equal(names[3:6]...), hooks(strings.Join(names[3:6], "|"))},
		{"pattern/regexp2", func(s string) bool { ok, _ := net.MatchString(s); return ok }, hooks(pattern)},
		{"pattern/regexp", regexp.MustCompile(`^(?:` + pattern + `)$`).MatchString, hooks(pattern)},
	} {
		b.Run(bm.name, func(b *testing.B) { compare(b, each(bm.baseline), each(bm.hooks)) })
	}
}

// BenchmarkAnswer: reading a command's answer, beside one json.Valid.
func BenchmarkAnswer(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		doc := []byte(`{"ok":true,"hookSpecificOutput":{"additionalContext":"` + strings.Repeat("x", size/2) + `","key":[` + strings.Repeat(`{"a":1},`, size/16) + `0]}}`)
		valid := func(n int) {
			for range n {
				if !json.Valid(doc) {
					b.Fatal("invalid")
				}
			}
		}
		read := func(n int) {
			for range n {
				if rd := readerFor(Contract).command(doc); rd.invalid != "" {
					b.Fatal(rd.invalid)
				}
			}
		}
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) { compare(b, valid, read) })
	}
}
