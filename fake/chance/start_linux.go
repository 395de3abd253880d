package chance

import (
	"encoding/binary"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
)

// Start starts a process of which all runs with the same seed are alike, as far as Linux and the Go runtime can make them differ:
//
//   - Linux passes each process 16 random bytes, from which the runtime derives the hash keys of maps. Start replaces them by
//     bytes that depend on the seed. Until Seed is called, the draws of a thread also depend on the order in which threads were started.
//   - A thread of the runtime (runtime.sysmon) preempts goroutines that run for 10 ms of real time, lets other goroutines run
//     during long system calls, and polls the network. Start stops this thread, which is the first that the process creates. With
//     GOMAXPROCS=1 and GODEBUG=asyncpreemptoff=1, a goroutine then runs until it blocks, however busy the machine is.
//   - A sync.Mutex chooses its next owner depending on how long goroutines have waited in real time. Start stops the clock of all
//     mutexes, if the process runs the same program as this one.
//
// The function release lets the thread run. It must be called before cmd.Wait, and may be called several times. If tracing (ptrace(2)) is
// not possible, the process starts unchanged. If the thread runs, release is nil.
func Start(cmd *exec.Cmd, seed uint64) (release func(), err error) {
	held, released := make(chan int), make(chan struct{})
	go func() {
		runtime.LockOSThread() // a process is traced by the thread that has started it
		defer runtime.UnlockOSThread()
		plain := *cmd
		cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
		if cmd.Start() != nil {
			*cmd = plain
			held <- notStarted
			return
		}
		thread := prepare(cmd, seed)
		held <- thread
		if thread == 0 {
			return
		}
		<-released
		if syscall.PtraceDetach(thread) != nil { // the process ends
			_, _ = syscall.Wait4(thread, nil, syscall.WALL, nil)
		}
	}()
	switch <-held {
	case notStarted:
		return nil, cmd.Start()
	case 0:
		return nil, nil
	}
	return sync.OnceFunc(func() { close(released) }), nil
}

// notStarted is no thread's id. It means that a traced process cannot be started here.
const notStarted = -1

// prepare changes a traced process that has just started, and lets it run until it creates its first thread. It returns the id of that
// thread, which has not begun to run, and does not trace the process any longer. If the process ends before, prepare returns 0, and
// cmd.Wait returns the reason.
func prepare(cmd *exec.Cmd, seed uint64) (held int) {
	pid := cmd.Process.Pid
	if !isStopped(pid) {
		return 0
	}
	exchange(pid, seed)
	if own, err := os.Executable(); err == nil && cmd.Path == own {
		stopMutexClock(pid)
	}
	if syscall.PtraceSetOptions(pid, syscall.PTRACE_O_TRACECLONE) == nil {
		held = firstThread(pid)
	}
	_ = syscall.PtraceDetach(pid) // if it fails, the process has been killed
	return held
}

// firstThread lets a traced process run until it creates a thread, and returns the id of the thread after that has stopped.
func firstThread(pid int) int {
	for signal := 0; ; {
		if syscall.PtraceCont(pid, signal) != nil {
			return 0
		}
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil || !status.Stopped() {
			return 0
		}
		if status.TrapCause() == syscall.PTRACE_EVENT_CLONE {
			break
		}
		if signal = int(status.StopSignal()); signal == int(syscall.SIGTRAP) {
			signal = 0
		}
	}
	thread, err := syscall.PtraceGetEventMsg(pid)
	if err != nil || !isStopped(int(thread)) {
		return 0
	}
	return int(thread)
}

// isStopped waits until a traced process or thread has stopped, and returns false if it has ended.
func isStopped(id int) bool {
	var status syscall.WaitStatus
	_, err := syscall.Wait4(id, &status, syscall.WALL, nil)
	return err == nil && status.Stopped()
}

// auxRandom is AT_RANDOM, the auxiliary vector's entry with the address of the 16 random bytes (getauxval(3)).
const auxRandom = 25

// exchange replaces the 16 random bytes that Linux has passed to a stopped process by bytes derived from seed. If it cannot find or
// write them, they stay as they are.
func exchange(pid int, seed uint64) {
	vector, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/auxv") // empty without /proc
	const entry = 16
	for ; len(vector) >= entry; vector = vector[entry:] {
		if binary.NativeEndian.Uint64(vector) == auxRandom {
			bytes := binary.NativeEndian.AppendUint64(nil, mix(&seed))
			bytes = binary.NativeEndian.AppendUint64(bytes, mix(&seed))
			_, _ = syscall.PtracePokeData(pid, uintptr(binary.NativeEndian.Uint64(vector[8:])), bytes) // if it fails, the bytes do not change
			return
		}
	}
}
