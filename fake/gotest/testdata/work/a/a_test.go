package a

import (
	"os/exec"
	"testing"
)

func TestWait(t *testing.T) { Wait(true) }

// TestProgram starts etcd, which is a goroutine of this process.
func TestProgram(t *testing.T) {
	if out, err := exec.Command("/nowhere/etcd", "--version").CombinedOutput(); err != nil {
		t.Error(string(out), err)
	}
}
