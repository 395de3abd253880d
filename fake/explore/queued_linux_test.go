package explore

import (
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/matryer/is"
)

// processors is a set of processors, a bit for each.
type processors [16]uint64

// affinity calls sched_getaffinity or sched_setaffinity.
func affinity(t *testing.T, call uintptr, pid int, set *processors) {
	t.Helper()
	if _, _, errno := syscall.RawSyscall(call, uintptr(pid), unsafe.Sizeof(*set), uintptr(unsafe.Pointer(set))); errno != 0 {
		t.Fatal(errno)
	}
}

// one returns a processor of the set.
func (p processors) one() (first processors) {
	i := slices.IndexFunc(p[:], func(word uint64) bool { return word != 0 })
	first[i] = p[i] & -p[i]
	return first
}

// Three busy processes share a processor, and each of them waits for it for two thirds of the time.
func TestQueued(t *testing.T) {
	is := is.New(t)
	var mine processors
	affinity(t, syscall.SYS_SCHED_GETAFFINITY, 0, &mine)
	shared := mine.one()
	var pids []int
	for range 3 {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
		is.NoErr(cmd.Start())
		t.Cleanup(func() { _ = cmd.Wait() })
		affinity(t, syscall.SYS_SCHED_SETAFFINITY, cmd.Process.Pid, &shared)
		pids = append(pids, cmd.Process.Pid)
	}
	before, began := queued(pids[0]), time.Now()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for queued(pids[0])-before < 50*time.Millisecond {
		if <-tick.C; time.Since(began) > 20*time.Second {
			t.Fatalf("it has waited for %v", queued(pids[0])-before)
		}
	}
	is.Equal(queued(-1), time.Duration(0))
}
