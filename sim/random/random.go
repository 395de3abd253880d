// Package random provides the random numbers of a simulated cluster. Each purpose has its own stream, seeded with the cluster's
// seed, so that an additional number for one purpose does not affect the others:
//
//	seed 1 ─┬─ "uids"    ▪▪▪▪▪▪
//	        ├─ "names"   ▪▪
//	        └─ "faults"  ▪▪▪▪       in order of first use
package random

import (
	"hash/fnv"
	"math/rand/v2"
)

// Streams are the random number streams of one cluster.
type Streams struct {
	seed uint64
	list []*stream
}

// stream is the sequence of random numbers for one purpose. source is its complete state: a copy of source yields the same numbers.
type stream struct {
	purpose string
	source  *rand.PCG
	*rand.Rand
}

// Stream is the saved state of a stream.
type Stream struct {
	Purpose string
	State   rand.PCG
}

// Begin drops all streams and sets a new seed.
func (s *Streams) Begin(seed uint64) { s.seed, s.list = seed, nil }

// Draw returns a number in [0, n) from the stream of a purpose. It panics if n is not positive.
func (s *Streams) Draw(purpose string, n int) int { return s.of(purpose).IntN(n) }

// Fill fills b with random bytes. The result is the same as that of calling Draw(purpose, 256) for each byte.
func (s *Streams) Fill(purpose string, b []byte) {
	source := s.of(purpose).source
	for i := range b {
		b[i] = byte(source.Uint64())
	}
}

// of returns the stream of a purpose. If there is none, it adds one.
func (s *Streams) of(purpose string) *stream {
	for _, x := range s.list {
		if x.purpose == purpose {
			return x
		}
	}
	return s.add(purpose)
}

// add adds the stream of a purpose.
func (s *Streams) add(purpose string) *stream {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	x := &stream{purpose: purpose, source: rand.NewPCG(s.seed, h.Sum64())}
	x.Rand = rand.New(x.source)
	s.list = append(s.list, x)
	return x
}

// Len returns the number of streams.
func (s *Streams) Len() int { return len(s.list) }

// AppendState appends the state of each stream to b.
func (s *Streams) AppendState(b []rand.PCG) []rand.PCG {
	for _, x := range s.list {
		b = append(b, *x.source)
	}
	return b
}

// State returns the state of all streams.
func (s *Streams) State() []Stream {
	var all []Stream
	for _, x := range s.list {
		all = append(all, Stream{x.purpose, *x.source})
	}
	return all
}

// Load restores the states of the given streams. All other streams restart when they are next used.
func (s *Streams) Load(state []Stream) {
	s.list = nil
	for _, x := range state {
		*s.add(x.Purpose).source = x.State
	}
}
