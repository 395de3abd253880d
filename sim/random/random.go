// Package random is the random numbers of a simulated cluster. Each purpose has a stream of its own, made from the
// cluster's seed, so that one more draw for one of them does not shift the others:
//
//	seed 1 ─┬─ "uids"    ▪▪▪▪▪▪
//	        ├─ "names"   ▪▪
//	        └─ "faults"  ▪▪▪▪       in the order in which they were first drawn from
package random

import (
	"hash/fnv"
	"math/rand/v2"
)

// Streams are the random numbers of one cluster.
type Streams struct {
	seed uint64
	list []*stream
}

// stream is the sequence of random numbers for one purpose. source is its whole state: a copy continues identically.
type stream struct {
	purpose string
	source  *rand.PCG
	*rand.Rand
}

// Stream is the state of one stream.
type Stream struct {
	Purpose string
	State   rand.PCG
}

// Begin drops all streams and starts with a new seed.
func (s *Streams) Begin(seed uint64) { s.seed, s.list = seed, nil }

// Draw returns a number in [0, n) from the stream of a purpose.
func (s *Streams) Draw(purpose string, n int) int { return s.of(purpose).IntN(n) }

// Fill puts a random byte into each place of b, as many calls of Draw for 256 would.
func (s *Streams) Fill(purpose string, b []byte) {
	source := s.of(purpose).source
	for i := range b {
		b[i] = byte(source.Uint64())
	}
}

// of returns the stream of a purpose.
func (s *Streams) of(purpose string) *stream {
	for _, x := range s.list {
		if x.purpose == purpose {
			return x
		}
	}
	return s.add(purpose)
}

// add begins the stream of a purpose.
func (s *Streams) add(purpose string) *stream {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	x := &stream{purpose: purpose, source: rand.NewPCG(s.seed, h.Sum64())}
	x.Rand = rand.New(x.source)
	s.list = append(s.list, x)
	return x
}

// Len returns how many streams there are.
func (s *Streams) Len() int { return len(s.list) }

// AppendState appends the state of each stream to b.
func (s *Streams) AppendState(b []rand.PCG) []rand.PCG {
	for _, x := range s.list {
		b = append(b, *x.source)
	}
	return b
}

// State returns how far each stream is.
func (s *Streams) State() []Stream {
	var all []Stream
	for _, x := range s.list {
		all = append(all, Stream{x.purpose, *x.source})
	}
	return all
}

// Load restores the states of streams. Other streams start again at their first draw.
func (s *Streams) Load(state []Stream) {
	s.list = nil
	for _, x := range state {
		*s.add(x.Purpose).source = x.State
	}
}
