//go:build unix && !linux

package gotest

import "syscall"

func endWithParent(*syscall.SysProcAttr) {}
