//go:build unix

package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// runBash runs a script in l as command hooks are run.
func runBash(t *testing.T, l *Local, p Process, script string) (stdout, stderr string, exit Exit) {
	t.Helper()
	argv, err := l.Interpreter("bash")
	if err != nil {
		t.Fatal(err)
	}
	var out, errout bytes.Buffer
	p.Argv, p.Stdout, p.Stderr = append(argv, "-c", script), &out, &errout
	exit, err = l.Exec(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), errout.String(), exit
}

// plant writes a file that an attacker could have left.
func plant(t *testing.T, dir, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestLocalExec(t *testing.T) {
	own, other := t.TempDir(), t.TempDir()
	t.Setenv("FAKE_API_KEY", "canary")
	t.Setenv("LANG", "C.host")
	l := &Local{Dir: own, Env: []string{"A=local", "B=local", "LANG=C.local"}}

	stdout, stderr, exit := runBash(t, l, Process{Stdin: strings.NewReader("in"), Env: []string{"B=hook"}},
		`pwd -P; cat; echo " $A $B $LANG $FAKE_API_KEY"; echo err >&2; exit 2`)
	real, err := filepath.EvalSymlinks(own)
	if err != nil {
		t.Fatal(err)
	}
	if want := real + "\nin local hook C.local \n"; stdout != want || stderr != "err\n" || exit != (Exit{Code: 2}) {
		t.Errorf("%q, %q, %+v; want %q", stdout, stderr, exit, want)
	}

	stdout, _, _ = runBash(t, l, Process{Dir: other}, `pwd`)
	if filepath.Base(strings.TrimSpace(stdout)) != filepath.Base(other) {
		t.Errorf("the process's own folder does not count: %q", stdout)
	}
}

func TestLocalExecErrors(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tc := range []struct {
		name string
		ctx  context.Context
		p    Process
		want string
		is   error
	}{
		{"no program", t.Context(), Process{}, "absolute path", nil},
		{"bare name", t.Context(), Process{Argv: []string{"bash"}}, "absolute path", nil},
		{"relative path", t.Context(), Process{Argv: []string{"./bash"}}, "absolute path", nil},
		{"missing program", t.Context(), Process{Argv: []string{missing}}, missing, os.ErrNotExist},
		{"missing folder", t.Context(), Process{Argv: []string{"/bin/bash"}, Dir: missing}, missing, os.ErrNotExist},
		{"cancelled", done, Process{Argv: []string{"/bin/bash"}}, "", context.Canceled},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := new(Local).Exec(tc.ctx, tc.p)
			if err == nil || !strings.Contains(err.Error(), tc.want) || tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("err = %v", err)
			}
		})
	}
}

// write is a Write.
type write func(p []byte) (int, error)

func (w write) Write(p []byte) (int, error) { return w(p) }

func TestLocalExecCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	start := time.Now()
	exit, err := new(Local).Exec(ctx, Process{
		Argv:   []string{"/bin/bash", "-c", `trap "" TERM; sleep 30 & echo; sleep 30`},
		Stdout: write(func(p []byte) (int, error) { cancel(); return len(p), nil }),
	})
	if err != nil || exit.Code != -1 || !strings.HasPrefix(exit.Signal, "killed") || time.Since(start) > 3*time.Second {
		t.Errorf("%+v, %v after %v", exit, err, time.Since(start))
	}
}

// F36
func TestLocalOddNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `a b ü 'q' $x -h`)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	plant(t, dir, "-s $(x).sh", "#!/bin/bash\ncat \"$1\"\n", 0o700)
	l := &Local{Dir: dir, TempDir: dir}
	path, err := l.Put(t.Context(), "-n *'ü.txt", strings.NewReader("text"))
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr, exit := runBash(t, l, Process{Env: []string{"FILE=" + path}}, `./'-s $(x).sh' "$FILE"`)
	if stdout != "text" || exit.Code != 0 {
		t.Errorf("%q, %q, %+v", stdout, stderr, exit)
	}
	if err := l.Remove(t.Context(), path); err != nil {
		t.Error(err)
	}
}

