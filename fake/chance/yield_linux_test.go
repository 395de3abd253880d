package chance_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake/chance"
)

const yielding = "KUBESIM_TEST_YIELD"

// A child process checks that the thread is the right one: its CPU time grows while the runtime watches a goroutine, and its
// priority can be set.
func init() {
	if os.Getenv(yielding) == "" {
		return
	}
	before := chance.Interrupter()
	for began := chance.Real(); chance.Real()-began < 50*time.Millisecond; { // the runtime watches a goroutine that runs for a long time
	}
	if chance.Yield() && chance.Interrupter() > before && chance.Interrupter()-before < 50*time.Millisecond && slowThreads() == 1 {
		os.Exit(0)
	}
	os.Exit(1)
}

// slowThreads returns the number of threads with the lowest priority, after several goroutines were in system calls at the same time. If
// the process was started with that priority, it returns 1.
func slowThreads() (n int) {
	if raw, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0); err != nil || raw == 1 { // 20 - nice, getpriority(2)
		return 1
	}
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() { _ = syscall.Nanosleep(&syscall.Timespec{Nsec: int64(50 * time.Millisecond)}, nil) })
	}
	all.Wait()
	stats, _ := filepath.Glob("/proc/self/task/*/stat") // the pattern is valid
	for _, file := range stats {
		data, _ := os.ReadFile(file)
		_, rest, _ := strings.Cut(string(data), ") ")                               // the name of the program is in parentheses
		if fields := strings.Fields(rest); len(fields) > 16 && fields[16] == "19" { // nice, proc_pid_stat(5)
			n++
		}
	}
	return n
}

// The thread that preempts goroutines is found: it uses a little CPU time while a goroutine runs for a long time, and has the
// lowest priority after Yield. The threads that the runtime needs later do not have it. The test starts its own binary.
func TestYield(t *testing.T) {
	is := is.New(t)
	program, err := os.Executable()
	is.NoErr(err)
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), yielding+"=1", "GOMAXPROCS=1")
	is.NoErr(cmd.Run())
}
