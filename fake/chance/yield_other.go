//go:build !linux

package chance

import "time"

// Yield reports false: which thread interrupts goroutines is not known here.
func Yield() bool { return false }

// Interrupter is a real time: how long the thread that interrupts goroutines has run is not known here.
func Interrupter() time.Duration { return Real() }
