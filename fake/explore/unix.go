//go:build unix

package explore

import (
	"os"
	"sync"
	"syscall"
	"unsafe"
)

// hasPipes reports whether a process can be started with its own pipes.
const hasPipes = true

// The files of a worker.
const jobsFile, outcomesFile = 3, 4

// pipes are the files over which a worker is asked and answers. It waits for jobs without a thread that is in a system call.
var pipes = sync.OnceValues(func() (in, out *os.File) {
	_ = syscall.SetNonblock(jobsFile, true) // else it waits in a thread of its own
	return os.NewFile(jobsFile, "jobs"), os.NewFile(outcomesFile, "outcomes")
})

// acknowledgeCheck reports to the parent that this worker has processed a look. It uses a raw system call, because the scheduler could switch to
// another goroutine at a normal one.
func acknowledgeCheck() {
	line := []byte(heardLine)
	if !answering.TryLock() {
		return // in the middle of another line, which says more
	}
	defer answering.Unlock()
	_, _, _ = syscall.RawSyscall(syscall.SYS_WRITE, outcomesFile, uintptr(unsafe.Pointer(&line[0])), uintptr(len(line))) // else it ends
}

// quit makes a process print its stacks and end.
func quit(p *os.Process) { _ = p.Signal(syscall.SIGQUIT) } // it may have ended
