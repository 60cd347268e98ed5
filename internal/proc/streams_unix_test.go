//go:build unix

package proc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestNilStreams(t *testing.T) {
	exit := mustRun(t, t.Context(), Cmd{Argv: []string{"/bin/bash", "-c", "/bin/cat; echo x; echo y >&2; exit 3"}}, soon)
	wantExit(t, exit, Exit{Code: 3})
}

// What arrives after the shell is gone still counts: the group must not be
// killed before the drain.
func TestLateOutputIsKept(t *testing.T) {
	c, stdout, _ := bash(`echo hello > >(sleep 0.1; cat; echo late)`)
	wantExit(t, mustRunIn(t, t.Context(), c, patient(), soon), Exit{})
	wantText(t, "stdout", stdout, "hello\nlate\n")
}

// A Write in flight is waited for, because none may come after the return.
func TestWaitsForWrite(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release, returned := make(chan struct{}), make(chan struct{})
	c, stdout, _ := bash(`echo $$; sleep 30`)
	c.Stdout = &onFirst{Writer: stdout, f: func() { cancel(); <-release }}
	go func() {
		defer close(returned)
		_, _ = Run(ctx, &c)
	}()
	select {
	case <-returned:
		t.Error("returned during a Write")
	case <-time.After(3 * settleTime):
	}
	close(release)
	<-returned
	wantNoneRunning(t, stdout)
}

// F11: a large input that is not read, not read to its end, or refused.
func TestUnreadStdin(t *testing.T) {
	input := make([]byte, testInput)
	runs := 200
	if testing.Short() {
		runs = 20
	}
	for _, tc := range []struct {
		script, stdout, stderr string
		want                   Exit
	}{
		{`exit 0`, "", "", Exit{}},
		{`echo no >&2; exit 2`, "", "no\n", Exit{Code: 2}},
		{`head -c 10 >/dev/null; echo "{}"`, "{}\n", "", Exit{}},
		{`exec 0<&-; sleep 0.3; echo '{"decision":"block","reason":"r"}'`, `{"decision":"block","reason":"r"}` + "\n", "", Exit{}},
	} {
		t.Run(tc.script, func(t *testing.T) {
			var wg sync.WaitGroup
			free := make(chan struct{}, 20)
			for range runs {
				free <- struct{}{}
				wg.Go(func() {
					defer func() { <-free }()
					c, stdout, stderr := bash(tc.script)
					c.Stdin = bytes.NewReader(input)
					exit, err := Run(t.Context(), &c)
					if err != nil || exit != tc.want || stdout.String() != tc.stdout || stderr.String() != tc.stderr {
						t.Errorf("%+v, %v, %q, %q", exit, err, stdout, stderr)
					}
				})
			}
			wg.Wait()
		})
	}
}

// F23: the process writes more than a pipe holds before it reads.
func TestWritesBeforeItReads(t *testing.T) {
	c, stdout, stderr := bash(`head -c 2000000 /dev/zero | tr "\0" x >&2; head -c 2000000 /dev/zero | tr "\0" y; cat >/dev/null; exit 2`)
	c.Stdin = bytes.NewReader(make([]byte, testInput))
	wantExit(t, mustRun(t, t.Context(), c, 5*time.Second), Exit{Code: 2})
	if stdout.Total() != 2000000 || stderr.Total() != 2000000 {
		t.Errorf("%d and %d bytes", stdout.Total(), stderr.Total())
	}
}

// F24: the end of stdin is seen, also while siblings start.
func TestEndOfStdin(t *testing.T) {
	for _, size := range []int{0, 1, 64 << 10, testInput} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			input := bytes.Repeat([]byte{'x'}, size)
			var wg sync.WaitGroup
			start := time.Now()
			for range 50 {
				wg.Go(func() {
					c, stdout, _ := bash(`wc -c`)
					c.Stdin = bytes.NewReader(input)
					exit, err := Run(t.Context(), &c)
					if err != nil || exit != (Exit{}) || strings.TrimSpace(stdout.String()) != strconv.Itoa(size) {
						t.Errorf("%+v, %v, %q", exit, err, stdout)
					}
				})
			}
			wg.Wait()
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// F31: no amount of output fills the memory or blocks the process.
func TestFlood(t *testing.T) {
	for _, tc := range []struct {
		script  string
		endless bool
	}{
		{`yes`, true},
		{`yes >&2`, true},
		{`head -c 100000000 /dev/zero | tr "\0" x >&2; exit 2`, false},
	} {
		t.Run(tc.script, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c, stdout, stderr := bash(tc.script)
			if tc.endless {
				c.Stdout, c.Stderr = &untilFull{stdout, cancel}, &untilFull{stderr, cancel}
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			exit := mustRun(t, ctx, c, 10*time.Second)
			runtime.ReadMemStats(&after)
			if tc.endless {
				wantKilled(t, exit)
			} else {
				wantExit(t, exit, Exit{Code: 2})
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > 8<<20 {
				t.Errorf("allocated %d bytes", got)
			}
			if !stdout.Overflowed() && !stderr.Overflowed() {
				t.Error("no overflow is seen")
			}
		})
	}
}

// untilFull calls f when its capture has overflowed. It does not embed the
// capture, which would be read into past its Write.
type untilFull struct {
	c *Capture
	f func()
}

func (w *untilFull) Write(p []byte) (int, error) {
	n, err := w.c.Write(p)
	if w.c.Overflowed() {
		w.f()
	}
	return n, err
}

type failing struct{ left int }

func (w *failing) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errors.New("enough")
	}
	return len(p), nil
}

