package chance

import (
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// policyIdle is SCHED_IDLE: a thread that runs while nobody else wants to (sched(7)).
const policyIdle = 5

// interrupter is the thread in which the runtime looks who has run for too long (runtime.sysmon). 0: it is not known.
var interrupter = sync.OnceValue(func() int {
	tasks, err := os.Open("/proc/self/task")
	if err != nil {
		return 0
	}
	defer tasks.Close()
	ids, err := tasks.Readdirnames(2) // in the order in which threads began: runtime.main begins with this one
	if err != nil || len(ids) != 2 || ids[0] != strconv.Itoa(os.Getpid()) {
		return 0
	}
	id, _ := strconv.Atoi(ids[1]) // 0 is none
	return id
})

// Yield lets the thread that interrupts goroutines run only while nobody else wants to: on a busy machine the runtime then
// hardly notices that a goroutine runs for long because the process waits for a processor. It reports whether that is possible.
func Yield() bool {
	thread := interrupter()
	var priority int32
	if thread == 0 {
		return false
	}
	_, _, failed := syscall.RawSyscall(syscall.SYS_SCHED_SETSCHEDULER, uintptr(thread), policyIdle, uintptr(unsafe.Pointer(&priority)))
	return failed == 0
}

// Interrupter is for how long the thread that interrupts goroutines has run. While that does not grow, none is interrupted. It is
// a real time where that thread is not known.
func Interrupter() time.Duration {
	const perThread = 1<<2 | 2 // CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED
	thread := interrupter()
	var t syscall.Timespec
	if thread == 0 {
		return Real()
	}
	if _, _, failed := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, uintptr(^thread<<3|perThread), uintptr(unsafe.Pointer(&t)), 0); failed != 0 {
		return Real()
	}
	return time.Duration(t.Nano())
}
