package main

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

// collectPercent is the growth of the heap, in percent, after which the garbage collector runs. With Go's default of 100 it takes 40 %
// of the processor time while a large cluster is filled, because each collection visits the whole cluster.
const collectPercent = 200

// memoryLimit is the memory at which the garbage collector runs more often instead of letting the heap grow. The largest cluster that
// Kubernetes supports, 5,000 nodes with 150,000 pods, then takes about 4 GB.
const memoryLimit = 37 << 30 / 10 // 3.7 GiB

// setCollector makes the garbage collector run less often up to the memory limit. The variables GOGC and GOMEMLIMIT take precedence.
func setCollector() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}

// burst returns memory to the operating system after a burst of allocations, such as the creation of a large cluster. By itself
// the runtime returns only part of it: it keeps up to three times the memory that is in use.
//
//	allocated  ▁▁▂▅████████▁▁▁▁▁▁▁     bytes in each interval
//	                        ▲ free     the first quiet interval after a burst
type burst struct {
	seen  uint64 // total of allocated bytes at the last check
	freed uint64 // total of allocated bytes when memory was last returned
}

const (
	// burstInterval is the time between two checks.
	burstInterval = 10 * time.Second
	// burstBytes is the minimum number of bytes that a burst allocates, and quietBytes is the maximum of a quiet interval.
	burstBytes, quietBytes = 512 << 20, 32 << 20
)

// ends reports whether a burst has just ended. allocated is the total number of bytes allocated so far.
func (b *burst) ends(allocated uint64) bool {
	quiet := allocated-b.seen <= quietBytes
	if b.seen = allocated; !quiet || allocated-b.freed < burstBytes {
		return false
	}
	b.freed = allocated
	return true
}

// watch releases memory to the operating system after each burst, until ctx is done.
func (b *burst) watch(ctx context.Context) {
	tick := time.NewTicker(burstInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			var m runtime.MemStats
			if runtime.ReadMemStats(&m); b.ends(m.TotalAlloc) {
				debug.FreeOSMemory()
			}
		}
	}
}
