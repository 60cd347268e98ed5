package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// says returns a Func hook for every tool that answers with r.
func says(tier Tier, name string, r Result) Hook {
	return Hook{Name: name, On: OnPreToolUse, Tier: tier, Matcher: "*",
		Run: Func(func(context.Context, Call) (Result, error) { return r, nil })}
}

func newRuntime(t testing.TB, opts *Options, hooks ...Hook) *Runtime {
	t.Helper()
	rt, err := New(hooks, opts)
	require.NoError(t, err)
	return rt
}

func evaluate(t testing.TB, rt *Runtime, ev Event) Decision {
	t.Helper()
	d, err := rt.Evaluate(context.Background(), ev)
	require.NoError(t, err)
	return d
}

func fates(steps func(func(Step) bool)) string {
	var out []string
	for s := range steps {
		out = append(out, strings.TrimSuffix(fmt.Sprintf("%s:%s:%s", s.Hook.Name, s.Fate, s.Decision), ":"))
	}
	return strings.Join(out, " ")
}

// TestFold is AGG-1 to AGG-9 and QRK-4 over chains of letters: p passes, r
// rejects, a allows, q asks, d denies, b rejects and asks in one answer.
func TestFold(t *testing.T) {
	answers := map[rune]Result{
		'p': Pass(), 'r': Reject("r"), 'a': Allow(), 'q': Ask("q?"), 'd': Deny("d"),
		'b': {Rejects: true, Reason: "r", Permission: PermissionAsk, Question: "q?"},
	}
	run := func(chain string, c Conduct) Decision {
		var hooks []Hook
		for i, letter := range chain {
			hooks = append(hooks, says(TierSystem, fmt.Sprintf("%c%d", letter, i), answers[letter]))
		}
		return evaluate(t, newRuntime(t, &Options{Conduct: c}, hooks...), &PreToolUse{ToolName: "T"})
	}
	for _, tc := range [][3]string{
		{"", "pass", ""}, {"p", "pass", ""}, {"pa", "allow a1", ""}, {"aap", "allow a0", ""},
		{"r", "reject r0", ""}, {"prr", "reject r1", ""}, {"ar", "reject r1", ""}, {"ra", "reject r0", ""},
		{"rq", "ask q1", "reject r0"}, {"qr", "ask q0", "reject r1"}, {"qd", "ask q0", "deny d1"},
		{"qq", "ask q0", ""}, {"aq", "ask q1", ""}, {"dq", "deny d0", ""}, {"rd", "deny d1", ""}, {"dr", "deny d0", ""},
		{"b", "ask b0", "reject b0"}, {"bd", "ask b0", "deny d1"}, {"rb", "ask b1", "reject r0"},
	} {
		for c, want := range map[Conduct]string{Contract: tc[1], Hardened: tc[2]} {
			if want == "" {
				want = tc[1]
			}
			d := run(tc[0], c)
			assert.Equal(t, want, strings.TrimSpace(d.Outcome.String()+" "+d.By), "%s in %v", tc[0], c)
		}
	}

	// Hardened is never weaker than Contract, for every chain up to four.
	weakness := []Outcome{OutcomeAllow, OutcomePass, OutcomeAsk, OutcomeReject, OutcomeDeny}
	var chains func(prefix string, n int)
	chains = func(prefix string, n int) {
		soft, hard := run(prefix, Contract), run(prefix, Hardened)
		assert.LessOrEqual(t, slices.Index(weakness, soft.Outcome), slices.Index(weakness, hard.Outcome), prefix)
		if n > 0 {
			for letter := range answers {
				chains(prefix+string(letter), n-1)
			}
		}
	}
	chains("", 3)

	d := run("rr", Contract)
	assert.Equal(t, "r\nr", d.Reason)
	assert.Len(t, d.Rejections, 2)
	d = run("rq", Contract)
	assert.Empty(t, d.Rejections, "an ask drops the rejections")
	d = run("aa", Contract)
	assert.Len(t, d.Allows, 2)
	assert.Equal(t, `"a0"`, string(d.Metadata.Get(AllowingHook)), "MD-4")
}

