package chance

import (
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// niceMost is the lowest priority with which a thread still gets time on a busy machine (sched(7)). A thread that gets no time
// could hold a lock of the runtime for a long time.
const niceMost = 19

// interrupter returns the id of the runtime's thread that preempts goroutines which run for too long (runtime.sysmon), or 0 if it is
// unknown.
var interrupter = sync.OnceValue(func() int {
	tasks, err := os.Open("/proc/self/task")
	if err != nil {
		return 0
	}
	defer tasks.Close()
	ids, err := tasks.Readdirnames(2) // in the order in which threads started: runtime.main starts with this one
	if err != nil || len(ids) != 2 || ids[0] != strconv.Itoa(os.Getpid()) {
		return 0
	}
	id, _ := strconv.Atoi(ids[1]) // 0 if the id is invalid
	return id
})

// Yield gives the thread that preempts goroutines the lowest priority. On a busy machine, the runtime then rarely preempts a
// goroutine that only seems to run for long because the process waits for a processor. Yield returns false if that is not possible.
func Yield() bool {
	thread := interrupter()
	return thread != 0 && syscall.Setpriority(syscall.PRIO_PROCESS, thread, niceMost) == nil
}

// Interrupter returns the CPU time of the thread that preempts goroutines. As long as it does not grow, no goroutine is preempted.
// If that thread is unknown, Interrupter returns Real.
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
