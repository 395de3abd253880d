package chance

import (
	"time"
	_ "unsafe" // for linkname
)

//go:linkname nanotime runtime.nanotime
func nanotime() int64

// Interrupts is after how much real time the runtime interrupts a goroutine, whether the process was running or not. Which
// one it is hangs on the machine: who wants to repeat a run looks whether so much has passed (Real) since it last did.
const Interrupts = 10 * time.Millisecond

// Real returns a real time that only grows, in testing/synctest bubbles, too.
func Real() time.Duration { return time.Duration(nanotime()) }