// TestOrder is AGG-1: tiers first, then registration.
func TestOrder(t *testing.T) {
	var ran []string
	add := func(tier Tier, name string) Hook {
		return Hook{Name: name, On: OnPreToolUse, Tier: tier, Matcher: "*", Run: Func(func(_ context.Context, c Call) (Result, error) {
			ran = append(ran, c.Hook.Name)
			return Pass(), nil
		})}
	}
	rt := newRuntime(t, nil, add(TierUserGlobal, "u1"), add(TierAgent, "a1"), add(TierSystem, "s1"), add(TierAgent, "a2"), add(TierUserGlobal, "u2"), add(TierSystem, "s2"))
	evaluate(t, rt, &PreToolUse{ToolName: "T"})
	assert.Equal(t, "s1 s2 a1 a2 u1 u2", strings.Join(ran, " "))
}

// TestDelivery is AGG-6 to AGG-8 and the table of the contract.
func TestDelivery(t *testing.T) {
	with := func(name string, r Result, key string) Hook {
		r.Context = "from " + name
		require.NoError(t, r.Metadata.Add("k", name))
		require.NoError(t, r.Metadata.Add(key, 1))
		return says(TierSystem, name, r)
	}
	for _, tc := range []struct {
		second            Result
		context, metadata string
	}{
		{Pass(), "from b", `{"k":"a","x":1,"y":1}`},
		{Reject("no"), "from b", `{}`},
		{Allow(), "", `{"k":"a","x":1,"y":1,"_aggregation.allowing_hook":"b"}`},
		{Deny("no"), "", `{}`},
		{Ask("?"), "", `{}`},
	} {
		d := evaluate(t, newRuntime(t, nil, with("a", Pass(), "x"), with("b", tc.second, "y")), &PreToolUse{ToolName: "T"})
		assert.Equal(t, tc.context, d.Context)
		got, err := json.Marshal(d.Metadata)
		require.NoError(t, err)
		assert.Equal(t, tc.metadata, string(got))
	}
	blank := says(TierUserGlobal, "blank", Pass().WithContext(" \n"))
	d := evaluate(t, newRuntime(t, nil, says(TierSystem, "a", Pass().WithContext("kept")), blank), &PreToolUse{ToolName: "T"})
	assert.Equal(t, "kept", d.Context, "white space is no context")
	blank = says(TierUserGlobal, "blank", Pass().WithContext("\x07\x1b"))
	d = evaluate(t, newRuntime(t, nil, says(TierSystem, "a", Pass().WithContext("kept")), blank), &PreToolUse{ToolName: "T"})
	assert.Equal(t, "kept", d.Context, "nor are control characters")
}

// TestCallsAlternate: one Runtime, one tool name; child and parent, two agents
// and switches in turn. Every call gets its own right plan.
func TestCallsAlternate(t *testing.T) {
	agent := func(name, owner string) Hook {
		h := says(TierAgent, name, Pass())
		h.Agent = owner
		return h
	}
	demand := says(TierUserGlobal, "demand", Pass())
	demand.OnDemand = true
	rt := newRuntime(t, nil, says(TierSystem, "sys", Pass()), agent("mine", "one"), agent("theirs", "two"), agent("any", ""), says(TierUserGlobal, "user", Pass()), demand,
		Hook{Name: "stop", On: OnStop, Tier: TierSystem, Run: Func(func(context.Context, Call) (Result, error) { return Pass(), nil })},
		Hook{Name: "own-stop", On: OnStop, Tier: TierAgent, Agent: "one", Run: Func(func(context.Context, Call) (Result, error) { return Pass(), nil })})
	calls := []struct {
		ev   Event
		want string
	}{
		{&PreToolUse{ToolName: "T", Common: Common{Agent: "one"}}, "sys:ran mine:ran theirs:out-of-scope any:ran user:ran demand:inactive"},
		{&PreToolUse{ToolName: "T", Common: Common{Agent: "two"}}, "sys:ran mine:out-of-scope theirs:ran any:ran user:ran demand:inactive"},
		{&PreToolUse{ToolName: "T", Common: Common{Agent: "one", Child: true}}, "sys:ran mine:ran theirs:out-of-scope any:ran user:ran demand:inactive"},
		{&PreToolUse{ToolName: "T", Common: Common{Switches: Switches{Activated: []string{"demand"}, Deactivated: []string{"user", "sys"}}}}, "sys:ran mine:out-of-scope theirs:out-of-scope any:ran user:inactive demand:ran"},
		{&Stop{Common: Common{Agent: "one"}}, "stop:ran own-stop:ran"},
		{&Stop{Common: Common{Agent: "one", Child: true}}, "stop:out-of-scope own-stop:ran"},
		{&Stop{Common: Common{Agent: "two"}}, "stop:ran own-stop:out-of-scope"},
	}
	for range 50 {
		for _, c := range calls {
			d := evaluate(t, rt, c.ev)
			require.Equal(t, c.want, strings.ReplaceAll(fates(d.Steps()), ":pass", ""))
		}
	}
}

