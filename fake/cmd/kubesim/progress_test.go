package main

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
)

// While the server is busy, it prints a line every three seconds. Short work prints nothing.
func TestProgress(t *testing.T) {
	is := is.New(t)
	var out strings.Builder
	now := clock.NewManual(clock.Epoch())
	w := &workLines{out: &out, clock: now}
	for i := range 8 {
		w.Reconciled((i+1)*1000, 500)
		now.Advance(time.Second)
	}
	now.Advance(time.Hour)
	w.Reconciled(1000, 10) // of another request
	is.Equal(out.String(), "working: 4000 reconciles in 3s, 500 are due\nworking: 7000 reconciles in 6s, 500 are due\n")
}
