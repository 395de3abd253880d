package main

import "slices"

const (
	// warm is how many rounds there are before the heap is measured for the first time.
	warm = 3

	// least is the minimum number of measured rounds: fewer do not distinguish a fluctuation from a leak.
	least = 12

	// heapDrift is how much of its size the heap may have changed from the first round that is measured to the last.
	heapDrift = 0.10
)

// drift returns the relative change of the heap from the first round to the last, given its size in bytes after each. The heap fluctuates
// by a seventh from round to round, so two rounds are not enough. drift uses the median of the slopes between any two rounds (Theil-Sen),
// which a leak changes and a single high round does not.
func drift(heaps []int64) float64 {
	var slopes []float64
	for i, before := range heaps {
		for j, after := range heaps[i+1:] {
			slopes = append(slopes, float64(after-before)/float64(j+1))
		}
	}
	if len(slopes) == 0 {
		return 0
	}
	return median(slopes) * float64(len(heaps)-1) / float64(median(heaps))
}

// median returns the number in the middle, the greater one of two.
func median[N int64 | float64](numbers []N) N {
	return slices.Sorted(slices.Values(numbers))[len(numbers)/2]
}