// TestEventsHearDifferently is ST-1, ST-2, SP-1, PT-1.
func TestEventsHearDifferently(t *testing.T) {
	both := Result{Rejects: true, Reason: "r", Permission: PermissionAsk, Question: "q?", Context: "ctx"}
	for _, tc := range []struct {
		on      EventName
		say     Result
		outcome Outcome
		said    Outcome
		context string
	}{
		{OnStart, Pass().WithContext("ctx"), OutcomePass, OutcomePass, "ctx"},
		{OnStart, Reject("r").WithContext("ctx"), OutcomePass, OutcomeReject, "ctx"},
		{OnStart, Deny("r").WithContext("ctx"), OutcomePass, OutcomeDeny, ""},
		{OnStart, Ask("q").WithContext("ctx"), OutcomePass, OutcomeAsk, ""},
		{OnStart, Allow().WithContext("ctx"), OutcomePass, OutcomeAllow, ""},
		{OnStop, Reject("r").WithContext("ctx"), OutcomeReject, OutcomeReject, ""},
		{OnStop, Deny("r"), OutcomeReject, OutcomeDeny, ""},
		{OnStop, Ask("q"), OutcomePass, OutcomeAsk, ""},
		{OnStop, Allow(), OutcomePass, OutcomeAllow, ""},
		{OnStop, both, OutcomeReject, OutcomeReject, ""},
		{OnPostToolUse, Deny("r"), OutcomeDeny, OutcomeDeny, ""},
		{OnPostToolUse, Ask("q"), OutcomeAsk, OutcomeAsk, ""},
		{OnPostToolUse, Allow(), OutcomeAllow, OutcomeAllow, ""},
	} {
		h := says(TierSystem, "h", tc.say)
		h.On = tc.on
		ev := map[EventName]Event{OnStart: &Start{}, OnStop: &Stop{}, OnPostToolUse: &PostToolUse{ToolName: "T"}}[tc.on]
		for _, c := range []Conduct{Contract, Hardened} {
			d := evaluate(t, newRuntime(t, &Options{Conduct: c}, h), ev)
			s := slices.Collect(d.Steps())[0]
			assert.Equal(t, tc.outcome, d.Outcome, "%s %+v", tc.on, tc.say)
			assert.Equal(t, tc.said, s.Decision, "%s %+v", tc.on, tc.say)
			assert.Equal(t, tc.context, d.Context, "%s %+v", tc.on, tc.say)
		}
	}
}

// TestStartPermissionEndsTheChain is ST-2.
func TestStartPermissionEndsTheChain(t *testing.T) {
	h := func(name string, r Result) Hook {
		h := says(TierSystem, name, r)
		h.On = OnStart
		return h
	}
	d := evaluate(t, newRuntime(t, nil, h("a", Pass().WithContext("x")), h("b", Ask("?")), h("c", Pass())), &Start{})
	assert.Equal(t, "a:ran:pass b:ran:ask c:not-reached", fates(d.Steps()))
	assert.Empty(t, d.Context)
	assert.Empty(t, d.By)
}

