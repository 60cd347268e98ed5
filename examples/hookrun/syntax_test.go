package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookruntime/hooks"
)

// canary stands in the broken lines: the messages of bash and Python quote it.
const canary = "s3cr3t-canary"

// scripted is a hook file with a script.
func scripted(name string, lines ...string) string {
	return hook(name, "PreToolUse", "type: command\nmatcher: Bash\nfailMode: block\nscript: |\n  "+strings.Join(lines, "\n  "))
}

func needsPython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs python3")
	}
}

func TestSyntaxBash(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       string // of the finding; empty is none
	}{
		{"word", "#!/bin/bash\necho ok\nfi " + canary + "\necho", "error: the script has a syntax error at its line 3: bash ends with code 2, which blocks"},
		{"end", "#!/bin/bash\nif true; then\n  echo " + canary + "\n", "error: the script has a syntax error at its line 3: bash ends with code 2, which blocks"},
		{"quote", "#!/bin/bash\necho \"" + canary + "\necho\n", "error: the script has a syntax error at its line "},
		{"array", "#!/bin/bash\na=(" + canary + "\n", "error: the script has a syntax error at its line 2: bash ends with code "},
		{"two", "#!/bin/bash\na=(1\necho;\nfi " + canary + "\n", "error: the script has a syntax error at its line 3: bash ends with code "},
		{"line", "if " + canary + "; then exit 2", "error: the command has a syntax error at its line 1: bash ends with code 2, which blocks"},
		{"second line", "echo\n" + canary + " )", "error: the command has a syntax error at its line 2: bash ends with code 2, which blocks"},
		{"dash", "-x " + canary, ""},
		{"good", "#!/bin/bash -e\n[[ $1 =~ ^a ]] && { cat <<END; }\n" + canary + "\nEND\n", ""},
		{"good line", "grep -q " + canary + " && exit 2", ""},
		{"run-time error", "exit 2; no-such-program", ""},
		{"extglob", "#!/bin/bash\nshopt -s extglob\necho !(" + canary + ")\n", ""},
		{"extglob in the shebang", "#!/bin/bash -O extglob\necho !(" + canary + ")\n", ""},
		{"extglob and broken", "#!/bin/bash\nshopt -s extglob\necho !(a)\nfi " + canary + "\n", "error: the script has a syntax error at its line 4: bash ends with code 2, which blocks"},
		{"open here-document", "#!/bin/bash\ncat <<END\n" + canary + "\nexit 2\n", "warning: the here-document in line 2 of the script is not ended by its word: bash takes the lines behind it for its text"},
		{"open here-document and broken", "#!/bin/bash\nx=$(cat <<END\n" + canary + ")\n", "error: the script has a syntax error at its line 3: bash ends with code 2, which blocks"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := hooks.Command{Line: tt.text}
			if strings.HasPrefix(tt.text, "#!") {
				c = hooks.Command{Script: tt.text}
			}
			d := syntaxOf(t.Context(), c)
			if tt.want == "" {
				assert.Empty(t, d.Message)
				return
			}
			assert.Contains(t, d.String(), tt.want)
			assert.NotContains(t, d.String(), canary)
		})
	}
}

func TestSyntaxPython(t *testing.T) {
	needsPython(t)
	for _, tt := range []struct{ name, text, want string }{
		{"parenthesis", "print('" + canary + "'", "error: the script has a syntax error at its line 2: python3 ends with code 1, which is a failure"},
		{"indent", "import sys\n  x = '" + canary + "'", "error: the script has a syntax error at its line 3: python3 ends with code 1, which is a failure"},
		{"return", "\nreturn '" + canary + "'", "error: the script has a syntax error at its line 3: python3 ends with code 1, which is a failure"},
		{"good", "import sys\nprint('ü \\d', file=sys.stderr); sys.exit(2)", ""},
		{"run-time error", "import no_such_module", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := syntaxOf(t.Context(), hooks.Command{Script: "#!/usr/bin/env python3\n" + tt.text})
			if tt.want == "" {
				assert.Empty(t, d.Message)
				return
			}
			assert.Equal(t, tt.want, d.String())
		})
	}
}

// Nothing runs, whatever the first line asks for.
func TestSyntaxRunsNothing(t *testing.T) {
	mark := filepath.ToSlash(filepath.Join(t.TempDir(), "ran"))
	for _, first := range []string{"", "#!/bin/bash", "#!/bin/bash -i", "#!/bin/bash +n", "#!/bin/bash +o noexec"} {
		text := first + "\nset +n\ntouch '" + mark + "'\necho $(touch '" + mark + "')\n"
		c := hooks.Command{Line: text}
		if first != "" {
			c = hooks.Command{Script: text}
		}
		assert.Empty(t, syntaxOf(t.Context(), c).Message, first)
		assert.NoFileExists(t, mark, first)
	}
	if _, err := exec.LookPath("python3"); err == nil {
		c := hooks.Command{Script: "#!/usr/bin/env python3\nopen('" + mark + "', 'w')\n"}
		assert.Empty(t, syntaxOf(t.Context(), c).Message)
		assert.NoFileExists(t, mark)
	}
}

