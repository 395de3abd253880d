package engine

import (
	"fmt"
	"testing"

	"github.com/matryer/is"
)

// TestPrepare checks that an undo continues a run that was prepared, and that the result is the same as that of a replay. A watch is open,
// so there are no checkpoints.
func TestPrepare(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	p.must("boot")
	is.Equal(p.must("prepare")["more"], false) // nothing to undo
	p.do("watch secrets")
	var hashes []string
	for i := range 300 {
		p.do(fmt.Sprintf("create configmap c%d", i))
		hashes = append(hashes, p.hash())
	}
	calls := 1
	for ; p.must("prepare")["more"] == true; calls++ {
	}
	is.True(calls > 3)              // in slices
	is.Equal(p.e.spare.done(), 300) // everything but the last operation
	is.Equal(p.hash(), hashes[299]) // nothing has changed
	prepared := p.e.spare           //
	p.must("undo")                  //
	is.True(p.e.run == prepared)    // no replay
	is.Equal(p.hash(), hashes[298]) //
	p.do("create configmap other")  // in the place of the undone operation
	for p.must("prepare")["more"] == true {
	}
	p.must("seek", "n", 101) // further back than the spare run
	is.Equal(p.hash(), hashes[99])
	p.do("tick 1h", "lag 1")
	is.True(p.e.spare == nil)
	p.must("fork", "n", 51)
	is.Equal(p.hash(), hashes[49])
}
