package hooks

import (
	"fmt"
	"strings"
)

// The functions of this file take the operating system as an argument, so that
// every rule can be tested on every system.

// contractLine returns the interpreter of a command line of the hook data
// contract, and the arguments behind it (CMD-1). No profile is read: it would
// print into the protocol.
func contractLine(line, _ string) (interpreter string, args []string) {
	// Behind --, a line that begins with a dash is not read as options, which
	// would make bash exit with 2: a block.
	return "bash", []string{"--noprofile", "--norc", "-c", "--", line}
}

// vscodeLine returns the interpreter of a command line of VSCode, and the
// arguments behind it: bash, on Windows PowerShell.
func vscodeLine(line, goos string) (interpreter string, args []string) {
	if goos != "windows" {
		return contractLine(line, goos)
	}
	return "powershell", []string{"-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-Command", line + powershellExit}
}

// powershellExit hands the exit code of a program on: PowerShell itself would
// make 1 of each, and so of a 2 that blocks.
const powershellExit = "\n$hookOk = $?; if (-not $hookOk) { if ($LASTEXITCODE) { exit $LASTEXITCODE }; exit 1 }"

// interpreter finds an interpreter in the sandbox.
func interpreter(sandbox Sandbox, name string) ([]string, error) {
	if finder, ok := sandbox.(Interpreters); ok {
		return finder.Interpreter(name)
	}
	switch name {
	case "bash":
		return []string{"/bin/bash"}, nil
	case "powershell":
		return []string{`C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe`}, nil
	}
	return []string{"/usr/bin/env", name}, nil
}

// homeFor returns the home folder for a Command.Dir that needs it, else "".
func homeFor(dir string, sandbox Sandbox) (string, error) {
	if !inHome(dir) {
		return "", nil
	}
	finder, ok := sandbox.(Homes)
	if !ok {
		return "", fmt.Errorf("the folder %q begins with ~, and the sandbox does not tell where its home folder is", dir)
	}
	return finder.Home()
}

func inHome(dir string) bool {
	return dir == "~" || strings.HasPrefix(dir, "~/") || strings.HasPrefix(dir, `~\`)
}

// folderOf returns the working folder of a hook: ~ is home, a relative folder
// starts from the workspace, none is the workspace. Empty is the sandbox's own.
func folderOf(dir, workspace, home, goos string) string {
	separator := "/"
	if goos == "windows" {
		separator = `\`
	}
	switch {
	case inHome(dir):
		if rest := strings.TrimLeft(dir[1:], `/\`); rest != "" {
			return strings.TrimRight(home, `/\`) + separator + rest
		}
		return home
	case dir == "" || dir == ".":
		return workspace
	case isAbsolute(dir, goos) || workspace == "":
		return dir
	}
	return strings.TrimRight(workspace, separator+"/") + separator + dir
}
