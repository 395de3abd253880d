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

// Start starts a process whose runtime makes the same keys for the hashes of maps as that of any other process with the seed:
// Linux hands each process 16 random bytes, from which the runtime of Go makes them, and these are exchanged before the program
// runs. What a thread draws later hangs on which thread began which other one, until Seed is called. Where exchanging them is not
// allowed, the process is started as ever.
func Start(cmd *exec.Cmd, seed uint64) error {
	runtime.LockOSThread() // who traces a process is a thread
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
	return nil // it has ended, and whoever waits for it will see why
}

// exchange exchanges the bytes. It leaves those that it does not find.
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