// F34: a host without PATH, or with a PATH that is of no use to hooks.
func TestLocalDefaultPath(t *testing.T) {
	for _, path := range []string{"", ".:bin"} {
		t.Setenv("PATH", path)
		if stdout, _, exit := runBash(t, new(Local), Process{}, `command -v cat`); exit.Code != 0 {
			t.Errorf("PATH=%q: %q, %+v", path, stdout, exit)
		}
	}
}

// What lies in the working folder does not become a part of the hook.
func TestLocalIgnoresTheWorkspace(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("PATH", ".:"+os.Getenv("PATH")+":")
	for _, name := range []string{"bash", "python3", "cat"} {
		plant(t, dir, name, "#!/bin/sh\necho owned\n", 0o700)
	}
	plant(t, dir, "json.py", "print('owned')", 0o600)

	for _, inherit := range []bool{false, true} {
		l := &Local{Dir: dir, InheritEnv: inherit}
		stdout, _, _ := runBash(t, l, Process{Stdin: strings.NewReader("in")}, `cat`)
		if stdout != "in" {
			t.Errorf("bash: %q", stdout)
		}
		argv, err := l.Interpreter("python3")
		if err != nil {
			t.Skip(err)
		}
		var out bytes.Buffer
		exit, err := l.Exec(t.Context(), Process{Argv: append(argv, "-I", "-c", `import json; print(json.dumps("in"))`), Stdout: &out})
		if err != nil || exit.Code != 0 || out.String() != "\"in\"\n" {
			t.Errorf("python3: %q, %+v, %v", &out, exit, err)
		}
	}
}

// Nothing of the host's environment runs before the hook or changes how it is
// read, whether or not it is inherited.
func TestLocalEnvironmentRunsNothing(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, "rc", "echo owned\n", 0o600)
	t.Setenv("BASH_ENV", filepath.Join(dir, "rc"))
	t.Setenv("ENV", filepath.Join(dir, "rc"))
	t.Setenv("BASH_FUNC_cat%%", "() { echo owned; }")
	t.Setenv("SHELLOPTS", "noexec")
	for _, inherit := range []bool{false, true} {
		stdout, _, exit := runBash(t, &Local{InheritEnv: inherit}, Process{Stdin: strings.NewReader("in")}, `cat; exit 2`)
		if stdout != "in" || exit.Code != 2 {
			t.Errorf("InheritEnv %v: %q, %+v", inherit, stdout, exit)
		}
	}
}

func TestLocalInterpreter(t *testing.T) {
	bin, folder := t.TempDir(), t.TempDir()
	plant(t, bin, "python3", "#!/bin/sh\n", 0o700) // a shim is a program like any other
	if err := os.Mkdir(filepath.Join(folder, "python3"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, path, want, err string }{
		{"python3", folder + ":" + bin, bin + "/python3", ""},
		{"python3", "/nonexistent:rel:" + folder, "", "hooks: python3 was not found: looked on the absolute entries of PATH (/nonexistent:" + folder + ")"},
		{"bash", "/nonexistent", "/bin/bash", ""},
		{"perl", "/usr/bin", "", `hooks: no interpreter is called "perl"; there are bash and python3`},
	} {
		t.Run(tc.name+" on "+tc.path, func(t *testing.T) {
			if _, err := exec.LookPath(tc.want); tc.want != "" && err != nil {
				t.Skip(err)
			}
			argv, err := (&Local{Env: []string{"PATH=" + tc.path}}).Interpreter(tc.name)
			switch {
			case tc.err != "":
				if err == nil || err.Error() != tc.err {
					t.Errorf("err = %v\nwant  %s", err, tc.err)
				}
			case err != nil || len(argv) != 1 || argv[0] != tc.want:
				t.Errorf("got %q, %v; want %q", argv, err, tc.want)
			}
		})
	}
}

// SUM-3
func TestLocalPut(t *testing.T) {
	temp := t.TempDir()
	l := &Local{TempDir: temp}
	path, err := l.Put(t.Context(), "hook_transcript_1_2.txt", strings.NewReader("line\n"))
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(path) || filepath.Base(path) != "hook_transcript_1_2.txt" {
		t.Errorf("path = %q", path)
	}
	for p, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700 | os.ModeDir} {
		fi, err := os.Lstat(p)
		if err != nil || fi.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", p, fi.Mode(), err, want)
		}
	}
	if data, _ := os.ReadFile(path); string(data) != "line\n" {
		t.Errorf("holds %q", data)
	}

	plant(t, filepath.Dir(path), "left by a hook", "", 0o600)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Remove(done, path); err != nil {
		t.Error(err)
	}
	wantEmpty(t, temp)
	if err := l.Remove(t.Context(), path); err != nil {
		t.Errorf("gone already: %v", err)
	}
}

