package explore

import (
	"os/exec"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/matryer/is"
)

// Three busy processes share a processor, and each of them waits for it for two thirds of the time.
func TestQueued(t *testing.T) {
	is := is.New(t)
	var pids []int
	for range 3 {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
		is.NoErr(cmd.Start())
		t.Cleanup(func() { _ = cmd.Wait() })
		first := uint64(1) // the set of processor 0
		_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, uintptr(cmd.Process.Pid), unsafe.Sizeof(first), uintptr(unsafe.Pointer(&first)))
		if errno != 0 {
			t.Skip("no process may be bound to processor 0: ", errno)
		}
		pids = append(pids, cmd.Process.Pid)
	}
	before, began := queued(pids[0]), time.Now()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for queued(pids[0])-before < 150*time.Millisecond {
		if <-tick.C; time.Since(began) > 20*time.Second {
			t.Fatalf("it has waited for %v", queued(pids[0])-before)
		}
	}
	is.Equal(queued(-1), time.Duration(0))
}
