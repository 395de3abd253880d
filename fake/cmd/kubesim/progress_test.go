package main

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

// Work that takes long prints a line every three seconds; short work prints none.
func TestProgress(t *testing.T) {
	is := is.New(t)
	var out strings.Builder
	now := time.Unix(0, 0)
	progress := program{stderr: &out}.workLines(func() time.Time { return now })
	for i := range 8 {
		progress((i+1)*1000, 500)
		now = now.Add(time.Second)
	}
	now = now.Add(time.Hour)
	progress(1000, 10) // of another request
	is.Equal(out.String(), "working: 4000 reconciles in 3s, 500 are due\nworking: 7000 reconciles in 6s, 500 are due\n")
}
