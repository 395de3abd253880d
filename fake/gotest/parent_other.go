//go:build !linux

package gotest

func interruptWithParent() {}
