package gallery

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/explore"
)

var (
	measure = flag.String("measure", "", "a file to which TestMeasure adds what it has measured; what it has already is not measured again")
	runs    = flag.Int("runs", 20, "how many searches, each from another first seed, TestMeasure does for each mistake, with feedback and without")
)

// The number of seeds that each correct version has to pass, and the number of seeds in each separate search.
const (
	seedsMeasured = 10_000
	portion       = 1000
)

// measurement is a line of the file, the result of one search. A search for a mistake ends when the mistake is found.
type measurement struct {
	Exhibit  string
	Correct  bool    `json:",omitempty"` // whether it tested the correct version, which must not fail
	Feedback bool    `json:",omitempty"` // whether plans with new behaviour were mutated
	First    uint64  // seed
	Seeds    int     // number of seeds until the mistake was found, or else all that were tried
	Missed   bool    `json:",omitempty"` // nothing was found
	Seconds  float64 // duration, including that of shrinking the plan
}

// measurements reads the file, which need not exist.
func measurements(t *testing.T, file string) (list []measurement) {
	t.Helper()
	data, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var m measurement
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		list = append(list, m)
	}
	return list
}

// add appends a line to the file.
func (m measurement) add(t *testing.T) {
	t.Helper()
	line, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(*measure, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
}

// TestMeasure takes hours; make gallery runs it. It may be interrupted at any time and then continues. To run a part of it, use
// -run '^TestMeasure$/^double$/^survives$'.
func TestMeasure(t *testing.T) {
	if *measure == "" {
		t.Skip("only with -measure")
	}
	known := map[measurement]bool{}
	for _, m := range measurements(t, *measure) {
		known[m.task()] = true
	}
	for _, x := range exhibits {
		t.Run(x.name, func(t *testing.T) {
			t.Run("found", func(t *testing.T) {
				for i := range uint64(*runs) {
					x.measure(t, known, measurement{Exhibit: x.name, Feedback: true, First: 1 + i*seedsFound})
					x.measure(t, known, measurement{Exhibit: x.name, First: 1 + i*seedsFound})
				}
			})
			t.Run("survives", func(t *testing.T) {
				for first := uint64(1); first <= seedsMeasured; first += portion {
					x.measure(t, known, measurement{Exhibit: x.name, Correct: true, Feedback: true, First: first})
				}
			})
		})
	}
}

// task returns a measurement without its results.
func (m measurement) task() measurement {
	m.Seeds, m.Missed, m.Seconds = 0, false, 0
	return m
}

// measure runs one search, unless its result is known.
func (x *exhibit) measure(t *testing.T, known map[measurement]bool, m measurement) {
	t.Run(fmt.Sprintf("%d feedback %t", m.First, m.Feedback), func(t *testing.T) {
		if known[m] {
			return
		}
		o := fake.ExploreOptions{Seed: m.First, Seeds: seedsFound, Server: x.server, Repeat: 1, NoFeedback: !m.Feedback}
		if m.Correct {
			o.Seeds = portion
		}
		var found *explore.Report
		o.Found = func(r *explore.Report) { found = r }
		began := time.Now()
		fake.Explore(t, o, x.body(m.Correct))
		m.Seeds, m.Seconds, m.Missed = o.Seeds, time.Since(began).Seconds(), found == nil && !m.Correct
		if found != nil && (m.Correct || found.Seeds == 0) {
			t.Fatal(found)
		}
		if found != nil {
			m.Seeds = found.Seeds
		}
		m.add(t)
	})
}
