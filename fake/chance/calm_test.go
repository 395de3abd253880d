package chance

import (
	"math/bits"
	"testing"

	"github.com/matryer/is"
)

// After each of the places, the lowest ten bits of cheaprand's draws are not zero for calmLength draws.
func TestCalm(t *testing.T) {
	is := is.New(t)
	for _, state := range calmPlaces {
		for range calmLength {
			state += cheapStep
			high, low := bits.Mul64(state, state^0xe7037ed1a0b428db)
			is.True((high^low)&1023 != 0)
		}
	}
	places := map[uint64]bool{}
	for seed := range uint64(1000) {
		places[calmState(seed)] = true
	}
	is.True(len(places) > 990) // seeds differ
}
