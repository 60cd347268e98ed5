//go:build unix

package hooks

import (
	"bytes"
	"fmt"
	"os/exec"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// plain is the process of a command hook as a host without this package would
// make it.
func plain(line string, payload []byte) *exec.Cmd {
	cmd := exec.Command("/bin/bash", "--noprofile", "--norc", "-c", line)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(payload), new(bytes.Buffer), new(bytes.Buffer)
	return cmd
}

// commands are hooks that run the same line.
func commands(n int, line string) []Hook {
	all := make([]Hook, n)
	for i := range all {
		all[i] = command(fmt.Sprint("h", i), Command{Line: line})
	}
	return all
}

// BenchmarkCommand shows what the chain costs beside the processes of its
// hooks. Of the payload the host has a copy already; B/op tells how many more
// there are.
func BenchmarkCommand(b *testing.B) {
	const line = `cat >/dev/null; echo '{}'`
	benchmarkSides(b, line, 1000)
	for _, bm := range []struct {
		name        string
		size, hooks int
	}{{"1KB/1", 1000, 1}, {"10MB/1", 10 << 20, 1}, {"10MB/8", 10 << 20, 8}} {
		b.Run(bm.name, func(b *testing.B) {
			ev := &PreToolUse{ToolName: "T", ToolInput: blob(bm.size)}
			payload, err := EncodeEvent(ev)
			require.NoError(b, err)
			baseline := func(n int) {
				for range n * bm.hooks {
					require.NoError(b, plain(line, payload).Run())
				}
			}
			compare(b, baseline, evaluations(b, newRuntime(b, nil, commands(bm.hooks, line)...), ev))
		})
	}
}

// BenchmarkCommand/raw and /hooks are the two sides of BenchmarkCommand/1KB/1
// on their own, for benchstat.
func benchmarkSides(b *testing.B, line string, size int) {
	ev := &PreToolUse{ToolName: "T", ToolInput: blob(size)}
	payload, err := EncodeEvent(ev)
	require.NoError(b, err)
	rt := newRuntime(b, nil, commands(1, line)...)
	b.Run("raw", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, plain(line, payload).Run())
		}
	})
	b.Run("hooks", func(b *testing.B) {
		for b.Loop() {
			evaluate(b, rt, ev)
		}
	})
}

// BenchmarkTogether: eight independent hooks, beside their processes started
// together.
func BenchmarkTogether(b *testing.B) {
	const line, count = `sleep 0.1`, 8
	all := commands(count, line)
	for i := range all {
		all[i].Independent = true
	}
	ev := &PreToolUse{ToolName: "T"}
	payload, err := EncodeEvent(ev)
	require.NoError(b, err)
	baseline := func(n int) {
		for range n {
			var started [count]*exec.Cmd
			for i := range started {
				started[i] = plain(line, payload)
				require.NoError(b, started[i].Start())
			}
			for _, cmd := range started {
				require.NoError(b, cmd.Wait())
			}
		}
	}
	compare(b, baseline, evaluations(b, newRuntime(b, &Options{Parallel: count}, all...), ev))
}

// BenchmarkInFlight: how far the heap grows, stacks included, while a thousand
// events are in flight, beside a thousand processes; with -short, fifty. The
// collector is as it is ordinarily.
func BenchmarkInFlight(b *testing.B) {
	const line = `sleep 0.1`
	count := 1000
	if testing.Short() {
		count = 50
	}
	ev := &PreToolUse{ToolName: "T"}
	payload, err := EncodeEvent(ev)
	require.NoError(b, err)
	rt := newRuntime(b, nil, commands(1, line)...)
	baseline := atOnce(count, func() {
		if err := plain(line, payload).Run(); err != nil {
			b.Error(err)
		}
	})
	hooks := atOnce(count, func() {
		if d, err := rt.Evaluate(b.Context(), ev); err != nil || slices.Collect(d.Steps())[0].Failure != nil {
			b.Error(d.Explain(), err)
		}
	})
	peakHeap(baseline) // threads, once started, stay
	var base, ours, ratios []float64
	for b.Loop() {
		x, y := peakHeap(baseline), peakHeap(hooks)
		base, ours, ratios = append(base, x), append(ours, y), append(ratios, y/x)
	}
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(base)/float64(count), "baseline-heap-B/event")
	b.ReportMetric(median(ours)/float64(count), "heap-B/event")
	b.ReportMetric(0, "ns/op") // of both; it means nothing
}

func atOnce(count int, f func()) func() {
	return func() {
		var wg sync.WaitGroup
		for range count {
			wg.Go(f)
		}
		wg.Wait()
	}
}

// heapNow is what the heap's objects and the goroutines' stacks take.
func heapNow() float64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(sample)
	return float64(sample[0].Value.Uint64() + sample[1].Value.Uint64())
}

// peakHeap returns how far the heap grows while f runs.
func peakHeap(f func()) float64 {
	debug.FreeOSMemory() // collects, and waits for it
	before := heapNow()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for peak := before; ; peak = max(peak, heapNow()) {
		select {
		case <-done:
			return peak - before
		case <-tick.C:
		}
	}
}

// BenchmarkFlood: a hook that prints 64 MiB comes to its end, and B/op stays
// small.
func BenchmarkFlood(b *testing.B) {
	for _, output := range []string{"stdout", "stderr"} {
		b.Run(output, func(b *testing.B) {
			rt := newRuntime(b, nil, commands(1, `head -c 67108864 /dev/zero >/dev/`+output)...)
			b.ReportAllocs()
			for b.Loop() {
				d := evaluate(b, rt, &PreToolUse{ToolName: "T"})
				if s := slices.Collect(d.Steps())[0]; s.ExitCode == nil || *s.ExitCode != 0 {
					b.Fatal(d.Explain())
				}
			}
		})
	}
}
