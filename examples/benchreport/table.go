package main

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// row is a line of the table: benchmarks and what is wanted of them.
type row struct {
	what, baseline, goal string
	checks               []check
}

// check is one number and its upper bound.
type check struct {
	label  string // nothing, or what tells it from its neighbours
	format string
	value  func(results) float64 // NaN: not measured
	most   float64
}

const mebi = 1 << 20

// rows is the table.
func rows() []row {
	return []row{
		{"an event that no hook matches; 1 / 100 / 10,000 hooks registered", "one `sync.Map` load",
			"at most 4 times, 0 allocations, within 20 % of each other", []check{
				ratio("1:", "Unmatched/1", 4), ratio("100:", "Unmatched/100", 4), ratio("10,000:", "Unmatched/10000", 4),
				allocations("Unmatched/10000", 0),
				{"", "%.2f apart", spread("Unmatched/1", "Unmatched/100", "Unmatched/10000"), 1.20},
			}},
		{"one `Func` hook, payload of 1 KB", "`json.Marshal` of the same fields", "at most twice, at most 12 allocations",
			[]check{ratio("", "Func", 2), allocations("Func", 12)}},
		{"matcher, first sight: literal / `A|B|C`", "`==`", "at most 3 times",
			[]check{ratio("literal", "Matcher/literal", 3), ratio("alternation", "Matcher/alternation", 3)}},
		{"matcher, first sight: a pattern", "regexp2 (and `regexp`)", "at most regexp2's own, give or take 5 %",
			[]check{ratio("regexp2", "Matcher/pattern/regexp2", 1.05), ratio("regexp", "Matcher/pattern/regexp", math.Inf(1))}},
		{"one command hook, payload of 1 KB", "plain `os/exec`", "at most 1.03", []check{ratio("", "Command/1KB/1", 1.03)}},
		{"one command hook, payload of 10 MB", "plain `os/exec`", "at most 1.10, at most one copy of the payload",
			[]check{ratio("", "Command/10MB/1", 1.10), copies("Command/10MB/1")}},
		{"eight command hooks, payload of 10 MB", "plain `os/exec`, one after the other", "at most 1.10, at most one copy of the payload",
			[]check{ratio("", "Command/10MB/8", 1.10), copies("Command/10MB/8")}},
		{"8 independent command hooks of 100 ms", "the 8 processes started together", "at most 1.05", []check{ratio("", "Together", 1.05)}},
		{"1,000 events in flight, a hook of 100 ms", "the same 1,000 processes", "heap, with stacks, at most 1.5 times", []check{ratio("", "InFlight", 1.5)}},
		{"answer parsing, 1 KB / 1 MB of stdout", "one `json.Valid`", "at most 3 times",
			[]check{ratio("1 KB:", "Answer/1KB", 3), ratio("1 MB:", "Answer/1024KB", 3)}},
		{"64 MiB on stdout / stderr", "–", "at most 4 MiB allocated",
			[]check{mebibytes("stdout", "Flood/stdout", 4), mebibytes("stderr", "Flood/stderr", 4)}},
	}
}

func ratio(label, benchmark string, most float64) check {
	return check{label, "%.2f", func(r results) float64 { return r.median(benchmark, "ratio") }, most}
}

func allocations(benchmark string, most float64) check {
	return check{"", "%.0f allocations", func(r results) float64 { return r.median(benchmark, "allocs/op") }, most}
}

func mebibytes(label, benchmark string, most float64) check {
	return check{label, "%.1f MiB", func(r results) float64 { return r.median(benchmark, "B/op") / mebi }, most}
}

// copies is how often a payload of 10 MB is allocated. What a hook allocates
// beside it, captured output and buffers, is in the hundredths.
func copies(benchmark string) check {
	return check{"", "%.2f copies", func(r results) float64 { return r.median(benchmark, "B/op") / (10 * mebi) }, 1.1}
}

// spread is the largest ratio divided by the smallest.
func spread(benchmarks ...string) func(results) float64 {
	return func(r results) float64 {
		low, high := math.Inf(1), 0.0
		for _, b := range benchmarks {
			v := r.median(b, "ratio")
			low, high = min(low, v), max(high, v) // NaN stays
		}
		return high / low
	}
}

// measured returns what the table says of a row.
func (w row) measured(r results) (numbers, met string) {
	var all []string
	met = "yes"
	for _, c := range w.checks {
		v := c.value(r)
		if math.IsNaN(v) {
			return "–", "not measured"
		}
		if v > c.most {
			met = "**no**"
		}
		all = append(all, strings.TrimSpace(c.label+" "+fmt.Sprintf(c.format, v)))
	}
	return strings.Join(all, ", "), met
}

// writeTable writes the table as Markdown.
func writeTable(w io.Writer, r results) {
	fmt.Fprintf(w, "%s.\n\n", r.machine)
	fmt.Fprintln(w, "| benchmark | baseline | goal | measured | met |\n|---|---|---|---|---|")
	for _, row := range rows() {
		numbers, met := row.measured(r)
		cells := []string{row.what, row.baseline, row.goal, numbers, met}
		for i, c := range cells {
			cells[i] = strings.ReplaceAll(c, "|", `\|`)
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	}
}
