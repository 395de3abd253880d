package apiserver

import (
	"fmt"
	"runtime/debug"
)

// Panic is the error of a request whose handler panicked. The client gets no response: a real server would close the connection.
type Panic struct {
	Request string // method and path
	Value   any    // result of recover
	Stack   []byte // of the goroutine that panicked
}

// Error implements error. The message does not contain the stack.
func (p *Panic) Error() string {
	return fmt.Sprintf("the server panicked while it served %s: %v", p.Request, p.Value)
}

// Start calls Do with the lock held. If a handler panics, Start releases the lock and returns a *Panic. It does not call done after
// the panic, but done may have been called before.
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
