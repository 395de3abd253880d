package sim

import (
	"hash/fnv"
	"math/rand/v2"
)

// streams are the random numbers of a Cluster: one stream per purpose, so that one more draw for one of them does not
// shift the others. They stand in the order in which they were first drawn from.
type streams struct {
	seed uint64
	list []*stream
}

// stream is the random numbers of one purpose. source is all its state: a copy of it goes on alike.
type stream struct {
	purpose string
	source  *rand.PCG
	*rand.Rand
}

// draw returns a number in [0, n) from the stream of a purpose.
func (s *streams) draw(purpose string, n int) int {
	for _, x := range s.list {
		if x.purpose == purpose {
			return x.IntN(n)
		}
	}
	return s.add(purpose).IntN(n)
}

// add begins the stream of a purpose.
func (s *streams) add(purpose string) *stream {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	x := &stream{purpose: purpose, source: rand.NewPCG(s.seed, h.Sum64())}
	x.Rand = rand.New(x.source)
	s.list = append(s.list, x)
	return x
}

// appendState appends the state of each stream to b.
func (s *streams) appendState(b []rand.PCG) []rand.PCG {
	for _, x := range s.list {
		b = append(b, *x.source)
	}
	return b
}
