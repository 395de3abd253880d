package explore

import (
	"testing"

	"github.com/matryer/is"
)

// TestMostFrequent checks that the run which differs does not stand for the others, even if it was the first one.
func TestMostFrequent(t *testing.T) {
	usual, same := mostFrequent([]repeated{{hash: "b", output: "odd"}, {hash: "a", output: "first"}, {hash: "a", output: "second"}, {hash: "c"}})
	is := is.New(t)
	is.Equal(usual.output, "first")
	is.Equal(same, 2)
}
