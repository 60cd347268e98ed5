package hooks

import (
	"slices"
	"strings"
	"testing"
)

func TestEnvironment(t *testing.T) {
	const defaults = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	unix := []string{
		"PATH=/bin", "HOME=/h", "USER=u", "LOGNAME=u", "SHELL=/bin/zsh", "LANG=C", "LC_ALL=C", "LC_TIME=C",
		"TZ=UTC", "TMPDIR=/t", "TERM=xterm",
	}
	for _, tc := range []struct {
		name  string
		local Local
		goos  string
		host  []string
		want  []string // in any order
	}{
		{"nothing", Local{}, "linux", nil, []string{defaults}},
		{"the allow-list", Local{}, "linux",
			append([]string{"FAKE_API_KEY=canary", "LCX=1", "HOMEBREW=1", "BASH_ENV=/x", "TEMP=/t", "SystemRoot=/"}, unix...), unix},
		{"values with = and empty ones", Local{}, "linux", []string{"HOME==a=b", "TZ="}, []string{defaults, "HOME==a=b", "TZ="}},
		{"relative entries of PATH", Local{}, "linux", []string{"PATH=:.:/a::b/c:/d:~/e:"}, []string{"PATH=/a:/d"}},
		{"PATH with nothing usable", Local{}, "linux", []string{"PATH=.:bin"}, []string{defaults}},
		{"PATH empty", Local{}, "linux", []string{"PATH="}, []string{defaults}},
		{"a later PATH counts", Local{}, "linux", []string{"PATH=/a", "PATH=/b"}, []string{"PATH=/b"}},
		{"own entries pass as they are", Local{Env: []string{"PATH=.", "BASH_ENV=/x", "LD_PRELOAD=/y", "HOME=/z"}}, "linux",
			[]string{"HOME=/h"}, []string{"PATH=.", "BASH_ENV=/x", "LD_PRELOAD=/y", "HOME=/z"}},
		{"inherit", Local{InheritEnv: true}, "linux",
			[]string{
				"FAKE_API_KEY=canary", "BASH_ENV=/x", "ENV=/x", "BASH_FUNC_x%%=() { :; }", "SHELLOPTS=noexec", "BASHOPTS=extdebug",
				"LD_PRELOAD=/x", "LD_LIBRARY_PATH=/x", "PYTHONPATH=/x", "PYTHONSTARTUP=/x", "DYLD_X=1", "BASH=/b", "ENVIRONMENT=e",
				"PS4=$(x)", "BASH_LOADABLES_PATH=/x", "GCONV_PATH=/x", "POSIXLY_CORRECT=1", "BASH_COMPAT=3.1", "BASH_XTRACEFD=1",
				"CDPATH=/x", "TMOUT=1", "__BASH_FUNC<cat>()=() { :; }", "PATH=.:/a",
			},
			[]string{"FAKE_API_KEY=canary", "DYLD_X=1", "BASH=/b", "ENVIRONMENT=e", "PATH=/a"}},
		{"inherit on macOS", Local{InheritEnv: true}, "darwin",
			[]string{"DYLD_INSERT_LIBRARIES=/x", "A=1", "PATH=/a"}, []string{"A=1", "PATH=/a"}},
		{"Windows", Local{}, "windows",
			[]string{
				`=C:=C:\x`, `Path=.;C:\a;\b;"D:\c d";\\srv\e;f`, `SystemRoot=C:\Windows`, `ComSpec=C:\cmd.exe`, "Temp=T", "secret=canary",
				"ProgramFiles(x86)=P", "home=h",
			},
			[]string{`PATH=C:\a;D:\c d;\\srv\e`, `SystemRoot=C:\Windows`, `ComSpec=C:\cmd.exe`, "Temp=T", "ProgramFiles(x86)=P", "home=h"}},
		{"Windows without PATH", Local{}, "windows", []string{`SYSTEMROOT=D:\Win`},
			[]string{`PATH=D:\Win\System32;D:\Win`, `SYSTEMROOT=D:\Win`}},
		{"inherit on Windows", Local{InheritEnv: true}, "windows", []string{`=C:=C:\x`, "bash_env=x", "PythonPath=x", `path=C:\a`, "b=1"},
			[]string{`=C:=C:\x`, `PATH=C:\a`, "b=1"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			// What counts is the last entry of a key.
			var got []string
			all := tc.local.environment(tc.host, tc.goos)
			for i, entry := range all {
				key, _ := splitEntry(entry, tc.goos)
				later := slices.ContainsFunc(all[i+1:], func(e string) bool {
					k, _ := splitEntry(e, tc.goos)
					return k == key
				})
				if !later {
					got = append(got, entry)
				}
			}
			want := append([]string{"PYTHONNOUSERSITE=1"}, tc.want...)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
			}
		})
	}
}

func TestHoldsLaunchers(t *testing.T) {
	for _, tc := range []struct {
		dir, root string
		want      bool
	}{
		{`C:\Windows\System32`, `C:\WINDOWS`, true},
		{`c:/windows/system32/`, `C:\Windows\`, true},
		{`C:\Windows\Sysnative`, `C:\Windows`, true},
		{`C:\Users\u\AppData\Local\Microsoft\WindowsApps`, `C:\Windows`, true},
		{`C:\Program Files\Git\bin`, `C:\Windows`, false},
		{`C:\Windows\System32\OpenSSH`, `C:\Windows`, false},
		{`\system32`, ``, false},
	} {
		if got := holdsLaunchers(tc.dir, tc.root); got != tc.want {
			t.Errorf("holdsLaunchers(%q, %q) = %v", tc.dir, tc.root, got)
		}
	}
}
