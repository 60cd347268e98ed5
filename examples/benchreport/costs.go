package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hookruntime/hooks"
)

// curves are what the report draws; short ones take a moment and mean nothing.
func curves(short bool) []curve {
	all := []curve{
		{
			file: "registered.svg", title: "An event that no hook matches", x: "hooks registered", y: "ns",
			at: []int{1, 10, 100, 1000, 10_000}, rounds: 51,
			sides: []side{{"hooks", unmatched}, {"one sync.Map load", load}},
		},
		{
			file: "payload.svg", title: "One command hook", x: "KB of payload", y: "ms", logY: true,
			at: []int{1, 10, 100, 1000, 10_000}, rounds: 31,
			sides: []side{{"hooks", oneCommand}, {"os/exec", oneProcess}},
		},
		{
			file: "together.svg", title: "Hooks of 100 ms on one event", x: "hooks", y: "ms",
			at: []int{1, 2, 4, 8, 16}, rounds: 7,
			sides: []side{{"independent", together}, {"os/exec, started together", processes}, {"one by one", oneByOne}},
		},
		{
			file: "inflight.svg", title: "Events in flight, a hook of 100 ms", x: "events", y: "MB of heap and stacks", logY: true,
			at: []int{1, 10, 100, 1000}, rounds: 5,
			sides: []side{{"hooks", eventsInFlight}, {"os/exec", processesInFlight}},
		},
	}
	if short {
		for i := range all {
			all[i].at, all[i].rounds = all[i].at[:2], 1
		}
	}
	return all
}

const (
	readAll = `cat >/dev/null; echo '{}'`
	nap     = `sleep 0.1`
)

// event returns an event whose payload has some size KB.
func event(size int) *hooks.PreToolUse {
	return &hooks.PreToolUse{ToolName: "T", ToolInput: json.RawMessage(`{"text":"` + strings.Repeat("x", size*1000) + `"}`)}
}

// commands returns a runtime in which n independent hooks run the same line.
func commands(n, parallel int, line string) (*hooks.Runtime, error) {
	all := make([]hooks.Hook, n)
	for i := range all {
		all[i] = hooks.Hook{
			Name: fmt.Sprint("h", i), On: hooks.OnPreToolUse, Tier: hooks.TierSystem, Matcher: "*",
			Independent: true, Run: hooks.Command{Line: line},
		}
	}
	return hooks.New(all, &hooks.Options{Parallel: parallel})
}

// evaluate evaluates an event whose hooks all pass.
func evaluate(ctx context.Context, rt *hooks.Runtime, ev hooks.Event) error {
	d, err := rt.Evaluate(ctx, ev)
	if err != nil {
		return err
	}
	for s := range d.Steps() {
		if s.Failure != nil {
			return fmt.Errorf("hook %s: %w", s.Hook, s.Failure)
		}
	}
	return nil
}

// plain is the process of a command hook as a host without hooks would make it.
func plain(ctx context.Context, line string, payload []byte) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/bin/bash", "--noprofile", "--norc", "-c", line)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(payload), new(bytes.Buffer), new(bytes.Buffer)
	return cmd
}

// duration samples how many of a unit f takes.
func duration(unit time.Duration, f func(context.Context) error) sample {
	return func(ctx context.Context) (float64, error) {
		start := time.Now()
		err := f(ctx)
		return float64(time.Since(start)) / float64(unit), err
	}
}

// often is how many times what takes nanoseconds is done for one sample; the
// unit of the sample is then often nanoseconds.
const often = 10_000

func unmatched(registered int) (sample, error) {
	all := make([]hooks.Hook, registered)
	for i := range all {
		all[i] = hooks.Hook{
			Name: fmt.Sprint("h", i), On: hooks.OnPreToolUse, Tier: hooks.TierSystem, Matcher: fmt.Sprintf("Other%d|Another%d", i, i),
			Run: hooks.Func(func(context.Context, hooks.Call) (hooks.Result, error) {
				return hooks.Result{}, errors.New("no tool has this name")
			}),
		}
	}
	rt, err := hooks.New(all, nil)
	if err != nil {
		return nil, err
	}
	ev := &hooks.PreToolUse{ToolName: "T"}
	return duration(often, func(ctx context.Context) error {
		for range often {
			if _, err := rt.Evaluate(ctx, ev); err != nil {
				return err
			}
		}
		return nil
	}), nil
}

func load(entries int) (sample, error) {
	var m sync.Map
	keys := make([]any, entries)
	for i := range keys {
		keys[i] = fmt.Sprint("tool", i)
		m.Store(keys[i], i)
	}
	return duration(often, func(context.Context) error {
		for range often {
			m.Load(keys[0])
		}
		return nil
	}), nil
}

func oneCommand(size int) (sample, error) {
	rt, err := commands(1, 1, readAll)
	ev := event(size)
	return duration(time.Millisecond, func(ctx context.Context) error { return evaluate(ctx, rt, ev) }), err
}

func oneProcess(size int) (sample, error) {
	payload, err := hooks.EncodeEvent(event(size))
	return duration(time.Millisecond, func(ctx context.Context) error { return plain(ctx, readAll, payload).Run() }), err
}

func together(n int) (sample, error) { return naps(n, n) }
func oneByOne(n int) (sample, error) { return naps(n, 1) }

func naps(n, parallel int) (sample, error) {
	rt, err := commands(n, parallel, nap)
	ev := event(1)
	return duration(time.Millisecond, func(ctx context.Context) error { return evaluate(ctx, rt, ev) }), err
}

func processes(n int) (sample, error) {
	payload, err := hooks.EncodeEvent(event(1))
	return duration(time.Millisecond, func(ctx context.Context) error {
		return atOnce(n, func() error { return plain(ctx, nap, payload).Run() })
	}), err
}

func eventsInFlight(n int) (sample, error) {
	rt, err := commands(1, 1, nap)
	ev := event(0)
	return func(ctx context.Context) (float64, error) {
		return peakHeap(func() error { return atOnce(n, func() error { return evaluate(ctx, rt, ev) }) })
	}, err
}

func processesInFlight(n int) (sample, error) {
	payload, err := hooks.EncodeEvent(event(0))
	return func(ctx context.Context) (float64, error) {
		return peakHeap(func() error { return atOnce(n, func() error { return plain(ctx, nap, payload).Run() }) })
	}, err
}

func atOnce(n int, f func() error) error {
	var group errgroup.Group
	for range n {
		group.Go(f)
	}
	return group.Wait()
}

// peakHeap returns by how many MB the heap grows while f runs, goroutines'
// stacks included.
func peakHeap(f func() error) (float64, error) {
	now := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	read := func() float64 {
		metrics.Read(now)
		return float64(now[0].Value.Uint64()+now[1].Value.Uint64()) / 1e6
	}
	debug.FreeOSMemory() // collects, and waits for it
	before := read()
	done := make(chan error, 1)
	go func() { done <- f() }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	peak := before
	for {
		peak = max(peak, read())
		select {
		case err := <-done:
			// A logarithm must not see zero.
			return max(peak-before, 0.001), err
		case <-tick.C:
		}
	}
}