// TestChildCannotAsk is SUB-3, TXT-4.
func TestChildCannotAsk(t *testing.T) {
	hook := says(TierSystem, "h", Ask("May I?"))
	var told bool
	spy := Hook{Name: "spy", On: OnPreToolUse, Tier: TierSystem, Matcher: "*", Run: Func(func(_ context.Context, c Call) (Result, error) {
		told = c.CannotAsk
		return Pass(), nil
	})}
	for _, common := range []Common{{Child: true}, {CannotAsk: true}} {
		d := evaluate(t, newRuntime(t, nil, spy, hook), &PreToolUse{Common: common, ToolName: "T"})
		assert.Equal(t, OutcomeDeny, d.Outcome)
		assert.Equal(t, "[Tool execution blocked] May I?", d.ForModel())
		assert.Equal(t, "h", d.By)
		assert.True(t, told, "SUB-4")
	}
	hook.On = OnPostToolUse
	d := evaluate(t, newRuntime(t, nil, hook), &PostToolUse{Common: Common{Child: true}, ToolName: "T"})
	assert.Equal(t, OutcomeDeny, d.Outcome)
	assert.True(t, d.Withheld)
	assert.Equal(t, "Tool executed, but its output was withheld as it needs user approval. Try to find an alternative approach.", d.ForModel())
	assert.Equal(t, d.Reason, d.ForModel())
}

// TestTexts is TXT-1 to TXT-5 and F51.
func TestTexts(t *testing.T) {
	dirty := "a\x1b[31m\x00b\r\n\tc\xff"
	d := evaluate(t, newRuntime(t, nil, says(TierSystem, "h", Reject(dirty))), &PreToolUse{ToolName: "T"})
	assert.Equal(t, "[Tool execution blocked] a[31mb\n\tc\ufffd", d.ForModel())
	assert.Equal(t, dirty, slices.Collect(d.Steps())[0].Reason, "the raw text stays in the step")

	h := says(TierSystem, "h", Reject("no"))
	h.On = OnPostToolUse
	d = evaluate(t, newRuntime(t, nil, h), &PostToolUse{ToolName: "T"})
	assert.Equal(t, "[Tool result blocked by hook] [Hook Blocked Tool Result] no", d.ForModel())
	d = evaluate(t, newRuntime(t, &Options{Conduct: Hardened}, h), &PostToolUse{ToolName: "T"})
	assert.Equal(t, "[Tool result blocked by hook] no", d.ForModel())

	long := says(TierSystem, "h", Pass().WithContext(strings.Repeat("é", 400_000)))
	d = evaluate(t, newRuntime(t, &Options{Limits: Limits{Text: 11}}, long), &PreToolUse{ToolName: "T"})
	assert.Equal(t, "ééééé… [cut: 10 of 800000 bytes shown]", d.Context)
	var zero Decision
	assert.True(t, zero.Blocks())
	assert.Empty(t, zero.ForModel())
}

