package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

func (c *sandboxCheck) fileDuties() []duty {
	return []duty{
		{"Put stores what the reader yields under a path whose last element is the name", c.putKeeps},
		{"Put makes a file for the sandbox's user alone, in a folder that nobody else can write to", c.putHides},
		{"Put never overwrites an existing file", c.putAdds},
		{"Put returns an error of its reader, and then nothing stays behind", c.putFails},
		{"Put ends when its context is done, and then nothing stays behind", c.putCancelled},
		{"Remove deletes the path that Put returned, and the folder that Put made for it", c.removes},
		{"Remove of a path that is gone is no error", c.removesTwice},
	}
}

// put calls Put, for a file that the check removes at its end.
func (c *sandboxCheck) put(ctx context.Context, name string, r io.Reader) (path string, err error) {
	path, err = call(ctx, &c.checker, func() (string, error) { return c.sandbox.Put(ctx, name, r) })
	if err == nil {
		c.mu.Lock()
		c.placed = append(c.placed, path)
		c.mu.Unlock()
	}
	return path, err
}

// remove calls Remove.
func (c *sandboxCheck) remove(ctx context.Context, path string) error {
	_, err := call(ctx, &c.checker, func() (struct{}, error) { return struct{}{}, c.sandbox.Remove(ctx, path) })
	return err
}

// holds reads a file in a process.
func (c *sandboxCheck) holds(ctx context.Context, path, want string) error {
	if err := c.prints(ctx, want, `cat <"$1"`, path); err != nil {
		return fmt.Errorf("at reading %q: %w", path, err)
	}
	return nil
}

func (c *sandboxCheck) putKeeps(ctx context.Context) error {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for name, content := range map[string]string{
		"empty.txt":    "",
		"a file's $nm": "two lines\n\n",
		// Not a multiple of anybody's buffer.
		"large.bin": string(bytes.Repeat(every, 4096)) + "\x00\n",
	} {
		// A reader without io.WriterTo, which gives less than it is asked for.
		path, err := c.put(ctx, name, struct{ io.Reader }{strings.NewReader(content)})
		if err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
		if _, base := splitPath(path); base != name {
			return fmt.Errorf("the path %q does not end with the name %q", path, name)
		}
		if err := c.holds(ctx, path, content); err != nil {
			return err
		}
	}
	return nil
}

// putHides looks at modes, where the path and ls show that there are any.
func (c *sandboxCheck) putHides(ctx context.Context) error {
	path, err := c.put(ctx, "private", strings.NewReader("x"))
	if err != nil || !strings.HasPrefix(path, "/") {
		return err
	}
	dir, _ := splitPath(path)
	r := c.exec(ctx, c.bash(`ls -ld -- "$1" "$2"`, path, dir))
	if r.err != nil || r.exit != (Exit{}) {
		return nil
	}
	for line := range strings.Lines(r.stdout) {
		mode, _, _ := strings.Cut(line, " ")
		switch {
		case len(mode) < 10:
			return nil // some other ls
		case mode[0] == 'd' && (mode[5] == 'w' || mode[8] == 'w'):
			return fmt.Errorf("the folder has the mode %s", mode)
		case mode[0] != 'd' && mode[4:10] != "------":
			return fmt.Errorf("the file has the mode %s", mode)
		}
	}
	return nil
}

func (c *sandboxCheck) putAdds(ctx context.Context) error {
	one, err := c.put(ctx, "one name", strings.NewReader("one"))
	if err != nil {
		return err
	}
	two, err := c.put(ctx, "one name", strings.NewReader("two"))
	if err != nil {
		return fmt.Errorf("a name that was used before: %w", err)
	}
	if one == two {
		return fmt.Errorf("two files of one name have one path, %q", one)
	}
	if err := c.holds(ctx, one, "one"); err != nil {
		return err
	}
	return c.holds(ctx, two, "two")
}

