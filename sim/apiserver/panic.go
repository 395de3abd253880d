package apiserver

import (
	"fmt"
	"runtime/debug"
)

// Panic is the error of a request whose handler panicked. The client gets no answer, as that of a real server whose handler panics
// loses its connection.
type Panic struct {
	Request string // method and path
	Value   any    // what recover returned
	Stack   []byte // of the goroutine that panicked
}

// Error implements error. The text is without the stack.
func (p *Panic) Error() string {
	return fmt.Sprintf("the server panicked while it served %s: %v", p.Request, p.Value)
}

// Start is Do under the lock. If a handler panics, Start gives the lock back and returns a *Panic: done may not have been called, and
// is not called later.
func (s *Server) Start(q *Request, done func(*Answer)) (err error) {
	s.Lock.Lock()
	defer s.Lock.Unlock()
	defer func() {
		if value := recover(); value != nil {
			err = &Panic{q.Method + " " + q.Path, value, debug.Stack()}
		}
	}()
	s.Do(q, done)
	return nil
}