// A writer that fails is the caller's affair; the process does not notice.
func TestFailingWriter(t *testing.T) {
	c, _, stderr := bash(`head -c 1000000 /dev/zero && echo done >&2`)
	c.Stdout = &failing{100}
	wantExit(t, mustRun(t, t.Context(), c, soon), Exit{})
	wantText(t, "stderr", stderr, "done\n")
}

// One writer for both outputs sees no overlapping writes: the race detector
// watches.
func TestOneWriterForBoth(t *testing.T) {
	c, stdout, _ := bash(`for i in 1 2 3; do echo o$i; echo e$i >&2; done`)
	c.Stderr = stdout
	wantExit(t, mustRun(t, t.Context(), c, soon), Exit{})
	wantText(t, "both", stdout, "o1\ne1\no2\ne2\no3\ne3\n")

	c.Stdout, c.Stderr = uncomparable{stdout}, uncomparable{&Capture{}}
	wantExit(t, mustRun(t, t.Context(), c, soon), Exit{})
}

type uncomparable []io.Writer

func (u uncomparable) Write(p []byte) (int, error) { return u[0].Write(p) }

type writerTo struct{ io.Reader }

func (writerTo) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, "by WriteTo")
	return int64(n), err
}

func TestStdinReaders(t *testing.T) {
	for _, tc := range []struct {
		name  string
		stdin io.Reader
		want  string
	}{
		{"nil", nil, ""},
		{"WriterTo", writerTo{}, "by WriteTo"},
		{"plain", io.MultiReader(strings.NewReader("a"), strings.NewReader("b")), "ab"},
		{"failing", io.MultiReader(strings.NewReader("a"), failingReader{}), "a"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, stdout, _ := bash(`cat`)
			c.Stdin = tc.stdin
			wantExit(t, mustRun(t, t.Context(), c, soon), Exit{})
			wantText(t, "stdout", stdout, tc.want)
		})
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errors.New("broken") }

// stalled is a writer that takes its time with the first Write, as one does
// whose goroutine finds no processor.
type stalled struct {
	io.Writer
	once sync.Once
	time time.Duration
}

func (w *stalled) Write(p []byte) (int, error) {
	w.once.Do(func() { <-time.After(w.time) })
	return w.Writer.Write(p)
}

// What a process wrote before it ended is never lost, however late we are in
// reading it: an answer that is lost reads like one that was never given.
func TestAnswerIsReadLate(t *testing.T) {
	const times = 2 * (drainTime + settleTime)
	c, stdout, stderr := bash(`echo $$; echo e >&2; sleep 0.1; echo answer; head -c 50000 /dev/zero | tr '\0' x >&2; sleep 30 & exit 2`)
	c.Stdout, c.Stderr = &stalled{Writer: stdout, time: times}, &stalled{Writer: stderr, time: times}
	wantExit(t, mustRun(t, t.Context(), c, soon), Exit{Code: 2})
	if !strings.HasSuffix(stdout.String(), "\nanswer\n") || stderr.Total() != 50002 {
		t.Errorf("stdout = %q, %d bytes of stderr", stdout, stderr.Total())
	}
	wantNoneRunning(t, stdout)

	// Nor at the deadline.
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	c, stdout, _ = bash(`echo $$; sleep 0.1; echo answer; sleep 30`)
	c.Stdout = &stalled{Writer: stdout, time: times}
	wantExit(t, mustRun(t, ctx, c, soon), Exit{-1, "killed"})
	if !strings.HasSuffix(stdout.String(), "\nanswer\n") {
		t.Errorf("stdout = %q", stdout)
	}
}

// A child that escaped and writes on and on does not keep us reading.
func TestEscapedFlood(t *testing.T) {
	setsid, err := exec.LookPath("setsid")
	if err != nil {
		t.Skip(err)
	}
	c, stdout, _ := bash(setsid + ` bash -c 'echo $$; exec yes' & sleep 0.1; exit 0`)
	wantExit(t, mustRun(t, t.Context(), c, soon), Exit{})
	first, _, _ := strings.Cut(stdout.String(), "\n")
	if pid, err := strconv.Atoi(first); err != nil || syscall.Kill(pid, syscall.SIGKILL) == syscall.EPERM {
		t.Errorf("no child: %q, %v", first, err)
	}
}
