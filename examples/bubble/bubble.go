// Package bubble prepares a test binary for client-go in testing/synctest bubbles.
//
// In a bubble, time is virtual: it begins on 1 January 2000 and jumps ahead whenever all goroutines are blocked, so that a
// controller that waits for days can be tested in milliseconds. Two parts of a Kubernetes client do not support that, and [Ready]
// fixes them.
package bubble

import (
	"os"
	"os/signal"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// Ready removes the rate limiter of k8s.io/apimachinery's error handlers, and starts the runtime's signal handling outside of any
// bubble. Call it once, in TestMain, before any test:
//
//	func TestMain(m *testing.M) {
//		bubble.Ready()
//		os.Exit(m.Run())
//	}
//
// The limiter separates errors by at least a millisecond. For the time of the last error it initially uses the real time at which
// the program started. A bubble begins about 26.9 years earlier, so the first error that a reflector or work queue reports there
// would sleep until the bubble's clock has caught up. In real time that is an instant, but for 26.9 years of virtual time no list
// would be repeated and no key retried.
//
// Commands of kubectl wait for signals. The first call to signal.Notify starts a goroutine of the runtime that ends only with the
// program, which is not allowed in a bubble.
func Ready() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	signal.Stop(c)
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] // the first handler, which logs the error, is kept
}
