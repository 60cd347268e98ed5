//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package proc

import (
	"os"
	"syscall"
)

// group is a process and the children that did not leave its process group.
type group struct {
	watch watch
	pid   int // of the leader, which is also the group's id
}

// newGroup prepares what is needed to watch a process.
func newGroup() (*group, error) {
	w, err := newWatch()
	return &group{watch: w}, err
}

// attributes put the leader into a group of its own, and where there is a
// terminal into a session of its own. A mere group would keep the terminal, and
// a hook that reads /dev/tty would be stopped by the kernel until its deadline;
// without a terminal the read fails at once.
//
// Not always a session, because Linux schedules every session as a group of
// tasks (autogroup): on a busy machine a process that is alone in a new one
// waits for its turn two to three times as long.
//
// A child that calls setsid itself, or that a shell starts under "set -m", has
// another group and escapes kill.
func (g *group) attributes() *syscall.SysProcAttr {
	if hasTerminal() {
		return &syscall.SysProcAttr{Setsid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true}
}

// hasTerminal tells whether this process has a controlling terminal, which a
// child would inherit. When in doubt, as without a free descriptor, it has.
func hasTerminal() bool {
	fd, err := syscall.Open("/dev/tty", syscall.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	if err == nil {
		_ = syscall.Close(fd)
	}
	return err != syscall.ENXIO && err != syscall.ENOENT
}

// adopt takes charge of the started leader.
func (g *group) adopt(p *os.Process) error {
	g.pid = p.Pid
	return nil
}

// await returns when the leader has ended, without collecting it.
func (g *group) await() { g.watch.await(g.pid) }

// kill ends the leader and its group. It must not be called after the leader
// has been collected. The leader comes first, so that a shell never gets to
// report that a child was killed, or to go on to its next line. There is
// nothing to do about an error: ESRCH is success, macOS says EPERM when only
// zombies are left, and EPERM elsewhere means another user's processes.
func (g *group) kill() {
	_ = syscall.Kill(g.pid, syscall.SIGKILL)
	_ = syscall.Kill(-g.pid, syscall.SIGKILL)
}

func (g *group) close() { g.watch.close() }

func exitOf(state *os.ProcessState) Exit {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return Exit{Code: -1, Signal: ws.Signal().String()}
	}
	return Exit{Code: state.ExitCode()}
}
