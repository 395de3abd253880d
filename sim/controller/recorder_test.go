package controller

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/matryer/is"
)

// TestRecorder checks which events a recorder allows, and their messages. The expected values are derived manually from
// client-go's EventCorrelator.
func TestRecorder(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var r recorder
	now := time.Unix(0, 0)
	record := func(message string) (string, bool) {
		e, ok := r.record("Pod/ns/a", eventContent{"Normal", "Pulled", message}, now)
		return fmt.Sprint(e.Count, " ", e.message), ok
	}
	for n := range 3 {
		text, ok := record("same")
		is.Equal(text, fmt.Sprint(n+1, " same")) // the event was counted
		is.True(ok)
	}
	for n := range 12 {
		text, _ := record(fmt.Sprint("other ", n))
		switch want := fmt.Sprint("1 other ", n); {
		case n < 8:
			is.Equal(text, want)
		default: // combined: together with "same", this is at least the tenth message
			is.Equal(text, fmt.Sprint(n-7, " (combined from similar events): other ", n))
		}
	}
	allowed := 15
	for range 20 {
		if _, ok := record("other 11"); ok {
			allowed++
		}
	}
	is.Equal(allowed, 25) // the budget of an object
	now = now.Add(5*time.Minute - time.Second)
	_, ok := record("x")
	is.True(!ok)
	now = now.Add(time.Second)
	_, ok = record("x")
	is.True(ok) // one more every five minutes
	now = now.Add(10*time.Minute + time.Second)
	text, _ := record("y")
	is.Equal(text, "1 y") // messages from long ago are no longer similar

	var loaded recorder
	data, err := json.Marshal(r)
	is.NoErr(err)
	is.NoErr(json.Unmarshal(data, &loaded))
	a, aok := r.record("Pod/ns/a", eventContent{"Normal", "Pulled", "z"}, now)
	b, bok := loaded.record("Pod/ns/a", eventContent{"Normal", "Pulled", "z"}, now)
	is.Equal(a, b) // a loaded recorder behaves identically
	is.Equal(aok, bok)
}

// TestRecorderIsBounded checks that a recorder drops the least recently used entries.
func TestRecorderIsBounded(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var r recorder
	for n := range 3 * recorderMax {
		r.record(fmt.Sprint(n), eventContent{Message: "m"}, time.Unix(int64(n), 0))
	}
	is.True(len(r.Said) <= recorderMax+recorderMax/8 && r.Said[fmt.Sprint(3*recorderMax-1)+"|||m"] != nil)
}
