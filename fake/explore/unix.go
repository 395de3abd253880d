//go:build unix

package explore

import (
	"os"
	"sync"
	"syscall"
	"unsafe"
)

// hasPipes reports whether a process can be started with additional pipes.
const hasPipes = true

// The file descriptors of a worker's pipes.
const jobsFile, outcomesFile = 3, 4

// pipes returns the files for a worker's jobs and outcomes. Reads do not block a thread in a system call.
var pipes = sync.OnceValues(func() (in, out *os.File) {
	_ = syscall.SetNonblock(jobsFile, true) // otherwise a read blocks a thread
	return os.NewFile(jobsFile, "jobs"), os.NewFile(outcomesFile, "outcomes")
})

// acknowledgeCheck confirms a progress check to the parent. It uses a raw system call, because a normal one could
// switch to another goroutine.
func acknowledgeCheck() {
	line := []byte(heardLine)
	if !answering.TryLock() {
		return // another line is being written, which also shows progress
	}
	defer answering.Unlock()
	_, _, _ = syscall.RawSyscall(syscall.SYS_WRITE, outcomesFile, uintptr(unsafe.Pointer(&line[0])), uintptr(len(line))) // if this fails, the parent ends the process
}

// quit makes a process print its stacks and exit.
func quit(p *os.Process) { _ = p.Signal(syscall.SIGQUIT) } // the process may have ended