func (c *sandboxCheck) putFails(ctx context.Context) error {
	broken, name := errors.New("the reader broke"), ownName()
	path, err := c.put(ctx, name, io.MultiReader(strings.NewReader("half a "), brokenReader{broken}))
	switch {
	case err == nil:
		return fmt.Errorf("the reader failed, and Put returned %q without an error", path)
	case !errors.Is(err, broken):
		return fmt.Errorf("the error does not wrap the reader's: %w", err)
	}
	return c.leavesNothing(ctx, name)
}

type brokenReader struct{ err error }

func (r brokenReader) Read([]byte) (int, error) { return 0, r.err }

func (c *sandboxCheck) putCancelled(ctx context.Context) error {
	done, cancel := context.WithCancel(ctx)
	cancel()
	before, during := ownName(), ownName()
	if _, err := c.put(done, before, strings.NewReader("x")); err == nil {
		return errors.New("its context was done before, and it put a file")
	}
	done, cancel = context.WithCancel(ctx)
	defer cancel()
	_, err := c.put(done, during, &dripping{onFirst: cancel, end: time.Now().Add(2 * c.times.soon)})
	switch {
	case errors.Is(err, errLate):
		return err
	case err == nil:
		return errors.New("its context was cancelled during the reading, and it put a file")
	}
	if err := c.leavesNothing(ctx, before); err != nil {
		return err
	}
	return c.leavesNothing(ctx, during)
}

// dripping calls onFirst at the first byte, and yields more of them, slowly.
// It comes to an end, for a Put that is abandoned.
type dripping struct {
	onFirst func()
	end     time.Time
}

func (d *dripping) Read(p []byte) (int, error) {
	d.onFirst()
	if time.Now().After(d.end) {
		return 0, io.EOF
	}
	<-time.After(time.Millisecond)
	return copy(p, "x"), nil
}

// leavesNothing looks for a file whose name has this one in it, where a file
// that was put properly makes one think it would be. A temporary file beside
// it counts.
func (c *sandboxCheck) leavesNothing(ctx context.Context, name string) error {
	path, err := c.put(ctx, "neighbour", strings.NewReader(""))
	if err != nil {
		return err
	}
	dir, _ := splitPath(path)
	above, _ := splitPath(dir)
	err = c.prints(ctx, "", `shopt -s nullglob dotglob
		for file in "$1"/*"$3"* "$2"/*"$3"* "$2"/*/*"$3"*; do echo "$file"; done`, dir, above, name)
	if err != nil {
		return fmt.Errorf("a file stayed behind: %w", err)
	}
	return nil
}

func (c *sandboxCheck) removes(ctx context.Context) error {
	path, err := c.put(ctx, "one name", strings.NewReader("one"))
	if err != nil {
		return err
	}
	other, err := c.put(ctx, "one name", strings.NewReader("other"))
	if err != nil {
		return err
	}
	if err := c.remove(ctx, path); err != nil {
		return err
	}
	if err := c.prints(ctx, "gone", `[ -e "$1" ] || printf gone`, path); err != nil {
		return fmt.Errorf("the file is still there: %w", err)
	}
	// A folder that the two files do not share was made for one of them.
	dir, _ := splitPath(path)
	if otherDir, _ := splitPath(other); dir != otherDir {
		if err := c.prints(ctx, "gone", `[ -e "$1" ] || printf gone`, dir); err != nil {
			return fmt.Errorf("the folder is still there: %w", err)
		}
	}
	if err := c.holds(ctx, other, "other"); err != nil {
		return fmt.Errorf("another file is gone: %w", err)
	}
	return nil
}

func (c *sandboxCheck) removesTwice(ctx context.Context) error {
	path, err := c.put(ctx, "twice", strings.NewReader("x"))
	if err != nil {
		return err
	}
	if err := c.remove(ctx, path); err != nil {
		return err
	}
	return c.remove(ctx, path)
}

// splitPath splits a path of whatever system the sandbox is on.
func splitPath(path string) (dir, name string) {
	separators := "/"
	if !strings.HasPrefix(path, "/") {
		separators = `/\`
	}
	i := strings.LastIndexAny(path, separators)
	if i < 0 {
		return "", path
	}
	return path[:i], path[i+1:]
}
