//go:build !linux

package chance

import "time"

// Yield returns false, because the thread that preempts goroutines is not known on this system.
func Yield() bool { return false }

// Interrupter is a real time: how long the thread that interrupts goroutines has run is not known here.
func Interrupter() time.Duration { return Real() }
