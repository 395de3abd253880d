package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/matryer/is"
)

// swinging are the heap sizes, in kB, of a run of three minutes.
var swinging = []int64{5150, 5525, 5275, 5341, 5507, 5176, 5259, 5205, 5261, 5196, 5362, 5327, 5555, 5314, 5288, 5278, 5168}

// with returns the sizes with an addition to each.
func with(sizes []int64, added func(round int) int64) []int64 {
	var out []int64
	for i, size := range sizes {
		out = append(out, size+added(i))
	}
	return out
}

// drifts reports whether a run with these sizes fails.
func drifts(heaps []int64) bool { return math.Abs(drift(heaps)) > heapDrift }

// A fluctuating heap is not a leak, even if it is low in the first round or high in the last one. A growing heap is.
func TestDrift(t *testing.T) {
	t.Parallel()
	flat, last := make([]int64, len(swinging)), len(swinging)-1
	for _, c := range []struct {
		what  string
		heaps []int64
		want  bool
	}{
		{"swings", swinging, false},
		{"swings, and is high in the last round", with(swinging, func(i int) int64 { return int64(i/last) * 600 }), false},
		{"swings, and is low in the first round", with(swinging, func(i int) int64 { return int64(min(i, 1)-1) * 600 }), false},
		{"is high in every other round", with(flat, func(i int) int64 { return 4900 + int64(i%2)*700 }), false},
		{"grows, and is freed every four rounds", with(flat, func(i int) int64 { return 4900 + int64(i%4)*230 }), false},
		{"leaks 1 % a round", with(swinging, func(i int) int64 { return int64(i) * 53 }), true},
		{"leaks 4 % every four rounds", with(swinging, func(i int) int64 { return int64(i/4) * 212 }), true},
		{"loses 1 % a round", with(swinging, func(i int) int64 { return int64(i) * -53 }), true},
	} {
		t.Run(c.what, func(t *testing.T) {
			is.New(t).Equal(drifts(c.heaps), c.want) // as it is called
		})
	}
}

// TestDriftOfRuns simulates 1,000 runs with a heap that fluctuates between 4.9 and 5.6 MB. Fewer than 10 of the
// shortest runs fail without a leak, and more than 900 runs of 17 rounds fail with a leak of 1 % per round. In runs of
// 40 rounds, none fails without a leak and all fail with one.
func TestDriftOfRuns(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	failed := func(rounds int, leak int64) (n int) {
		random := rand.New(rand.NewPCG(1, 1))
		for range 1000 {
			if drifts(with(make([]int64, rounds), func(i int) int64 { return 4900 + random.Int64N(700) + int64(i)*leak })) {
				n++
			}
		}
		return n
	}
	is.True(failed(least, 0) < 10)
	is.True(failed(17, 53) > 900)
	is.Equal(failed(40, 0), 0)
	is.Equal(failed(40, 53), 1000)
}
