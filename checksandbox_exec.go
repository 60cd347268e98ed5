package hooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

func (c *sandboxCheck) execDuties() []duty {
	return []duty{
		{"Exec passes Argv as it is", c.argv},
		{"Exec runs the process in Dir", c.dir},
		{"Exec adds Env to the environment, a later entry winning", c.env},
		{"Exec feeds all of Stdin, and its end", c.stdin},
		{"Exec does not mind a process that does not read its stdin, or closes it", c.unread},
		{"Exec passes all of stdout and stderr, and keeps them apart", c.outputs},
		{"Exec discards the output that nobody wants", c.discards},
		{"Exec returns the exit code as data", c.exitCodes},
		{"Exec tells an end by a signal from an exit code", c.signals},
		{"Exec returns an error when nothing ran", c.startErrors},
	}
}

// The promises whose breach shows only at the end.
const (
	leaderEnds   = "Exec leaves nothing of the process running after its context is done"
	childrenEnd  = "Exec leaves no children of the process running after its context is done"
	orphansEnd   = "Exec leaves no children of the process running after a normal end"
	holdersEnd   = "Exec leaves no children running that held the outputs of a process after its normal end"
	nothingBegan = "Exec runs nothing when its context is done before"
)

func (c *sandboxCheck) endDuties() []duty {
	return []duty{
		{leaderEnds, c.cancelled},
		{"Exec returns soon after the deadline of a process that has stopped itself", c.stopped},
		{"Exec returns soon after its context is done, whatever the process writes", c.flooded},
		{orphansEnd, c.orphans},
		{"Exec returns soon after the process has ended, though children hold its outputs", c.holders},
		{nothingBegan, c.doneBefore},
	}
}

