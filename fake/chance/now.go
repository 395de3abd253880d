package chance

import (
	"time"
	_ "unsafe" // for linkname
)

//go:linkname nanotime runtime.nanotime
func nanotime() int64

// Interrupts is the real time after which the runtime preempts a goroutine, even if the process did not run meanwhile. Preemption depends
// on the machine, so code that repeats a run has to check whether this much time (Real) has passed.
const Interrupts = 10 * time.Millisecond

// Real returns a real time that only grows, in testing/synctest bubbles, too.
func Real() time.Duration { return time.Duration(nanotime()) }