// TestFuncsThatMisbehave is F53: each is a failure of its hook alone.
func TestFuncsThatMisbehave(t *testing.T) {
	for name, tc := range map[string]struct {
		fn   Func
		kind FailureKind
	}{
		"panic":      {func(context.Context, Call) (Result, error) { panic("secret") }, FailurePanic},
		"panic nil":  {func(context.Context, Call) (Result, error) { panic(nil) }, FailurePanic},
		"goexit":     {func(context.Context, Call) (Result, error) { runtime.Goexit(); return Allow(), nil }, FailurePanic},
		"error":      {func(context.Context, Call) (Result, error) { return Allow(), errors.New("secret") }, FailureError},
		"permission": {func(context.Context, Call) (Result, error) { return Result{Permission: 9}, nil }, FailureOutput},
	} {
		for mode, outcome := range map[FailMode]Outcome{FailAllow: OutcomePass, FailBlock: OutcomeReject} {
			h := says(TierSystem, "h", Pass())
			h.Run, h.FailMode = tc.fn, mode
			d := evaluate(t, newRuntime(t, nil, h, says(TierSystem, "next", Pass())), &PreToolUse{ToolName: "T"})
			assert.Equal(t, outcome, d.Outcome, name)
			s := slices.Collect(d.Steps())
			require.NotNil(t, s[0].Failure, name)
			assert.Equal(t, tc.kind, s[0].Failure.Kind, name)
			assert.Equal(t, FateRan, s[1].Fate, "a failure does not end the chain")
			if mode == FailBlock {
				assert.Equal(t, fmt.Sprintf("[Tool execution blocked] Hook \"h\" failed (%s).", tc.kind), d.ForModel())
			}
			if tc.kind == FailurePanic && name != "goexit" {
				assert.Contains(t, string(s[0].Failure.Stack), "chain_test.go")
			}
		}
	}
	_, err := New([]Hook{{Name: "nil", On: OnStop, Tier: TierSystem, Run: Func(nil)}}, nil)
	assert.ErrorContains(t, err, "nil")
}

// TestFuncThatIgnoresItsContext: it is abandoned at its deadline and counted
// until it returns; the runtime stays usable.
func TestFuncThatIgnoresItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		h := says(TierSystem, "h", Pass())
		h.Run = Func(func(context.Context, Call) (Result, error) { <-release; return Allow(), nil })
		h.Timeout, h.FailMode = time.Second, FailBlock
		rt := newRuntime(t, nil, h)
		start := time.Now()
		d := evaluate(t, rt, &PreToolUse{ToolName: "T"})
		assert.Equal(t, time.Second+graceTime, time.Since(start))
		assert.Equal(t, OutcomeReject, d.Outcome)
		assert.Equal(t, FailureTimeout, slices.Collect(d.Steps())[0].Failure.Kind)
		assert.Equal(t, 1, rt.Abandoned())
		close(release)
		synctest.Wait()
		assert.Equal(t, 0, rt.Abandoned())
	})
}

// TestBudget: one bound for all hooks of an event; a hook that it does not
// reach fails by its own fail mode.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := says(TierSystem, "slow", Pass())
		slow.Run = Func(func(ctx context.Context, _ Call) (Result, error) { <-ctx.Done(); return Pass(), ctx.Err() })
		guard := says(TierSystem, "guard", Pass())
		guard.FailMode = FailBlock
		start := time.Now()
		d := evaluate(t, newRuntime(t, &Options{Budget: 3 * time.Second}, slow, guard), &PreToolUse{ToolName: "T"})
		assert.Equal(t, 3*time.Second, time.Since(start))
		assert.Equal(t, OutcomeReject, d.Outcome)
		assert.Equal(t, "guard", d.By)
		s := slices.Collect(d.Steps())
		assert.Equal(t, FailureTimeout, s[0].Failure.Kind)
		assert.Contains(t, s[1].Failure.Message, "budget")
	})
}

// TestCancelled is F38: an error, undecided, whatever the fail mode says.
func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := says(TierSystem, "h", Pass())
		h.Run = Func(func(ctx context.Context, _ Call) (Result, error) { <-ctx.Done(); return Pass(), ctx.Err() })
		h.FailMode = FailAllow
		rt := newRuntime(t, nil, says(TierSystem, "first", Pass()), h, says(TierSystem, "last", Pass()))
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		d, err := rt.Evaluate(ctx, &PreToolUse{ToolName: "T"})
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, OutcomeUndecided, d.Outcome)
		assert.True(t, d.Blocks())
		assert.Equal(t, "first:ran:pass h:cancelled last:not-reached", fates(d.Steps()))
		d, err = rt.Evaluate(ctx, &PreToolUse{ToolName: "T"})
		assert.Error(t, err, "a context that is done runs nothing")
		assert.Equal(t, "first:not-reached h:not-reached last:not-reached", fates(d.Steps()))
	})
}