func (c *sandboxCheck) argv(ctx context.Context) error {
	var control strings.Builder
	for b := byte(1); b < ' '; b++ {
		control.WriteByte(b)
	}
	args := []string{
		"", "a b", " ", "'", `"`, `\`, `\\`, `'\''`, "$HOME ${x} $(exit)", "`exit`", "*", "?", "[a-z]", "{a,b}", "~", "!!", "#",
		"-n", "--", "-", "a=b", "%s", "&|;<>()", "line\nline\n", "\n", "\ttab", "cr\r", control.String() + "\x7f",
		"é€😀", "\xff\xfe not UTF-8", "^%PATH%", strings.Repeat("x'", 10_000), "",
	}
	return c.prints(ctx, strings.Join(args, "\x00")+"\x00", `printf '%s\0' "$@"`, args...)
}

func (c *sandboxCheck) dir(ctx context.Context) error {
	name := ownName()
	path, err := c.put(ctx, name, strings.NewReader("here"))
	if err != nil {
		return err
	}
	p := c.bash(`cat <"$1"`, name)
	p.Dir, _ = splitPath(path)
	if r := c.exec(ctx, p); r.err != nil || r.stdout != "here" {
		return fmt.Errorf("in %q a process does not find the file there: %s, %v", p.Dir, quoted(r.stderr), r.err)
	}
	return nil
}

func (c *sandboxCheck) env(ctx context.Context) error {
	p := c.bash(`printf '%s\0' "$CHECK_A" "$CHECK_B" "${CHECK_C-unset}" "$HOME"; cat </dev/null`)
	p.Env = []string{"CHECK_A=first", "HOME=/early", "CHECK_B= a=\"b\" '$HOME'\n`x`\\ é ", "CHECK_C=", "CHECK_A=second", "HOME=/late"}
	const want = "second\x00 a=\"b\" '$HOME'\n`x`\\ é \x00\x00/late\x00"
	switch r := c.exec(ctx, p); {
	case r.err != nil:
		return r.err
	case r.stdout != want:
		return fmt.Errorf("the process has %s instead of %s", quoted(r.stdout), quoted(want))
	case r.exit != (Exit{}):
		return fmt.Errorf("with Env a program is not found that was found without: %s", quoted(r.stderr))
	}
	return nil
}

const mebibyte = 1 << 20

func (c *sandboxCheck) stdin(ctx context.Context) error {
	for _, size := range []int{0, 1, mebibyte + 1} {
		input := strings.Repeat("\x00byte\xff\n\x04", size/8+1)[:size]
		if err := c.exec(ctx, c.bash("cat").with(strings.NewReader(input))).must(input); err != nil {
			return fmt.Errorf("%d bytes: %w", size, err)
		}
	}
	if err := c.prints(ctx, "", "cat"); err != nil {
		return fmt.Errorf("a nil Stdin: %w", err)
	}
	return nil
}

func (c *sandboxCheck) unread(ctx context.Context) error {
	for what, script := range map[string]string{
		"not read":          "printf up",
		"closed":            "exec 0<&-; sleep 0.1; printf up",
		"read a little":     "read -r -n 1 -d ''; printf up",
		"read by a child":   "(exit 0) | printf up",
		"not read, failing": "printf up; exit 2",
	} {
		for _, input := range []io.Reader{strings.NewReader("x"), strings.NewReader(strings.Repeat("x", mebibyte)), endless{}} {
			if r := c.exec(ctx, c.bash(script).with(input)); r.err != nil || r.stdout != "up" || r.exit.Signal != "" || r.exit.Code > 2 {
				return fmt.Errorf("it is %s: %s, %s, %+v, %v", what, quoted(r.stdout), quoted(r.stderr), r.exit, r.err)
			}
		}
	}
	return nil
}

// A process that writes before it reads must not wait for one that feeds
// before it drains.
func (c *sandboxCheck) outputs(ctx context.Context) error {
	r := c.exec(ctx, c.bash(`printf '%*s' "$1" out; printf '%*s' "$1" err >&2; cat; printf end >&2`, fmt.Sprint(mebibyte)).
		with(strings.NewReader(strings.Repeat("in", mebibyte/2))))
	out := strings.Repeat(" ", mebibyte-3)
	switch {
	case r.err != nil:
		return r.err
	case r.exit != (Exit{}):
		return fmt.Errorf("the process ended with %+v", r.exit)
	case r.stdout != out+"out"+strings.Repeat("in", mebibyte/2):
		return fmt.Errorf("stdout has %d of %d bytes, or others", len(r.stdout), 2*mebibyte)
	case r.stderr != out+"errend":
		return fmt.Errorf("stderr has %d of %d bytes, or others", len(r.stderr), mebibyte+3)
	}
	return nil
}

func (c *sandboxCheck) discards(ctx context.Context) error {
	p := c.bash(`printf '%*s' "$1" out && printf '%*s' "$1" err >&2 && exit 5`, fmt.Sprint(mebibyte))
	p.deaf = true
	if r := c.exec(ctx, p); r.err != nil || r.exit != (Exit{Code: 5}) {
		return fmt.Errorf("without writers it ends with %+v, %v", r.exit, r.err)
	}
	return nil
}

// 126, 127 and 128 plus a signal are what shells make of something else.
func (c *sandboxCheck) exitCodes(ctx context.Context) error {
	for _, code := range []int{0, 1, 2, 126, 127, 128 + 9, 255} {
		if r := c.exec(ctx, c.bash(`exit "$1"`, fmt.Sprint(code))); r.err != nil || r.exit != (Exit{Code: code}) {
			return fmt.Errorf("exit %d gives %+v, %v", code, r.exit, r.err)
		}
	}
	return nil
}

func (c *sandboxCheck) signals(ctx context.Context) error {
	for _, signal := range []string{"KILL", "TERM", "ABRT"} {
		r := c.exec(ctx, c.bash(`kill -s "$1" "$$"; exit 3`, signal))
		if r.err != nil || r.exit.Code != -1 || r.exit.Signal == "" {
			return fmt.Errorf("SIG%s gives %+v, %v; wanted are the code -1 and a name", signal, r.exit, r.err)
		}
	}
	return nil
}

func (c *sandboxCheck) startErrors(ctx context.Context) error {
	missing := Process{Argv: []string{"/nonexistent/" + ownName()}}
	if r := c.exec(ctx, checked{Process: missing}); r.err == nil {
		return fmt.Errorf("a program that does not exist gives %+v", r.exit)
	}
	p := c.bash("exit 0")
	p.Dir = "/nonexistent/" + ownName()
	if r := c.exec(ctx, p); r.err == nil {
		return fmt.Errorf("a working folder that does not exist gives %+v", r.exit)
	}
	return nil
}

// cancelled has a process, a child and a grandchild ignore what can be ignored
// and hold the outputs.
func (c *sandboxCheck) cancelled(ctx context.Context) error {
	leader, err := c.beacon(ctx, leaderEnds)
	if err != nil {
		return err
	}
	child, err := c.beacon(ctx, childrenEnd)
	if err != nil {
		return err
	}
	grandchild, err := c.beacon(ctx, childrenEnd)
	if err != nil {
		return err
	}
	return c.interrupt(ctx, linger+`trap '' HUP INT TERM
		linger "$2" &
		(linger "$3" &)
		echo up
		linger "$1"`, leader, child, grandchild)
}

func (c *sandboxCheck) stopped(ctx context.Context) error {
	// Half of "soon", and some time to start in.
	ctx, cancel := context.WithTimeout(ctx, c.times.soon/2)
	defer cancel()
	// The child is for a sandbox that leaves everything behind.
	r := c.exec(ctx, c.bash(`(sleep 20; kill -s CONT "$$") >/dev/null 2>&1 &
		kill -s STOP "$$"`))
	switch {
	case errors.Is(r.err, errLate):
		return r.err
	case r.err == nil && r.exit.Signal == "":
		return fmt.Errorf("the process was ended, and Exec says %+v", r.exit)
	}
	return nil
}

func (c *sandboxCheck) flooded(ctx context.Context) error {
	return c.interrupt(ctx, `for ((i = 0; i < 5000; i++)); do printf '%65536s' flood; printf '%65536s' flood >&2; done`)
}

func (c *sandboxCheck) orphans(ctx context.Context) error {
	child, err := c.beacon(ctx, orphansEnd)
	if err != nil {
		return err
	}
	grandchild, err := c.beacon(ctx, orphansEnd)
	if err != nil {
		return err
	}
	return c.prints(ctx, "up", linger+`linger "$1" </dev/null >/dev/null 2>&1 &
		(linger "$2" </dev/null >/dev/null 2>&1 &)
		printf up`, child, grandchild)
}

func (c *sandboxCheck) holders(ctx context.Context) error {
	child, err := c.beacon(ctx, holdersEnd)
	if err != nil {
		return err
	}
	grandchild, err := c.beacon(ctx, holdersEnd)
	if err != nil {
		return err
	}
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, 2*c.times.soon)
	defer cancel()
	r := c.exec(ctx, c.bash(linger+`linger "$1" &
		(linger "$2" &)
		printf up; exit 3`, child, grandchild))
	switch {
	case r.err != nil:
		return r.err
	case time.Since(start) > 2*c.times.soon:
		return fmt.Errorf("it took %v", time.Since(start).Round(time.Millisecond))
	case r.exit != (Exit{Code: 3}) || r.stdout != "up":
		return fmt.Errorf("the process printed %s and ended with %+v", quoted(r.stdout), r.exit)
	}
	return nil
}

func (c *sandboxCheck) doneBefore(ctx context.Context) error {
	path, err := c.put(ctx, "untouched", strings.NewReader(""))
	if err != nil {
		return err
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	r := c.exec(done, c.bash(`echo ran >>"$1"`, path))
	switch {
	case errors.Is(r.err, errLate):
		return r.err
	case r.err == nil:
		return fmt.Errorf("Exec returns %+v", r.exit)
	}
	return c.holds(ctx, path, "")
}
