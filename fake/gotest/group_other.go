//go:build !unix

package gotest

import (
	"os"
	"os/exec"
	"syscall"
)

func setGroup(*exec.Cmd) {}

func signalGroup(p *os.Process, s syscall.Signal) error { return p.Signal(s) }
