package history

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
)

// TestMarks makes random changes to Marks, and the same changes to a plain list of marks. Both must have the same marks and answer
// the same questions. Copies made in between must not change.
func TestMarks(t *testing.T) {
	for seed := range uint64(100) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			var m Marks
			list := plainMarks{rev: 1000, at: clock.Epoch()}
			type copied struct {
				got  Marks
				want []Mark
			}
			var copies []copied
			for range 200 {
				switch r.IntN(12) {
				case 0:
					first := list.rev - uint64(r.IntN(20))
					m.forget(first)
					list.forget(first)
				case 1:
					last := list.rev - uint64(r.IntN(4))
					m.undo(last)
					list.undo(last)
				case 2:
					copies = append(copies, copied{m.Clone(), slices.Clone(list.all)})
				default:
					list.draw(r)
					m.Add(list.rev, list.at, list.streams)
				}
				list.compare(t, &m, r)
			}
			for _, c := range copies {
				is.New(t).True(slices.EqualFunc(slices.Collect(c.got.All()), c.want, sameMark))
			}
		})
	}
}

func sameMark(a, b Mark) bool {
	return a.Rev == b.Rev && a.At.Equal(b.At) && slices.Equal(a.Streams, b.Streams)
}

// plainMarks is a list of marks, each with all of its values.
type plainMarks struct {
	rev     uint64
	at      time.Time
	streams []rand.PCG
	all     []Mark
}

// draw adds the mark of the next revision, after a random change.
func (p *plainMarks) draw(r *rand.Rand) {
	p.rev++
	p.streams = slices.Clone(p.streams)
	switch r.IntN(5) {
	case 0:
		p.at = p.at.Add(time.Duration(r.IntN(3)) * time.Second)
	case 1:
		p.streams = append(p.streams, *rand.NewPCG(1, uint64(len(p.streams))))
	case 2:
		p.streams = nil // the log of an archive has no random numbers
	default:
		if len(p.streams) > 0 {
			p.streams[r.IntN(len(p.streams))].Uint64()
		}
	}
	if n := len(p.all); n == 0 || !p.all[n-1].At.Equal(p.at) || !slices.Equal(p.all[n-1].Streams, p.streams) {
		p.all = append(p.all, Mark{p.rev, p.at, p.streams})
	}
}

func (p *plainMarks) forget(first uint64) {
	if i := p.index(first); i >= 0 {
		p.all = slices.Clone(p.all[i:])
		p.all[0].Rev = first
	}
}

func (p *plainMarks) undo(last uint64) {
	p.all, p.rev = slices.Clip(p.all[:p.index(last)+1]), last
	if n := len(p.all); n > 0 {
		p.at, p.streams = p.all[n-1].At, p.all[n-1].Streams
	}
}

// index returns the index of the newest mark not after rev, or -1.
func (p *plainMarks) index(rev uint64) int {
	for i, m := range slices.Backward(p.all) {
		if m.Rev <= rev {
			return i
		}
	}
	return -1
}

// compare compares all marks, and the mark of a random revision and time.
func (p *plainMarks) compare(t *testing.T, m *Marks, r *rand.Rand) {
	is := is.New(t)
	is.True(slices.EqualFunc(slices.Collect(m.All()), p.all, sameMark))
	rev := p.rev - uint64(r.IntN(10))
	got, found := m.find(rev)
	if i := p.index(rev); i < 0 {
		is.True(!found)
	} else {
		is.True(sameMark(got, Mark{rev, p.all[i].At, p.all[i].Streams}))
	}
	at := p.at.Add(-time.Duration(r.IntN(5)) * time.Second)
	want := p.rev
	switch i := slices.IndexFunc(p.all, func(m Mark) bool { return m.At.After(at) }); {
	case i == 0 || len(p.all) == 0:
		want = 0
	case i > 0:
		want = p.all[i].Rev - 1
	}
	is.Equal(m.revisionAt(at, p.rev), want)
}
