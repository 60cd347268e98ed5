//go:build unix

package proc

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// BenchmarkRun is to be compared with BenchmarkExec, which is os/exec alone.
func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		c, _, _ := bash(`cat >/dev/null; echo '{}'`)
		c.Stdin = strings.NewReader(`{"tool_name":"bash"}`)
		if exit, err := Run(b.Context(), &c); err != nil || exit.Code != 0 {
			b.Fatal(exit, err)
		}
	}
}

func BenchmarkExec(b *testing.B) {
	for b.Loop() {
		cmd := exec.Command("/bin/bash", "-c", `cat >/dev/null; echo '{}'`)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
		cmd.Stdin = strings.NewReader(`{"tool_name":"bash"}`)
		cmd.Stdout, cmd.Stderr = new(bytes.Buffer), new(bytes.Buffer)
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
	}
}
