package proc

import (
	"os"
	"syscall"
)

const setPipeSize = 1031 // F_SETPIPE_SZ of <linux/fcntl.h>

// widen makes a pipe hold widePipe bytes. Where that is refused, as it is to a
// user who has very many pipes, it stays as it was.
func widen(pipe *os.File) {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	// Not by pipe.Fd, which would make the pipe block.
	_ = conn.Control(func(fd uintptr) {
		_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, setPipeSize, widePipe)
	})
}
