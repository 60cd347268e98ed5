//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly && !windows

package proc

import (
	"errors"
	"os"
	"runtime"
	"syscall"
)

// group is missing on this system: without a way to end a process with its
// children, no process is started.
type group struct{}

func newGroup() (*group, error) {
	return nil, errors.New("processes are not supported on " + runtime.GOOS)
}

func (*group) attributes() *syscall.SysProcAttr { return nil }
func (*group) adopt(*os.Process) error          { return errors.ErrUnsupported }
func (*group) await()                           {}
func (*group) kill()                            {}
func (*group) close()                           {}

func exitOf(*os.ProcessState) Exit { return Exit{Code: -1} }
