// Package bubble readies a test binary for client-go in testing/synctest bubbles.
//
// In a bubble, time is virtual: it begins on 1 January 2000 and jumps ahead whenever every goroutine waits. A controller
// that waits for days is tested in milliseconds. One piece of client-go does not fit in there, and [Ready] takes it out.
package bubble

import utilruntime "k8s.io/apimachinery/pkg/util/runtime"

// Ready removes the rate limiter of k8s.io/apimachinery's error handlers. Call it once, in TestMain, before any test:
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
func Ready() {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] // the first one logs the error and stays
}
