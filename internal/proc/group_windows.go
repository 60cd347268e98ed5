package proc

import (
	"os"
	"syscall"
)

const (
	createNoWindow   = 0x08000000
	processTerminate = 0x0001
	processSetQuota  = 0x0100

	// killedCode is the exit code that a job's end gives its processes, by
	// which exitOf knows them. Windows has no signals; the value only has to
	// be one that programs do not use.
	killedCode = 0xE0484F4B
)

// group is a process and its children, held together by a job object.
//
// The leader joins the job right after its start, because os/exec cannot start
// it inside. A child that it starts in these microseconds stays outside and
// escapes kill.
type group struct {
	process syscall.Handle // keeps the process id from being reused
	job     syscall.Handle // zero: no job, kill ends the leader alone
}

func newGroup() (*group, error) { return &group{}, nil }

// attributes keep the host's Ctrl-C away from the hook, and a console window
// from popping up under a host that has none.
func (g *group) attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | createNoWindow,
	}
}

// adopt takes charge of the started leader. Without a job (Windows refuses a
// nested one in some old sandboxes) the leader runs all the same.
func (g *group) adopt(p *os.Process) error {
	h, err := syscall.OpenProcess(syscall.SYNCHRONIZE|processTerminate|processSetQuota, false, uint32(p.Pid))
	if err != nil {
		return os.NewSyscallError("OpenProcess", err)
	}
	g.process = h
	job, _, _ := kernel("CreateJobObjectW").Call(0, 0)
	if job == 0 {
		return nil
	}
	if ok, _, _ := kernel("AssignProcessToJobObject").Call(job, uintptr(h)); ok == 0 {
		_ = syscall.CloseHandle(syscall.Handle(job))
		return nil
	}
	g.job = syscall.Handle(job)
	return nil
}

// await returns when the leader has ended.
func (g *group) await() { _, _ = syscall.WaitForSingleObject(g.process, syscall.INFINITE) }

// kill ends all processes of the job.
func (g *group) kill() {
	if g.job != 0 {
		_, _, _ = kernel("TerminateJobObject").Call(uintptr(g.job), killedCode)
	}
	_ = syscall.TerminateProcess(g.process, killedCode)
}

func (g *group) close() {
	for _, h := range []*syscall.Handle{&g.process, &g.job} {
		if *h != 0 {
			_ = syscall.CloseHandle(*h)
			*h = 0
		}
	}
}

func exitOf(state *os.ProcessState) Exit {
	if uint32(state.ExitCode()) == killedCode {
		return Exit{Code: -1, Signal: "killed"}
	}
	return Exit{Code: state.ExitCode()}
}

// kernel returns a function of kernel32, which every process has loaded.
func kernel(name string) *syscall.LazyProc {
	return syscall.NewLazyDLL("kernel32.dll").NewProc(name)
}
