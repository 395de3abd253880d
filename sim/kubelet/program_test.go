package kubelet

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/kubelet/images"
)

// TestPause checks that the pause between restarts doubles from 10 s to 5 min, and is reset after ten minutes without a failure.
func TestPause(t *testing.T) {
	is := is.New(t)
	var p pause
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var all []time.Duration
	for range 7 {
		if at := p.until(now); !at.IsZero() {
			now = at
		}
		p.next(now)
		all = append(all, p.Length/time.Second)
	}
	is.Equal(all, []time.Duration{10, 20, 40, 80, 160, 300, 300})
	later := now.Add(10*time.Minute + 1)
	is.True(p.until(later).IsZero())
	p.next(later)
	is.Equal(p.Length, pauseMin)
}

// TestOutputOfEvery checks that any part of a log of repeated lines has the expected number of lines.
func TestOutputOfEvery(t *testing.T) {
	is := is.New(t)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for after := range 4 {
		for every := 1; every < 5; every++ {
			p := program{Image: images.Image{Log: []images.Line{{Text: "x", After: time.Duration(after) * time.Second, Every: time.Duration(every) * time.Second}}}}
			for from := range 10 {
				for to := from; to < 12; to++ {
					want := 0
					for at := after; at <= to; at += every {
						if at >= from {
							want++
						}
					}
					got := p.output(start, start.Add(time.Duration(from)*time.Second), start.Add(time.Duration(to)*time.Second))
					is.Equal(len(got), want)
				}
			}
			next := p.next(start, start.Add(7*time.Second))
			is.True(next.After(start.Add(7*time.Second)) && (next.Sub(start)/time.Second-time.Duration(after))%time.Duration(every) == 0)
		}
	}
}
