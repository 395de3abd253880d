package main

import (
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
