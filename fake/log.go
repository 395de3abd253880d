package fake

import (
	"log"
	"net/http"
	"time"
)

// patience is the real time that a request may wait for a manual clock before watchdog writes to the test's log.
const patience = 10 * time.Second

// log writes to the log of the server's test, or with package log if there is no test.
func (s *Server) log(format string, args ...any) {
	if s.test != nil {
		s.test.Logf(format, args...)
		return
	}
	log.Printf(format, args...)
}

// watchdog notes in the test's log that a request waits for simulated time.
func (s *Server) watchdog(r *http.Request) (answered func()) {
	if s.test == nil {
		return func() {}
	}
	timer := time.AfterFunc(patience, func() {
		s.test.Logf("kubesim: %s %s has been waiting for simulated time for %v. The clock is manual: call srv.Clock.Advance from "+
			"another goroutine, or use fake.Options{Clock: clock.System{}}", r.Method, r.URL, patience)
	})
	return func() { timer.Stop() }
}
