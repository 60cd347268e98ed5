package hooks

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

var systems = []string{"linux", "darwin", "windows"}

// TestCommandFor: own override, then the shell's, then the common one.
func TestCommandFor(t *testing.T) {
	all := []string{"command", "windows", "linux", "osx", "bash", "powershell"}
	for _, tc := range []struct {
		given []string
		want  [3]string // by system
	}{
		{all, [3]string{"linux", "osx", "windows"}},
		{[]string{"command", "bash", "powershell"}, [3]string{"bash", "bash", "powershell"}},
		{[]string{"command", "linux"}, [3]string{"linux", "command", "command"}},
		{[]string{"bash"}, [3]string{"bash", "bash", ""}},
		{[]string{"powershell"}, [3]string{"", "", "powershell"}},
		{[]string{"osx", "windows"}, [3]string{"", "osx", "windows"}},
		{[]string{"command"}, [3]string{"command", "command", "command"}},
		{nil, [3]string{}},
	} {
		for i, goos := range systems {
			line, key := commandFor(goos, func(key string) string {
				for _, g := range tc.given {
					if g == key {
						return "run " + key
					}
				}
				return ""
			})
			assert.Equal(t, tc.want[i], key, "%v on %s", tc.given, goos)
			if key != "" {
				assert.Equal(t, "run "+key, line)
			}
		}
	}
	// Any other system has bash.
	_, key := commandFor("freebsd", func(key string) string { return key })
	assert.Equal(t, "linux", key)
	_, key = commandFor("linux", func(key string) string { return map[string]string{"linux": " ", "command": "x"}[key] })
	assert.Equal(t, "command", key, "a blank override is none")
}

func TestVSCodeLine(t *testing.T) {
	for _, goos := range systems {
		name, args := vscodeLine("a && b", goos)
		if goos == "windows" {
			assert.Equal(t, "powershell", name)
			assert.Equal(t, []string{"-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-Command"}, args[:5])
			assert.Equal(t, "a && b"+powershellExit, args[5])
			assert.Len(t, args, 6)
			continue
		}
		assert.Equal(t, "bash", name)
		assert.Equal(t, []string{"--noprofile", "--norc", "-c", "--", "a && b"}, args)
	}
	for name, want := range map[string]string{"bash": "/bin/bash", "python3": "/usr/bin/env", "powershell": `C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe`} {
		argv, err := interpreter(struct{ Sandbox }{}, name)
		assert.NoError(t, err)
		assert.Equal(t, want, argv[0])
	}
}

func TestFolderOf(t *testing.T) {
	for _, tc := range []struct{ goos, dir, workspace, want string }{
		{"linux", "", "/w", "/w"},
		{"linux", ".", "/w", "/w"},
		{"linux", "", "", ""},
		{"linux", "sub/x", "/w/", "/w/sub/x"},
		{"linux", "../x", "/w", "/w/../x"},
		{"linux", "sub", "/", "/sub"},
		{"linux", "sub", "", "sub"},
		{"linux", "/abs", "/w", "/abs"},
		{"darwin", "~", "/w", "/home/u"},
		{"linux", "~/x/y", "/w", "/home/u/x/y"},
		{"linux", "~x", "/w", "/w/~x"},
		{"windows", `sub\x`, `C:\w`, `C:\w\sub\x`},
		{"windows", "sub", `C:\`, `C:\sub`},
		{"windows", `D:\x`, `C:\w`, `D:\x`},
		{"windows", `~\x`, `C:\w`, `/home/u\x`},
	} {
		assert.Equal(t, tc.want, folderOf(tc.dir, tc.workspace, "/home/u", tc.goos), "%+v", tc)
	}
}

func TestWithoutANSI(t *testing.T) {
	for in, want := range map[string]string{
		"plain [0m":                            "plain [0m",
		"\x1b[1;31mred\x1b[0m":                 "red",
		"\x1b[38:2::1:2:3mx\x1b[?25l":          "x",
		"\x1b]8;;http://x\x07link\x1b]8;;\x07": "link",
		"\x1b]0;title\x1b\\x":                  "x",
		"\u009b31mx":                           "x",
		"\x1b(Bx\x1b7\x1b=y":                   "xy",
		"café\x1b[mé":                          "caféé",
	} {
		assert.Equal(t, want, withoutANSI(in), "%q", in)
	}
}
