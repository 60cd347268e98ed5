// Benchreport tells what hooks cost: it runs the benchmarks of the module,
// prints a table of them beside their goals, and draws how the cost grows.
//
//	go run . -out report
//
// It wants a quiet machine. With -short it only shows that everything works;
// its numbers mean nothing.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	var o options
	flag.BoolVar(&o.short, "short", false, "run everything once, and small")
	flag.StringVar(&o.module, "module", "../..", "the folder of the module whose benchmarks are run")
	flag.IntVar(&o.count, "count", 3, "how often every benchmark is run; the median counts")
	flag.StringVar(&o.out, "out", "report", "the folder that the table and the curves are written to")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "benchreport:", err)
		os.Exit(1)
	}
}

type options struct {
	short       bool
	module, out string
	count       int
}

func run(ctx context.Context, o options) error {
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	results, err := benchmarks(ctx, o)
	if err != nil {
		return err
	}
	var table bytes.Buffer
	writeTable(&table, results)
	if _, err := os.Stdout.Write(table.Bytes()); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(o.out, "table.md"), table.Bytes(), 0o644); err != nil {
		return err
	}
	for _, c := range curves(o.short) {
		lines, err := c.measure(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", c.file, err)
		}
		if err := c.draw(filepath.Join(o.out, c.file), lines); err != nil {
			return err
		}
	}
	return nil
}
