package gotest

import "syscall"

// endWithParent makes the kernel kill a process when the thread ends that has started it. A process group of its own does not get the
// signals that end this process's group, such as SIGHUP from a terminal that is closed, or SIGKILL.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// interruptWithParent makes the kernel send SIGTERM to this process when its parent ends.
func interruptWithParent() {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0) // without it, tests may outlive go test
}
