package gotest

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// interruptGrace is the real time after an interrupt for which a test binary may clean up. Then it is killed.
const interruptGrace = 30 * time.Second

// endGoTest is how long go test may take to end after that.
const endGoTest = 10 * time.Second

// runGoTest runs go test. When ctx ends, and at each signal to this process after that, go test and its children get SIGINT, as from a
// terminal. They have a process group of their own: otherwise SIGTERM to this process's group would end go test before it has printed
// its output. ctx is the context of cmd.
func runGoTest(ctx context.Context, cmd *exec.Cmd) error {
	again := make(chan os.Signal, 8)
	defer close(again)
	defer signal.Stop(again)
	setGroup(cmd)
	cmd.Cancel = func() error {
		signal.Notify(again, syscall.SIGINT, syscall.SIGTERM)
		go func() {
			for range again {
				_ = signalGroup(cmd.Process, syscall.SIGINT) // it may have ended
			}
		}()
		return signalGroup(cmd.Process, syscall.SIGINT)
	}
	cmd.WaitDelay = interruptGrace + endGoTest
	runtime.LockOSThread() // the kernel ends go test if this thread ends
	defer runtime.UnlockOSThread()
	err := cmd.Run()
	if ctx.Err() != nil {
		_ = signalGroup(cmd.Process, syscall.SIGKILL) // usually none is left
	}
	return err
}

// forwarder runs programs and forwards the signals that this process gets to them.
type forwarder struct {
	signals chan os.Signal
	grace   time.Duration // interruptGrace
}

// newForwarder returns a forwarder. From now on, no signal is lost, also between two programs.
func newForwarder() *forwarder {
	f := &forwarder{signals: make(chan os.Signal, 8), grace: interruptGrace}
	signal.Notify(f.signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT)
	return f
}

// close ends the forwarding.
func (f *forwarder) close() { signal.Stop(f.signals) }

// run runs a program in a process group of its own, so that each signal from a terminal reaches it once, and forwards signals to it.
// If limit is not 0, the program gets SIGQUIT after that time. interrupted reports whether SIGINT or SIGTERM was forwarded. The
// program and its children are killed if they have not ended some time after that.
func (f *forwarder) run(cmd *exec.Cmd, limit time.Duration) (interrupted bool, err error) {
	setGroup(cmd)
	runtime.LockOSThread() // the kernel ends the program if this thread ends
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return false, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if limit > 0 {
		defer time.AfterFunc(limit, func() { f.signals <- syscall.SIGQUIT }).Stop()
	}
	var kill <-chan time.Time
	for {
		select {
		case s := <-f.signals:
			if s == syscall.SIGQUIT {
				_ = cmd.Process.Signal(s) // it may have ended
				continue
			}
			_ = signalGroup(cmd.Process, s.(syscall.Signal))
			if !interrupted {
				interrupted, kill = true, time.After(f.grace)
			}
		case <-kill:
			_ = signalGroup(cmd.Process, syscall.SIGKILL)
		case err := <-ended:
			return interrupted, err
		}
	}
}