// TestFuncsOwnTheirCopy: a hook that mutates its event changes nothing for the
// host or for another hook.
func TestFuncsOwnTheirCopy(t *testing.T) {
	vandal := says(TierSystem, "vandal", Pass())
	vandal.Run = Func(func(_ context.Context, c Call) (Result, error) {
		ev := c.Event.(*PreToolUse)
		copy(ev.ToolInput, `{"x":9}`)
		ev.ToolName = "Other"
		ev.Metadata[0].Value[0] = '9'
		ev.Switches.Activated[0] = "x"
		*ev.ToolDescription = "x"
		return Pass(), nil
	})
	var saw string
	witness := says(TierSystem, "witness", Pass())
	witness.Run = Func(func(_ context.Context, c Call) (Result, error) {
		b, err := EncodeEvent(c.Event)
		saw = string(b)
		return Pass(), err
	})
	ev := &PreToolUse{ToolName: "T", ToolInput: json.RawMessage(`{"x":1}`), ToolDescription: text("d"),
		Common: Common{Metadata: Metadata{{Key: "m", Value: json.RawMessage("1")}}, Switches: Switches{Activated: []string{"demand"}}}}
	before, err := EncodeEvent(ev)
	require.NoError(t, err)
	evaluate(t, newRuntime(t, nil, vandal, witness), ev)
	after, err := EncodeEvent(ev)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
	assert.Equal(t, string(before), saw)
	assert.Equal(t, "demand", ev.Switches.Activated[0])
}

// TestParallelCalls is F28: every caller gets its own answer.
func TestParallelCalls(t *testing.T) {
	h := says(TierSystem, "h", Pass())
	h.Run = Func(func(_ context.Context, c Call) (Result, error) {
		if id := c.Event.(*PreToolUse).CallID; strings.HasSuffix(id, "1") {
			return Reject(id), nil
		}
		return Pass(), nil
	})
	rt := newRuntime(t, nil, h)
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for j := range 50 {
				id := fmt.Sprintf("%d-%d", j, i)
				d, err := rt.Evaluate(context.Background(), &PreToolUse{ToolName: fmt.Sprint("T", j), CallID: id})
				assert.NoError(t, err)
				if strings.HasSuffix(id, "1") {
					assert.Equal(t, id, d.Reason)
				} else {
					assert.Equal(t, OutcomePass, d.Outcome)
				}
			}
		})
	}
	wg.Wait()
}

// TestUndecidedBlocks: a decision that nobody has made blocks on every event,
// and neither allows nor lets a loop end.
func TestUndecidedBlocks(t *testing.T) {
	for i := range eventRows {
		d := Decision{Event: eventRows[i].name}
		assert.True(t, d.Blocks(), d.Event)
		assert.Empty(t, d.Allows)
		assert.Equal(t, OutcomeUndecided, d.Outcome)
	}
	assert.True(t, (&Decision{}).Blocks())
	for o := Outcome(-1); o < 12; o++ { // also one that there is not
		d := Decision{Event: OnPreToolUse, Outcome: o}
		assert.Equal(t, o != OutcomePass && o != OutcomeAllow, d.Blocks(), o)
	}
}

// TestMalformedEventRunsNothing is IN-10.
func TestMalformedEventRunsNothing(t *testing.T) {
	h := says(TierSystem, "h", Allow())
	rt := newRuntime(t, nil, h)
	d, err := rt.Evaluate(context.Background(), &PreToolUse{ToolName: "T", ToolInput: json.RawMessage(`{"a":`)})
	var e *EventError
	require.ErrorAs(t, err, &e)
	assert.True(t, d.Blocks())
	assert.Equal(t, "h:not-reached", fates(d.Steps()))
}