func TestLocalPutNil(t *testing.T) {
	l := &Local{TempDir: t.TempDir()}
	path, err := l.Put(t.Context(), "empty", nil)
	if err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(path); err != nil || fi.Size() != 0 {
		t.Errorf("%v, %v", fi, err)
	}
}

func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// reader is a Read.
type reader func(p []byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

func TestLocalPutErrors(t *testing.T) {
	temp := t.TempDir()
	l := &Local{TempDir: temp}
	broken := errors.New("broken")
	ctx, cancel := context.WithCancel(t.Context())
	endless := reader(func(p []byte) (int, error) { cancel(); return len(p), nil })
	fails := io.MultiReader(strings.NewReader("some"), reader(func([]byte) (int, error) { return 0, broken }))

	if _, err := l.Put(t.Context(), "f", fails); !errors.Is(err, broken) {
		t.Errorf("failing reader: %v", err)
	}
	if _, err := l.Put(ctx, "f", endless); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled meanwhile: %v", err)
	}
	if _, err := l.Put(ctx, "f", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = l.Put(t.Context(), "f", reader(func([]byte) (int, error) { panic("reader") }))
	}()
	for _, name := range []string{"", ".", "..", "a/b", "/a", "../a", `a\b`, "a\x00", strings.Repeat("x", 300)} {
		if path, err := l.Put(t.Context(), name, nil); err == nil {
			t.Errorf("Put(%q) = %q", name, path)
		}
	}
	wantEmpty(t, temp)

	if _, err := (&Local{TempDir: filepath.Join(temp, "missing")}).Put(t.Context(), "f", nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing folder: %v", err)
	}
}

func TestLocalRemoveRefuses(t *testing.T) {
	temp := t.TempDir()
	t.Chdir(temp)
	for _, dir := range []string{"mine", "hooks-put-", "hooks-put-1x", "hooks-put-1"} {
		if err := os.Mkdir(filepath.Join(temp, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		plant(t, filepath.Join(temp, dir), "f", "", 0o600)
	}
	for _, path := range []string{
		"", "/", temp, temp + "/mine/f", temp + "/hooks-put-/f", temp + "/hooks-put-1x/f",
		temp + "/hooks-put-1", temp + "/hooks-put-1/", temp + "/hooks-put-1/..", temp + "/hooks-put-1/../mine/f",
		temp + "//hooks-put-1/f", "hooks-put-1/f",
	} {
		if err := new(Local).Remove(t.Context(), path); err == nil {
			t.Errorf("removed %q", path)
		}
	}
	if left, _ := filepath.Glob(temp + "/*/f"); len(left) != 4 {
		t.Errorf("left: %q", left)
	}
}

func TestLocalConcurrently(t *testing.T) {
	temp := t.TempDir()
	l := &Local{TempDir: temp}
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			text := fmt.Sprint(i)
			path, err := l.Put(t.Context(), "same name", strings.NewReader(text))
			if err != nil {
				t.Error(err)
				return
			}
			var out bytes.Buffer
			exit, err := l.Exec(t.Context(), Process{Argv: []string{"/bin/bash", "-c", `cat "$0"`, path}, Stdout: &out})
			if err != nil || exit.Code != 0 || out.String() != text {
				t.Errorf("%q, %+v, %v", &out, exit, err)
			}
			if err := l.Remove(t.Context(), path); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	wantEmpty(t, temp)
}
