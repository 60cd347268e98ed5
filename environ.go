package hooks

import (
	"slices"
	"strings"
)

// The functions of this file take the host's environment and the operating
// system as arguments, so that every rule can be tested on every system.

// environment returns what the hooks of l get: what passes from host, PATH
// cleaned, and l.Env. Where a key is given twice the last entry counts, as for
// the process layer.
func (l *Local) environment(host []string, goos string) []string {
	env := make([]string, 0, 16) // few pass
	for _, entry := range host {
		key, _ := splitEntry(entry, goos)
		if key == "PATH" || l.InheritEnv && withheld(key, goos) || !l.InheritEnv && !passes(key, goos) {
			continue
		}
		env = append(env, entry)
	}
	dirs := absoluteEntries(lookup(host, "PATH", goos), goos)
	if len(dirs) == 0 {
		// An empty PATH lets bash fall back to one of its own, with the
		// working folder in it on some systems.
		dirs = defaultPath(host, goos)
	}
	env = append(env, "PATH="+strings.Join(dirs, listSeparator(goos)), "PYTHONNOUSERSITE=1")
	return append(env, l.Env...)
}

// passes tells whether a key of the host passes to hooks. It takes keys as
// splitEntry returns them.
func passes(key, goos string) bool {
	switch key {
	case "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "TERM":
		return true
	case "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP",
		"USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA",
		"PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)",
		"NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE":
		return goos == "windows"
	}
	return strings.HasPrefix(key, "LC_")
}

// withheld tells whether a key of the host is kept from hooks that inherit its
// environment. What other programs take from theirs is not looked at.
func withheld(key, goos string) bool {
	switch key {
	case "BASH_ENV", "ENV", // run code before the hook
		"PS4", "BASH_LOADABLES_PATH", "GCONV_PATH": // run or load code in it
		return true
	case "SHELLOPTS", "BASHOPTS", "POSIXLY_CORRECT", "BASH_COMPAT":
		// Change how bash reads a script: SHELLOPTS=noexec turns every guard
		// into one that passes, BASH_COMPAT=3.1 what [[ =~ ]] matches.
		return true
	case "CDPATH", "BASH_XTRACEFD", "TMOUT":
		// cd goes elsewhere and says so on stdout, where only the answer may
		// stand, and traces may go there too; read gives up.
		return true
	}
	// Not IFS, GLOBIGNORE and EXECIGNORE: bash does not take them from its
	// environment.
	return strings.HasPrefix(key, "BASH_FUNC_") || // a function that replaces a command
		strings.HasPrefix(key, "__BASH_FUNC<") || // the same in Apple's bash
		strings.HasPrefix(key, "LD_") ||
		strings.HasPrefix(key, "PYTHON") ||
		goos == "darwin" && strings.HasPrefix(key, "DYLD_")
}

// splitEntry splits "KEY=value". Windows does not distinguish case in keys,
// which are returned in upper case there, and has entries whose key begins
// with "=".
func splitEntry(entry, goos string) (key, value string) {
	i := strings.IndexByte(entry, '=')
	if i == 0 {
		i = 1 + strings.IndexByte(entry[1:], '=')
	}
	if i <= 0 {
		return entry, ""
	}
	key, value = entry[:i], entry[i+1:]
	if goos == "windows" {
		key = strings.ToUpper(key)
	}
	return key, value
}

// lookup returns the value of a key in env, empty without one.
func lookup(env []string, key, goos string) string {
	if goos == "windows" {
		key = strings.ToUpper(key)
	}
	for _, entry := range slices.Backward(env) {
		if k, value := splitEntry(entry, goos); k == key {
			return value
		}
	}
	return ""
}

// absoluteEntries returns the folders of a PATH without the relative ones:
// "." and an empty entry mean the working folder, where an agent writes.
func absoluteEntries(path, goos string) []string {
	dirs := make([]string, 0, 8)
	for dir := range strings.SplitSeq(path, listSeparator(goos)) {
		if goos == "windows" {
			dir = strings.Trim(dir, `"`)
		}
		if isAbsolute(dir, goos) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// defaultPath is the PATH of hooks whose host has no usable one.
func defaultPath(host []string, goos string) []string {
	if goos == "windows" {
		root := lookup(host, "SystemRoot", goos)
		if root == "" {
			root = `C:\Windows`
		}
		return []string{root + `\System32`, root}
	}
	return []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}
}

func listSeparator(goos string) string {
	if goos == "windows" {
		return ";"
	}
	return ":"
}

// isAbsolute is filepath.IsAbs for the paths of another system.
func isAbsolute(path, goos string) bool {
	if goos != "windows" {
		return strings.HasPrefix(path, "/")
	}
	slashed := strings.ReplaceAll(path, `\`, "/")
	return len(slashed) >= 3 && slashed[1:3] == ":/" || strings.HasPrefix(slashed, "//")
}

// holdsLaunchers tells whether a folder of a Windows PATH holds the system's
// own launchers instead of programs: bash.exe of System32 starts WSL, and the
// aliases in WindowsApps are stubs unless something was bought there.
func holdsLaunchers(dir, systemRoot string) bool {
	dir = strings.ToLower(strings.TrimRight(strings.ReplaceAll(dir, "/", `\`), `\`))
	root := strings.ToLower(strings.TrimRight(strings.ReplaceAll(systemRoot, "/", `\`), `\`))
	return strings.HasSuffix(dir, `\microsoft\windowsapps`) ||
		root != "" && (dir == root+`\system32` || dir == root+`\sysnative`)
}