// TestNewRefuses: everything at once, nothing half-made.
func TestNewRefuses(t *testing.T) {
	_, err := New([]Hook{
		{},
		{Name: "a", On: OnPostToolUse, Tier: TierSystem, Run: Command{Line: "true"}},
		{Name: "b", On: OnPreToolUse, Tier: TierAgent, Matcher: "*", Run: Command{Line: "true", Script: "#!/bin/bash\n"}},
		{Name: "c", On: OnStop, Tier: TierUserGlobal, Sources: []string{"x"}, Run: Command{Script: "#!/bin/sh\ntrue"}},
		{Name: "d", On: OnStop, Tier: TierUserGlobal, Run: Prompt{Text: "judge"}},
		{Name: "e", On: OnStop, Tier: TierUserGlobal, Run: Command{Line: "true"}, Timeout: -1, FailMode: 7},
		{Name: "e", On: OnStop, Tier: TierUserGlobal, Run: Command{Line: "true"}},
		{Name: "system__x", On: OnStop, Tier: TierUserGlobal, Agent: "z", Run: &Command{Line: "true"}},
		{Name: "f", On: OnPostToolUse, Tier: TierSystem, Matcher: "[", Run: Command{Line: "true"}},
		{Name: "g", On: "stop", Tier: TierSystem, Run: Command{Line: "true", Env: []string{"SECRET"}}},
	}, &Options{Budget: -1, Conduct: 5})
	var ce *ConfigError
	require.ErrorAs(t, err, &ce)
	text := err.Error()
	for _, part := range []string{"Options.Budget", "Options.Conduct", "name is missing", "tier is not set", "unknown event", "a PostToolUse hook needs one",
		"both command and script", "only Start hooks have sources", "it must begin with #!/bin/bash", "Options.Model is not set", "is negative", "failMode 7",
		"same name", `reserved for the system tier`, "by value", `matcher "[" does not compile`, "KEY=value"} {
		assert.Contains(t, text, part)
	}
	assert.NotContains(t, text, "SECRET")
	for _, h := range []Hook{
		{Name: "m", On: OnPreToolUse, Tier: TierAgent, Run: Func(func(context.Context, Call) (Result, error) { return Pass(), nil })},
		{Name: "m", On: OnPreToolUse, Tier: TierAgent, Matcher: "(a", Run: Func(func(context.Context, Call) (Result, error) { return Pass(), nil })},
	} {
		assert.NotEmpty(t, newRuntime(t, nil, h).Warnings(), "Contract warns")
		_, err := New([]Hook{h}, &Options{Conduct: Hardened})
		assert.Error(t, err, "Hardened refuses (QRK-3, QRK-13)")
	}
}

// TestTrust: a refused hook stays in the plan; a refused system hook stops New.
func TestTrust(t *testing.T) {
	refuse := func(h *Hook) error {
		if strings.HasPrefix(h.Name, "bad") {
			return errors.New("never reviewed")
		}
		return nil
	}
	rt := newRuntime(t, &Options{Trust: refuse}, says(TierAgent, "bad", Deny("x")), says(TierAgent, "good", Pass()))
	d := evaluate(t, rt, &PreToolUse{ToolName: "T"})
	assert.Equal(t, "bad:untrusted good:ran:pass", fates(d.Steps()))
	_, err := New([]Hook{says(TierSystem, "bad", Pass())}, &Options{Trust: refuse})
	assert.ErrorContains(t, err, "never reviewed")
}

