// Package bubble readies a test binary for client-go in testing/synctest bubbles.
//
// In a bubble, time is virtual: it begins on 1 January 2000 and jumps ahead whenever every goroutine waits. A controller
// that waits for days is tested in milliseconds. Two things do not fit in there, and [Ready] sees to them.
package bubble

import (
	"os"
	"os/signal"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// Ready removes the rate limiter of k8s.io/apimachinery's error handlers, and lets the runtime wait for signals outside of
// any bubble. Call it once, in TestMain, before any test:
//
//	func TestMain(m *testing.M) {
//		bubble.Ready()
//		os.Exit(m.Run())
//	}
//
// The limiter keeps two errors at least a millisecond apart. It remembers the real time at which the program started
// as that of the last error. A bubble begins some 26.9 years before, so the first error that a reflector or a work
// queue reports there would sleep until the bubble's clock has caught up: in real time an instant, in virtual time
// 26.9 years in which no list is repeated and no key is tried again.
//
// Commands of kubectl ask for signals. The first request starts a goroutine of the runtime that ends only with the program, which is not
// allowed in a bubble.
func Ready() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	signal.Stop(c)
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] // the first one logs the error and stays
}