func TestCheckSyntax(t *testing.T) {
	broken := scripted("broken", "#!/bin/bash", "echo", canary+" )")
	path := folder(t, map[string]string{
		".hidden.yaml": broken, // what is not loaded with the folder is not named
		"a.txt":        broken,
		"a.yaml":       broken,
		"aa.yaml":      broken, // its name is taken
		"b.yaml":       says("good", `{"ok": true}`),
		"c.yaml":       scripted("open", "#!/bin/bash", "cat <<END", canary),
		"d.yaml":       hook("judge", "Stop", "type: prompt\nprompt: ok?"),
	})
	r := hookrun("", "-check", path("a.yaml"))
	assert.Equal(t, exitError, r.code)
	assert.Equal(t, path("a.yaml")+`: error: hook "broken": the script has a syntax error at its line 3: bash ends with code 2, which blocks`+"\n", r.stderr)
	assert.Contains(t, r.stdout, "broken  user-global", "it is a hook all the same")

	r = hookrun("", "-check", path("b.yaml"), path("c.yaml"), path("d.yaml"))
	assert.Equal(t, exitProceeds, r.code, "a warning is no error")
	assert.Equal(t, path("c.yaml")+`: warning: hook "open": the here-document in line 2 of the script is not ended by its word: bash takes the lines behind it for its text`+"\n", r.stderr)

	r = hookrun("", "-json", "-check", path(""), "-system", path("a.yaml"))
	assert.Equal(t, exitError, r.code)
	assert.NotContains(t, r.stdout, canary)
	var got struct{ Diagnostics []struct{ File, Key string } }
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &got), r.stdout)
	var files []string
	for _, d := range got.Diagnostics {
		if d.Key == "script" {
			files = append(files, d.File)
		}
	}
	assert.Equal(t, []string{path("a.yaml"), path("a.yaml"), path("c.yaml")}, files, "in each tier, and each hook in its own file")
}

// A pipe can be read once only; the finding then has the hook's name alone.
func TestCheckSyntaxPipe(t *testing.T) {
	mkfifo, err := exec.LookPath("mkfifo")
	if err != nil {
		t.Skip("needs mkfifo")
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, exec.Command(mkfifo, pipe).Run())
	done := make(chan ran, 1)
	go func() { done <- hookrun("", "-check", pipe) }()
	require.NoError(t, os.WriteFile(pipe, []byte(scripted("broken", "#!/bin/bash", "fi")), 0o600))
	select {
	case r := <-done:
		assert.Equal(t, exitError, r.code)
		assert.Equal(t, `error: hook "broken": the script has a syntax error at its line 2: bash ends with code 2, which blocks`+"\n", r.stderr)
	case <-time.After(time.Minute):
		t.Fatal("the pipe was opened again")
	}
}

// Names go on from file to file, and each hook is found in its own.
func TestCheckSyntaxVSCode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("PowerShell runs the lines there")
	}
	const file = `{ // one good, one broken
		"hooks": {"PreToolUse": [
			{"type": "command", "command": "exit 0"},
			{"type": "command", "command": "if %s"}]}}`
	dir := t.TempDir()
	var names []string
	for _, sub := range []string{"one", "two"} {
		name := filepath.Join(dir, sub, "policy.json")
		require.NoError(t, os.Mkdir(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(strings.Replace(file, "%s", canary, 1)), 0o600))
		names = append(names, name)
	}
	r := hookrun("", "-dialect", "vscode", "-check", names[0], filepath.Dir(names[1]))
	assert.Equal(t, exitError, r.code)
	assert.Equal(t, []string{
		names[0] + `: error: hook "policy/PreToolUse/2": the command has a syntax error at its line 1: bash ends with code 2, which blocks`,
		names[1] + `: error: hook "policy/PreToolUse/4": the command has a syntax error at its line 1: bash ends with code 2, which blocks`,
	}, strings.Split(strings.TrimSpace(r.stderr), "\n"))
}

// An interpreter that is not here, or does not work, is told, and is no error.
func TestCheckSyntaxInterpreters(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-ins are shell scripts")
	}
	path := folder(t, map[string]string{
		"py.yaml":   scripted("py", "#!/usr/bin/env python3", "print('"+canary),
		"bash.yaml": scripted("sh", "#!/bin/bash", canary+" )"),
	})
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	r := hookrun("", "-check", path("py.yaml"))
	assert.Equal(t, exitProceeds, r.code)
	assert.Equal(t, path("py.yaml")+`: warning: hook "py": the script is not checked for syntax errors: there is no python3 on this machine`+"\n", r.stderr)
	r = hookrun("", "-check", path("py.yaml"), path("bash.yaml"))
	assert.Equal(t, exitError, r.code, "the other hook is checked all the same")

	install := func(script string) {
		require.NoError(t, os.WriteFile(filepath.Join(bin, "python3"), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	}
	install("echo '" + canary + ": version not installed' >&2; exit 127")
	r = hookrun("", "-check", path("py.yaml"))
	assert.Equal(t, exitProceeds, r.code)
	assert.Equal(t, path("py.yaml")+`: warning: hook "py": the script is not checked for syntax errors: python3 ended with code 127 and named no line`+"\n", r.stderr)

	install("while :; do :; done")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	d := syntaxOf(ctx, hooks.Command{Script: "#!/usr/bin/env python3\n"})
	assert.Equal(t, "warning: the script is not checked for syntax errors: python3 did not end in time", d.String())

	install("kill -9 $$")
	d = syntaxOf(t.Context(), hooks.Command{Script: "#!/usr/bin/env python3\n"})
	assert.Contains(t, d.String(), "warning: the script is not checked for syntax errors: python3 was ended by signal")
}
