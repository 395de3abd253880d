//go:build !linux

package chance

import "time"

// Yield returns false, because the thread that preempts goroutines is not known on this system.
func Yield() bool { return false }

// Interrupter returns Real, because the thread that preempts goroutines is not known on this system.
func Interrupter() time.Duration { return Real() }
