package chance_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake/chance"
)

// The tests start their own binary. Its process runs one of children, prints a word, and exits.
const childVariable = "KUBESIM_TEST_CHILD"

var children = map[string]func(){"order": order, "spin": spin, "mutex": mutex}

func init() {
	if child := children[os.Getenv(childVariable)]; child != nil {
		child()
		os.Exit(0)
	}
}

// started starts a child, and returns the word that it prints. The function end releases the child and waits for it.
func started(is *is.I, child string, seed uint64) (word string, end func()) {
	program, err := os.Executable()
	is.NoErr(err)
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), childVariable+"="+child, "GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1")
	out, err := cmd.StdoutPipe()
	is.NoErr(err)
	release, err := chance.Start(cmd, seed)
	is.NoErr(err)
	_, err = fmt.Fscan(out, &word)
	is.NoErr(err)
	return word, func() {
		release()
		release()
		is.NoErr(cmd.Wait())
	}
}

// order prints the iteration order of a large map. It depends on the keys of the map's hash, which are generated when the process
// starts, and on the draws after Seed.
func order() {
	chance.Seed(1)
	large := map[string]bool{}
	for i := range 1000 {
		large[strconv.Itoa(i)] = true
	}
	var names []string
	for name := range large {
		names = append(names, name)
	}
	fmt.Println(strings.Join(names, ","))
}

// The iteration order of maps in a process depends only on the seed with which it was started.
func TestStart(t *testing.T) {
	is := is.New(t)
	drawn := func(seed uint64) string {
		order, end := started(is, "order", seed)
		end()
		return order
	}
	first := drawn(1)
	is.Equal(drawn(1), first)
	is.True(drawn(2) != first)
}

// spin runs for five times as long as the runtime lets a goroutine run, while another goroutine is ready, and prints whether that one
// ran. Then it runs until it is preempted.
func spin() {
	var ran atomic.Bool
	go ran.Store(true)
	busy(5 * chance.Interrupts)
	fmt.Println(ran.Load())
	for !ran.Load() {
		call(10)
	}
}

// busy runs for a time.
func busy(d time.Duration) {
	for began := chance.Real(); chance.Real()-began < d; {
		call(10)
	}
}

// call calls itself n times. At each call the runtime may preempt the goroutine.
func call(n int) {
	if n > 0 {
		call(n - 1)
	}
}

// In a process that was started with Start, no goroutine is preempted until the process is released.
func TestNoPreemption(t *testing.T) {
	is := is.New(t)
	ran, end := started(is, "spin", 1)
	is.Equal(ran, "false")
	end()
}

// mutex prints whether a mutex can be locked directly after it was unlocked, although a goroutine has waited for it for a long time.
func mutex() {
	var m sync.Mutex
	m.Lock()
	go m.Lock()
	runtime.Gosched() // the goroutine begins to wait
	busy(5 * time.Millisecond)
	m.Unlock()
	m.Lock()
	runtime.Gosched() // the goroutine notices that it has waited in vain
	m.Unlock()
	fmt.Println(m.TryLock())
}

// In a process that was started with Start, a mutex does not depend on how long goroutines have waited for it in real time.
func TestMutex(t *testing.T) {
	is := is.New(t)
	locked, end := started(is, "mutex", 1)
	is.Equal(locked, "true")
	end()
}
