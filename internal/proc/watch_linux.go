package proc

import "syscall"

// Values of <linux/wait.h> that the frozen package syscall lacks.
const (
	idPID   = 1 // P_PID
	wExited = 0x4
	wNoWait = 0x01000000
)

// watch sees a process end without collecting it. On Linux that needs nothing
// to be held.
type watch struct{}

func newWatch() (watch, error) { return watch{}, nil }

// await returns when the child has become a zombie, or when there is no such
// child any more. It takes the raw call because package os collects at once.
// Linux accepts the null siginfo.
func (watch) await(pid int) {
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, idPID, uintptr(pid), 0, wExited|wNoWait, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}

func (watch) close() {}
