package hooks

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// CheckSandbox holds a [Sandbox] against the duties that its documentation
// states, and returns all that it found, one error for each broken promise,
// joined; nil when it found nothing. It is meant for the tests of a sandbox:
//
//	if err := hooks.CheckSandbox(t.Context(), sandbox); err != nil {
//		t.Error(err)
//	}
//
// It takes a few seconds, runs some fifty short processes one after the other
// and then some at once, and puts small files that it removes again. In the
// sandbox it needs bash, cat and sleep; ls, where there is one, shows it the
// modes of files. What is checked may be slow: a call gets half a minute, and
// three seconds are taken for "soon". A call that does not return by then is
// abandoned and may go on behind the check's back.
//
// That nothing of a process is left running is seen from inside: what should
// have been ended watches a file that Put made, and answers in it when a later
// process asks. Processes that do not see each other's files hide this fault,
// and so does a survivor that had to wait a second for its processor. A child
// that moved to another process group or session is not looked for: whether
// those are ended too is for the sandbox to say.
//
// If the error wraps ctx.Err, ctx ended first and nothing is known.
func CheckSandbox(ctx context.Context, s Sandbox) error {
	return checkSandbox(ctx, s, ordinaryTimes())
}

func checkSandbox(ctx context.Context, s Sandbox, times checkTimes) error {
	c := newSandboxCheck(s, times)
	return c.hold(ctx, c.duties())
}

// sandboxCheck is one run of CheckSandbox. Its methods are the checks.
type sandboxCheck struct {
	checker
	sandbox Sandbox
	shell   []string // the argv prefix of bash
	beacons []beacon

	mu      sync.Mutex
	placed  []string // what Put returned
	watched []interface{ err() error }
}

func newSandboxCheck(s Sandbox, times checkTimes) *sandboxCheck {
	return &sandboxCheck{checker: checker{times: times}, sandbox: s, shell: []string{"/bin/bash"}}
}

func (c *sandboxCheck) duties() []duty {
	return slices.Concat(c.fileDuties(), c.execDuties(), c.endDuties(), []duty{
		{"all methods may be called concurrently", c.concurrently},
		{"Interpreter returns an argv prefix that runs", c.interpreters},
	})
}

// hold is the whole check, for these duties.
func (c *sandboxCheck) hold(ctx context.Context, duties []duty) error {
	defer c.removeAll(ctx)
	if err := c.findShell(ctx); err != nil {
		// Without it every other check would say the same.
		c.find("Exec runs a process to its end", fmt.Errorf("%w; nothing else was checked", err))
		return c.result(ctx)
	}
	c.run(ctx, duties)
	c.findSurvivors(ctx)
	c.findLateUse()
	return c.result(ctx)
}

func (c *sandboxCheck) findShell(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.times.call)
	defer cancel()
	shell, err := call(ctx, &c.checker, func() ([]string, error) { return interpreter(c.sandbox, "bash") })
	if err != nil {
		return fmt.Errorf("there is no bash: %w", err)
	}
	c.shell = shell
	return c.prints(ctx, "up", "printf up")
}

// concurrently has eight workers put a file of one name, read it in a process,
// and remove it.
func (c *sandboxCheck) concurrently(ctx context.Context) error {
	const workers = 8
	results := make(chan error, workers)
	for i := range workers {
		go func() { results <- c.work(ctx, strings.Repeat(fmt.Sprint("worker ", i, "\n"), 100)) }()
	}
	var err error
	for range workers {
		err = cmp.Or(err, <-results) // one says enough
	}
	return err
}

func (c *sandboxCheck) work(ctx context.Context, text string) error {
	path, err := c.put(ctx, "one name", strings.NewReader(text))
	if err != nil {
		return err
	}
	r := c.exec(ctx, c.bash(`cat <"$1"; cat >&2; exit 5`, path).with(strings.NewReader(text)))
	switch {
	case r.err != nil:
		return r.err
	case r.stdout != text || r.stderr != text || r.exit != (Exit{Code: 5}):
		return fmt.Errorf("a worker got %s, %s and %+v instead of its own text and exit code", quoted(r.stdout), quoted(r.stderr), r.exit)
	}
	return c.remove(ctx, path)
}

// interpreters runs what the sandbox says its interpreters are. One that it
// says it does not have is fine.
func (c *sandboxCheck) interpreters(ctx context.Context) error {
	finder, ok := c.sandbox.(Interpreters)
	if !ok {
		return nil
	}
	for name, args := range map[string][]string{
		"bash":    {"--noprofile", "--norc", "-c", "printf up"},
		"python3": {"-I", "-c", "print('up', end='')"},
	} {
		argv, err := finder.Interpreter(name)
		if err != nil {
			continue
		}
		if ran := c.exec(ctx, checked{Process: Process{Argv: slices.Concat(argv, args)}}); ran.err != nil || ran.stdout != "up" {
			return fmt.Errorf("%s as %q does not run: %w", name, argv, cmp.Or(ran.err, errors.New(quoted(ran.stderr))))
		}
	}
	return nil
}

// findLateUse tells of writers and readers that were used after Exec returned.
func (c *sandboxCheck) findLateUse() {
	for _, w := range c.watched {
		if err := w.err(); err != nil {
			c.find("after Exec has returned, the writers are not written to and Stdin is not read; writes to one writer do not overlap", err)
			return
		}
	}
}

