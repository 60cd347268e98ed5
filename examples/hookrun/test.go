package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/hookruntime/hooks"
	"github.com/hookruntime/hooks/internal/story"
)

// test runs policy tests; with -update it first writes what came out into the
// files, and then runs them again.
func test(o *options, stdout io.Writer) (int, error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	stories, err := story.Load(o.tested()...)
	if err != nil {
		return 0, err
	}
	if o.update {
		var results []*story.Result
		for r := range story.RunAll(ctx, stories) {
			results = append(results, r)
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		changed, err := story.Update(results)
		for _, file := range changed {
			fmt.Fprintf(stdout, "updated %s\n", file)
		}
		if err != nil {
			return 0, err
		}
		if stories, err = story.Load(o.tested()...); err != nil {
			return 0, err
		}
	}
	var passed, failed, skipped int
	for r := range story.RunAll(ctx, stories) {
		label := r.Story.Place() + ": " + r.Story.Sentence
		if r.Conduct != hooks.Contract || len(r.Story.Conducts) > 1 {
			label += " (" + r.Conduct.String() + ")"
		}
		switch {
		case r.Skipped != "":
			skipped++
			fmt.Fprintf(stdout, "skip  %s: %s\n", label, r.Skipped)
		case r.Failed():
			failed++
			fmt.Fprintf(stdout, "FAIL  %s\n%s\n", label, indented(strings.Join(r.Differences, "\n")+"\n"+r.Explain))
		default:
			passed++
			fmt.Fprintf(stdout, "ok    %s\n", label)
		}
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	fmt.Fprintf(stdout, "%d passed, %d failed", passed, failed)
	if skipped > 0 {
		fmt.Fprintf(stdout, ", %d skipped", skipped)
	}
	fmt.Fprintln(stdout)
	if failed > 0 {
		return exitError, nil
	}
	return exitProceeds, nil
}

func indented(text string) string {
	return "      " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n      ")
}
