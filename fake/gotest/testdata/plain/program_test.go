package plain

import (
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// While the test waits for a program, time passes as in real time, and timers run.
func TestChild(t *testing.T) {
	var ticks atomic.Int32
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	go func() {
		for range ticker.C {
			ticks.Add(1)
		}
	}()
	start := time.Now()
	out, err := exec.Command("sh", "-c", "sleep 0.3; echo hello").Output()
	if string(out) != "hello\n" || err != nil {
		t.Error(string(out), err)
	}
	if d := time.Since(start); d < 300*time.Millisecond || d > time.Minute {
		t.Errorf("%v have passed while a program ran for 300ms", d)
	}
	if n := ticks.Load(); n < 5 {
		t.Errorf("the timer ran %d times while a program ran for 300ms", n)
	}
}

// While the test waits for a program, no timer is late.
func TestTimersDuringChild(t *testing.T) {
	cmd := exec.Command("sleep", "0.3")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	time.Sleep(10 * time.Millisecond) // now the goroutine waits
	start := time.Now()
	for range 100 {
		time.Sleep(10 * time.Microsecond)
	}
	if d := time.Since(start); d > 2*time.Millisecond {
		t.Errorf("%v have passed in 100 sleeps of 10µs", d)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Wait returns when the test process has had as much virtual time as the program has had real time. Until then the program may be
// signalled.
func TestEndedChild(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	nap := syscall.NsecToTimespec(int64(50 * time.Millisecond))
	for syscall.Nanosleep(&nap, &nap) == syscall.EINTR { // virtual time stands still, and the program ends
	}
	about(t, time.Since(start), 0)
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	time.Sleep(20 * time.Millisecond)
	select {
	case <-done:
		t.Errorf("the wait for a program that started 50ms ago has ended after %v", time.Since(start))
	default:
	}
	if err := syscall.Kill(cmd.Process.Pid, syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if d := time.Since(start); d < 50*time.Millisecond {
		t.Errorf("the wait for a program that started 50ms ago has ended after %v", d)
	}
}

// The process gets no processor for two seconds while it computes: a timer that is due after a second does not run meanwhile, whether or not
// the test waits for a program.
func TestStarved(t *testing.T) {
	for _, waits := range []bool{false, true} {
		t.Run(strconv.FormatBool(waits), func(t *testing.T) {
			cmd := exec.Command("sh", "-c", `sleep 0.2; kill -STOP "$0"; sleep 2; kill -CONT "$0"; sleep 0.5`, strconv.Itoa(os.Getpid()))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			if waits {
				go func() { done <- cmd.Wait() }()
				time.Sleep(10 * time.Millisecond) // now the goroutine waits
			}
			var late atomic.Bool
			timer := time.AfterFunc(time.Second, func() { late.Store(true) })
			compute(t, func(pause, _ time.Duration) bool { return pause > time.Second })
			// The runtime's monitor thread, and then one for the timer, need a processor, too.
			compute(t, func(_, all time.Duration) bool { return all > 200*time.Millisecond })
			if late.Load() {
				t.Error("the timer did not wait for a process without a processor")
			}
			timer.Stop()
			if !waits {
				done <- cmd.Wait()
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// compute reads the real clock until end returns true. The arguments of end are the real time since the last reading and that since the first.
// The test fails after a minute.
func compute(t *testing.T, end func(pause, all time.Duration) bool) {
	real := func() time.Duration {
		var now syscall.Timeval
		if err := syscall.Gettimeofday(&now); err != nil {
			t.Fatal(err)
		}
		return time.Duration(now.Nano())
	}
	first := real()
	for last := first; ; {
		now := real()
		if end(now-last, now-first) {
			return
		}
		if last = now; now-first > time.Minute {
			t.Fatal("not stopped within a minute")
		}
	}
}
