package chance

import (
	"encoding/binary"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
)

// auxRandom is AT_RANDOM: the auxiliary vector's entry that says where the 16 bytes are (getauxval(3)).
const auxRandom = 25

// Start starts a process whose runtime has the same keys for the hashes of maps as any other process that was started with the seed. Linux
// passes each process 16 random bytes, from which the Go runtime derives the keys, and Start replaces them before the program runs. Until
// Seed is called, the draws of a thread also depend on the order in which threads were started. If the bytes cannot be replaced, the
// process starts with its own.
func Start(cmd *exec.Cmd, seed uint64) error {
	runtime.LockOSThread() // the tracer of a process is a thread
	defer runtime.UnlockOSThread()
	plain := *cmd
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		*cmd = plain
		return cmd.Start()
	}
	pid := cmd.Process.Pid
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err == nil && status.Stopped() {
		exchange(pid, seed)
		return syscall.PtraceDetach(pid)
	}
	return nil // the process has ended, and Wait returns the reason
}

// exchange replaces the bytes, if it finds them.
func exchange(pid int, seed uint64) {
	vector, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/auxv") // empty without /proc
	const entry = 16
	for ; len(vector) >= entry; vector = vector[entry:] {
		if binary.NativeEndian.Uint64(vector) == auxRandom {
			bytes := binary.NativeEndian.AppendUint64(nil, mix(&seed))
			bytes = binary.NativeEndian.AppendUint64(bytes, mix(&seed))
			_, _ = syscall.PtracePokeData(pid, uintptr(binary.NativeEndian.Uint64(vector[8:])), bytes) // else they stay
			return
		}
	}
}
