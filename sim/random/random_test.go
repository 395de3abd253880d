package random_test

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/random"
)

// An additional number for one purpose does not affect the others, and loaded streams continue identically.
func TestStreams(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	draw := func(s *random.Streams, purpose string) (all []int) {
		for range 5 {
			all = append(all, s.Draw(purpose, 1000))
		}
		return all
	}
	var a, b, c random.Streams
	a.Begin(7)
	b.Begin(7)
	c.Begin(7)
	b.Draw("names", 3)
	is.Equal(draw(&a, "uids"), draw(&b, "uids"))
	c.Load(b.State())
	is.Equal(draw(&c, "names"), draw(&b, "names"))
	is.Equal(draw(&c, "new"), draw(&b, "new"))
	a.Begin(8)
	b.Begin(7)
	is.True(draw(&a, "uids")[0] != draw(&b, "uids")[0]) // another seed
}

// Fill draws the same numbers as the same number of calls to Draw.
func TestFill(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var a, b random.Streams
	a.Begin(7)
	b.Begin(7)
	filled, drawn := make([]byte, 100), make([]byte, 100)
	a.Fill("uids", filled)
	for i := range drawn {
		drawn[i] = byte(b.Draw("uids", 256))
	}
	is.Equal(filled, drawn)
	is.Equal(a.State(), b.State())
}
