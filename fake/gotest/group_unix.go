//go:build unix

package gotest

import (
	"os"
	"os/exec"
	"syscall"
)

// setGroup makes a command start in a process group of its own.
func setGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
}

// signalGroup sends a signal to the process group of a process for which setGroup was called.
func signalGroup(p *os.Process, s syscall.Signal) error { return syscall.Kill(-p.Pid, s) }
