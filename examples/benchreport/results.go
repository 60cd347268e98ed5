package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// wanted are the benchmarks of the table.
const wanted = "^Benchmark(Unmatched|Func|Matcher|Answer|Command|Together|InFlight|Flood)$"

// results are measurements by benchmark, without "Benchmark" and the number of
// processors, and by unit. The zero value is empty.
type results struct {
	machine string
	values  map[string]map[string][]float64
}

// median returns the median of what was measured, NaN if nothing was.
func (r results) median(benchmark, unit string) float64 {
	v := slices.Sorted(slices.Values(r.values[benchmark][unit]))
	if len(v) == 0 {
		return math.NaN()
	}
	return v[len(v)/2]
}

// benchmarks runs the benchmarks of the module.
func benchmarks(ctx context.Context, o options) (results, error) {
	args := []string{"test", "-run", "^$", "-bench", wanted, "-timeout", "30m"}
	if o.short {
		args = append(args, "-benchtime", "1x", "-short")
	} else {
		args = append(args, "-benchtime", "2s", "-count", strconv.Itoa(o.count))
	}
	load := loadAverage()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", append(args, ".")...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = o.module, &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return results{}, fmt.Errorf("go test: %w\n%s", err, out.Bytes())
	}
	r, err := parse(&out)
	if err != nil {
		return results{}, err
	}
	r.machine += fmt.Sprintf(", %d cores, %s", runtime.NumCPU(), runtime.Version())
	if load != "" {
		r.machine += ", load " + load + " before it began"
	}
	return r, nil
}

// parse reads what go test printed.
func parse(r io.Reader) (results, error) {
	all := results{values: map[string]map[string][]float64{}}
	reader := benchfmt.NewReader(r, "go test")
	for reader.Scan() {
		switch rec := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return results{}, rec
		case *benchfmt.Result:
			all.add(rec)
		}
	}
	return all, reader.Err()
}

func (r *results) add(rec *benchfmt.Result) {
	base, parts := rec.Name.Parts()
	name := string(base)
	for _, p := range parts {
		if p[0] == '/' { // not the number of processors
			name += string(p)
		}
	}
	if r.values[name] == nil {
		r.values[name] = map[string][]float64{}
	}
	for _, v := range rec.Values {
		r.values[name][v.Unit] = append(r.values[name][v.Unit], v.Value)
	}
	r.machine = fmt.Sprintf("%s, %s/%s", strings.TrimSpace(rec.GetConfig("cpu")), rec.GetConfig("goos"), rec.GetConfig("goarch"))
}

// loadAverage returns the load of the last minute where the system tells it.
func loadAverage() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	load, _, _ := strings.Cut(string(data), " ")
	return load
}
