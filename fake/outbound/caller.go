package outbound

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"
)

// functions counts the goroutines that call webhooks. One of them may continue after its request has ended; Close waits for it.
type functions struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n becomes 0; nil if wait is not running
}

func (f *functions) begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
}

func (f *functions) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n--
	if f.n == 0 && f.idle != nil {
		close(f.idle)
		f.idle = nil
	}
}

// wait waits until no function is running, at most for patience, and returns the number of functions that are still running.
func (f *functions) wait(patience time.Duration) int {
	f.mu.Lock()
	if f.n == 0 {
		f.mu.Unlock()
		return 0
	}
	if f.idle == nil {
		f.idle = make(chan struct{})
	}
	idle := f.idle
	f.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-idle:
		return 0
	case <-timer.C:
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

// Caller calls webhooks, each in a separate goroutine.
type Caller struct {
	trial     Trial // may be nil
	logf      func(format string, args ...any)
	functions functions
}

// Trial represents the run of a test. It distinguishes the test's own requests from all others.
type Trial interface {
	IsOwn() bool
	Adopt() (done func())
}

// Wait waits until no webhook is being called, at most for patience, and returns the number of calls that are still running.
func (c *Caller) Wait(patience time.Duration) int { return c.functions.wait(patience) }

// Run calls, in a separate goroutine, a function that is or calls a webhook. It returns when the function returns, or with the
// cause of ctx when ctx is done. A panic of the function is propagated to the caller. Requests that the function sends are
// attributed to the caller's goroutine.
func (c *Caller) Run(ctx context.Context, f func()) error {
	own := c.trial != nil && c.trial.IsOwn()
	ended := make(chan any, 1) // the value of a panic, errExited, or nil
	c.functions.begin()
	go func() {
		defer c.functions.end()
		if own {
			defer c.trial.Adopt()()
		}
		var result any = errExited
		defer func() {
			if value := recover(); value != nil {
				c.logf("kubesim: a webhook panicked: %v\n%s", value, debug.Stack()) // the caller's stack would not show the cause
				result = value
			}
			ended <- result
		}()
		f()
		result = nil
	}()
	select {
	case result := <-ended:
		if err, ok := result.(error); ok && errors.Is(err, errExited) {
			return err
		}
		if result != nil {
			panic(result)
		}
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// errExited is the error of a registered function that ends its goroutine.
var errExited = errors.New("the function that Admit registered called runtime.Goexit, as t.Fatal does: it runs in its own goroutine, " +
	"where only t.Error may be called")