func (c *sandboxCheck) removeAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.times.call)
	defer cancel()
	for _, path := range c.placed {
		// A failure was found by the check of Remove, if it is a rule.
		_ = c.remove(ctx, path)
	}
}

// checked is a process under check.
type checked struct {
	Process
	deaf bool // it gets no writers
}

func (p checked) with(stdin io.Reader) checked {
	p.Stdin = stdin
	return p
}

// ran is what came of a process.
type ran struct {
	exit           Exit
	err            error // of Exec, or of the check: see exec
	stdout, stderr string
}

// bash is the process of a script.
func (c *sandboxCheck) bash(script string, args ...string) checked {
	return checked{Process: Process{Argv: slices.Concat(c.shell, []string{"--noprofile", "--norc", "-c", script, "check"}, args)}}
}

// exec runs a process and watches what Exec does to its streams. Like put and
// remove it may be called concurrently.
func (c *sandboxCheck) exec(ctx context.Context, p checked) ran {
	return c.watch(ctx, p, newWatchedWriter(), newWatchedWriter())
}

func (c *sandboxCheck) watch(ctx context.Context, p checked, stdout, stderr *watchedWriter) (r ran) {
	if !p.deaf {
		p.Stdout, p.Stderr = stdout, stderr
	}
	stdin := &watchedReader{Reader: p.Stdin}
	if p.Stdin != nil {
		p.Stdin = stdin
	}
	exit, err := call(ctx, &c.checker, func() (Exit, error) { return c.sandbox.Exec(ctx, p.Process) })
	if errors.Is(err, errLate) {
		return ran{err: err} // what it does now is no second finding
	}
	stdin.end()
	c.mu.Lock()
	c.watched = append(c.watched, stdin, stdout, stderr)
	c.mu.Unlock()
	return ran{exit, err, stdout.end(), stderr.end()}
}

// prints runs a script that must end well and print want.
func (c *sandboxCheck) prints(ctx context.Context, want, script string, args ...string) error {
	return c.exec(ctx, c.bash(script, args...)).must(want)
}

func (r ran) must(want string) error {
	switch {
	case r.err != nil:
		return fmt.Errorf("Exec returned the error %w", r.err)
	case r.exit != (Exit{}):
		return fmt.Errorf("the process ended with %+v and said %s", r.exit, quoted(r.stderr))
	case r.stdout != want:
		i := 0
		for i < min(len(r.stdout), len(want)) && r.stdout[i] == want[i] {
			i++
		}
		return fmt.Errorf("the process printed %s instead of %s, from byte %d on", quoted(r.stdout[i:]), quoted(want[i:]), i)
	}
	return nil
}

// ownName is a file name that nobody else has.
func ownName() string { return "check" + strings.ToLower(rand.Text()) }

// A beacon is a file by which a process that should be gone shows that it is
// not.
type beacon struct{ promise, path string }

// linger is a bash function that waits to be asked, for some half a minute, and
// answers. A process that is left running by mistake does not stay for good.
const linger = `linger() {
	local i
	for ((i = 0; i < 600; i++)); do
		[ -s "$1" ] && { echo alive >>"$1"; exit; }
		sleep 0.05
	done
}
`

func (c *sandboxCheck) beacon(ctx context.Context, promise string) (path string, err error) {
	if path, err = c.put(ctx, "beacon", strings.NewReader("")); err == nil {
		c.beacons = append(c.beacons, beacon{promise, path})
	}
	return path, err
}

// findSurvivors asks all that should be gone at once, since it has to wait for
// an answer that should not come.
func (c *sandboxCheck) findSurvivors(ctx context.Context) {
	if len(c.beacons) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, c.times.call)
	defer cancel()
	paths := make([]string, len(c.beacons))
	for i, b := range c.beacons {
		paths[i] = b.path
	}
	r := c.exec(ctx, c.bash(`
		for file; do echo asked >>"$file"; done
		sleep "`+fmt.Sprintf("%.2f", c.times.answer.Seconds())+`"
		for file; do
			answer=silent
			while read -r line; do answer=$line; done <"$file"
			echo "$answer"
		done`, paths...))
	answers := strings.Fields(r.stdout)
	if len(answers) != len(paths) || r.err != nil || r.exit != (Exit{}) {
		c.find("a process may write to the files that Put made", cmp.Or(r.must(""), errors.New("it did not")))
		return
	}
	said := map[string]bool{}
	for i, b := range c.beacons {
		if answers[i] == "alive" && !said[b.promise] {
			said[b.promise] = true
			c.find(b.promise, errors.New("one was asked afterwards, and answered"))
		}
	}
}

// interrupt starts a script and cancels its context once it has printed
// something.
func (c *sandboxCheck) interrupt(ctx context.Context, script string, args ...string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stdout := newWatchedWriter()
	silent := false
	watcher := make(chan struct{})
	go func() {
		defer close(watcher)
		select {
		case <-stdout.begun:
		case <-ctx.Done():
		case <-time.After(c.times.call / 3):
			silent = true
		}
		cancel()
	}()
	r := c.watch(ctx, c.bash(script, args...), stdout, newWatchedWriter())
	cancel()
	<-watcher
	switch {
	case silent:
		return errors.New("the output did not come while the process ran")
	case r.err != nil:
		return fmt.Errorf("the process ran, and Exec returned the error %w", r.err)
	case r.exit.Code != -1 || r.exit.Signal == "":
		return fmt.Errorf("the process was ended, and Exec says %+v", r.exit)
	}
	return nil
}
