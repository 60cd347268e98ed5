//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package proc

import "syscall"

// watch sees a process end without collecting it. It holds a kernel queue, not
// waitid: on macOS that also returns when the process is merely stopped.
type watch struct{ queue int }

// newWatch opens the queue before anything is started, so that running out of
// descriptors is a failed start.
func newWatch() (watch, error) {
	q, err := syscall.Kqueue()
	if err != nil {
		return watch{}, err
	}
	syscall.CloseOnExec(q) // a queue is not inherited by fork; this is for form
	return watch{q}, nil
}

// await returns when the child has ended. A child that had ended before the
// call is reported as ESRCH or as an event, according to the system; both end
// the wait.
func (w watch) await(pid int) {
	var change syscall.Kevent_t
	syscall.SetKevent(&change, pid, syscall.EVFILT_PROC, syscall.EV_ADD|syscall.EV_ONESHOT)
	change.Fflags = syscall.NOTE_EXIT
	events := make([]syscall.Kevent_t, 1)
	for {
		_, err := syscall.Kevent(w.queue, []syscall.Kevent_t{change}, events, nil)
		if err != syscall.EINTR {
			return
		}
	}
}

func (w watch) close() { _ = syscall.Close(w.queue) }
