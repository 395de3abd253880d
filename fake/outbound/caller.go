package outbound

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"
)

// functions counts the goroutines in which webhooks are asked. One may go on after its request has ended; Close waits for it.
type functions struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n becomes 0. If nil, no call of wait is in progress.
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

// wait waits until no function runs, or for as long as patience, and returns how many still run.
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

// Caller calls webhooks, each call in its own goroutine.
type Caller struct {
	trial     Trial // or nil
	logf      func(format string, args ...any)
	functions functions
}

// Trial is a run of a test that distinguishes requests of the test itself from others.
type Trial interface {
	IsOwn() bool
	Adopt() (done func())
}

// Wait waits until no webhook is being called, or for as long as patience, and returns how many still are.
func (c *Caller) Wait(patience time.Duration) int { return c.functions.wait(patience) }

// Run calls a function that asks a webhook, or is one, in a goroutine of its own. It returns when the function has returned or ctx
// has ended, with the cause of that. A panic of the function becomes one of the caller. Requests that the function sends count as
// sent by the caller's goroutine.
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
				c.logf("kubesim: a webhook panicked: %v\n%s", value, debug.Stack()) // the caller has another stack
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

// errExited is the error of a webhook whose function ends its goroutine.
var errExited = errors.New("the function that Admit registered called runtime.Goexit, as t.Fatal does: it runs in its own goroutine, " +
	"where only t.Error may be called")
