package chance

import (
	"math/bits"
	"testing"

	"github.com/matryer/is"
)

// Behind each of the places the lowest ten bits of what cheaprand draws are not zero for as long as is said.
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
