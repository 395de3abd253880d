package chance

import (
	"encoding/binary"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
)

// auxRandom is AT_RANDOM, the auxiliary vector's entry with the address of the 16 random bytes (getauxval(3)).
const auxRandom = 25

// Start starts a process whose runtime has the same hash keys for maps as any other process started with the seed. Linux passes
// each process 16 random bytes, from which the Go runtime derives the keys. Start replaces them before the program runs. If that is
// not possible, the process starts with its own bytes. Until Seed is called, the draws of a thread also depend on the order in
// which threads were started.
func Start(cmd *exec.Cmd, seed uint64) error {
	runtime.LockOSThread() // a process is traced by a thread
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