// TestDigest: any change of what decides behaviour changes it, and nothing
// else does.
func TestDigest(t *testing.T) {
	base := Hook{Name: "h", On: OnStop, Tier: TierAgent, Agent: "a", Run: Command{Script: "#!/bin/bash\nexit 0", Env: []string{"A=b"}}}
	seen := map[string]string{base.Digest(): "base"}
	for name, change := range map[string]func(h *Hook){
		"name": func(h *Hook) { h.Name = "h2" }, "event": func(h *Hook) { h.On = OnStart }, "tier": func(h *Hook) { h.Tier = TierSystem },
		"agent": func(h *Hook) { h.Agent = "b" }, "matcher": func(h *Hook) { h.Matcher = "*" }, "sources": func(h *Hook) { h.Sources = []string{"x"} },
		"sources 2": func(h *Hook) { h.Sources = []string{"x", ""} }, "demand": func(h *Hook) { h.OnDemand = true },
		"timeout": func(h *Hook) { h.Timeout = time.Second }, "failMode": func(h *Hook) { h.FailMode = FailBlock },
		"script": func(h *Hook) { h.Run = Command{Script: "#!/bin/bash\nexit 1", Env: []string{"A=b"}} },
		"line":   func(h *Hook) { h.Run = Command{Line: "#!/bin/bash\nexit 0", Env: []string{"A=b"}} },
		"dir":    func(h *Hook) { h.Run = Command{Script: "#!/bin/bash\nexit 0", Dir: "/", Env: []string{"A=b"}} },
		"env":    func(h *Hook) { h.Run = Command{Script: "#!/bin/bash\nexit 0"} },
		"prompt": func(h *Hook) { h.Run = Prompt{Text: "x"} }, "model": func(h *Hook) { h.Run = Prompt{Text: "x", Model: "m"} },
		"rejections": func(h *Hook) { h.Run = Prompt{Text: "x", MaxRejections: 4} }, "func": func(h *Hook) { h.Run = Func(nil) },
	} {
		h := base
		change(&h)
		d := h.Digest()
		assert.Empty(t, seen[d], name)
		seen[d] = name
		same := h.clone()
		if same.Timeout == 0 {
			same.Timeout = DefaultTimeout
		}
		assert.Equal(t, d, same.Digest(), name)
	}
	assert.Equal(t, "be630202", base.Digest()[:8], "a digest must stay the same over versions")
}

// TestWith is CFG-7: a whole spec replaces another; the old runtime stays.
func TestWith(t *testing.T) {
	old := newRuntime(t, nil, says(TierAgent, "a", Deny("x")), says(TierUserGlobal, "b", Pass()))
	next, err := old.With(says(TierAgent, "a", Pass()), says(TierSystem, "a", Pass()))
	require.NoError(t, err)
	d := evaluate(t, old, &PreToolUse{ToolName: "T"})
	assert.Equal(t, OutcomeDeny, d.Outcome)
	d = evaluate(t, next, &PreToolUse{ToolName: "T"})
	assert.Equal(t, "a:ran:pass a:ran:pass b:ran:pass", fates(d.Steps()))
	assert.Len(t, next.Hooks(), 3)
}

// TestUnmatchedEventAllocatesNothing, however many hooks there are.
func TestUnmatchedEventAllocatesNothing(t *testing.T) {
	var hooks []Hook
	for i := range 1000 {
		h := says(TierSystem, fmt.Sprint("h", i), Pass())
		h.Matcher = fmt.Sprintf("Tool%d|Other%d", i, i)
		hooks = append(hooks, h)
	}
	rt := newRuntime(t, nil, hooks...)
	ctx, ev := context.Background(), &PreToolUse{ToolName: "Bash"}
	evaluate(t, rt, ev)
	assert.Zero(t, testing.AllocsPerRun(100, func() { rt.Evaluate(ctx, ev) }))
}

// TestDecisionsAreSmall: a decision that is kept does not keep the payload.
func TestDecisionsAreSmall(t *testing.T) {
	rt := newRuntime(t, nil, says(TierSystem, "h", Pass()))
	var kept []Decision
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 20 {
		kept = append(kept, evaluate(t, rt, &PreToolUse{ToolName: "T", ToolInput: blob(1 << 20)}))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	assert.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(5<<20), "20 events of 1 MB")
	runtime.KeepAlive(kept)
}

// TestToolNamesDoNotPileUp: a model can invent any number of tool names.
func TestToolNamesDoNotPileUp(t *testing.T) {
	rt := newRuntime(t, nil, says(TierSystem, "h", Pass()))
	for i := range 3 * maxSeen {
		evaluate(t, rt, &PreToolUse{ToolName: fmt.Sprint("T", i)})
	}
	seen := rt.registry.chainOf(OnPreToolUse.row()).seen.Load()
	assert.LessOrEqual(t, len(*seen), maxSeen)
}
