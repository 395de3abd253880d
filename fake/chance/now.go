package chance

import (
	"time"
	_ "unsafe" // for linkname
)

//go:linkname nanotime runtime.nanotime
func nanotime() int64

// Interrupts is the real time after which the runtime preempts a goroutine, even if the process did not run during that time.
// Preemption depends on the machine, so code that repeats a run has to check whether this much time (Real) has passed.
const Interrupts = 10 * time.Millisecond

// Real returns a monotonic real time, also in testing/synctest bubbles.
func Real() time.Duration { return time.Duration(nanotime()) }
