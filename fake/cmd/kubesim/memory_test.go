package main

import (
	"runtime/debug"
	"testing"

	"github.com/matryer/is"
)

// Memory is returned once after each burst, and not while there is work.
func TestBurst(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var b burst
	total, ends := uint64(0), []bool(nil)
	for _, megabytes := range []uint64{100, 1, 300, 400, 2, 2, 20, 400, 200, 0, 0} {
		total += megabytes << 20
		ends = append(ends, b.ends(total))
	}
	is.Equal(ends, []bool{false, false, false, false, true, false, false, false, false, true, false})
}

// The memory is limited, unless the user has set a limit. The test is not parallel, because the limit is that of the process.
func TestMemoryLimit(t *testing.T) {
	is := is.New(t)
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	t.Setenv("GOMEMLIMIT", "8GiB")
	setCollector()
	is.Equal(debug.SetMemoryLimit(-1), before)
	t.Setenv("GOMEMLIMIT", "")
	setCollector()
	is.Equal(debug.SetMemoryLimit(-1), int64(memoryLimit))
}
