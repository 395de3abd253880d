//go:build amd64 || arm64

package chance_test

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake/chance"
)

// drawn returns some random choices of the runtime after a seed.
func drawn(is *is.I, seed uint64) (list [3]uint64) {
	m := map[int]bool{}
	for i := range 5 {
		m[i] = true
	}
	a, b := make(chan int, 1), make(chan int, 1)
	a <- 1
	b <- 2
	is.True(chance.Seed(seed))
	select {
	case n := <-a:
		list[0] = uint64(n)
	case n := <-b:
		list[0] = uint64(n)
	}
	for k := range m {
		list[1] = uint64(k)
		break
	}
	list[2] = rand.Uint64()
	return list
}

// The same seed gives the same random choices, and another seed gives other ones.
func TestSeed(t *testing.T) {
	is := is.New(t)
	is.True(chance.Possible())
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var selects, maps, numbers = map[uint64]bool{}, map[uint64]bool{}, map[uint64]bool{}
	for seed := range uint64(100) {
		first := drawn(is, seed)
		is.Equal(drawn(is, seed), first)
		selects[first[0]], maps[first[1]], numbers[first[2]] = true, true, true
	}
	is.Equal(len(selects), 2)
	is.Equal(len(maps), 5)
	is.Equal(len(numbers), 100)
}

func TestGoroutine(t *testing.T) {
	is := is.New(t)
	mine := chance.Goroutine()
	is.Equal(chance.Goroutine(), mine)
	other := make(chan uintptr)
	go func() { other <- chance.Goroutine() }()
	is.True(<-other != mine)
}
