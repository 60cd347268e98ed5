//go:build unix

package proc

import (
	"io"
	"os"
	"syscall"
	"time"
)

// waitingMost bounds what copyWaiting copies: as much as a pipe can be made to
// hold, so that a child that still writes cannot keep it busy.
const waitingMost = 1 << 20

// copyWaiting copies what waits in a pipe, without waiting for more. It takes
// the raw calls because a file whose deadline has passed is not even tried.
func copyWaiting(dst io.Writer, r *os.File) {
	if r.SetReadDeadline(time.Time{}) != nil {
		return
	}
	conn, err := r.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, 32<<10)
	for copied := 0; copied < waitingMost; {
		n, errno := 0, error(syscall.EINTR)
		err := conn.Read(func(fd uintptr) bool {
			for errno == syscall.EINTR {
				n, errno = syscall.Read(int(fd), buf)
			}
			return true // also when nothing is there: do not wait
		})
		if err != nil || n <= 0 {
			return
		}
		if _, err := dst.Write(buf[:n]); err != nil {
			return
		}
		copied += n
	}
}
