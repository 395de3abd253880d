package gotest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// How a spec or test ends.
const (
	Pass   = "pass"
	Fail   = "fail"
	Skip   = "skip"
	Varies = "varies" // it did not end the same in each run
)

// Whole is the name for a package as a whole: it fails if the package fails and none of its tests did.
const Whole = "(the package)"

// Results are the results of the specs and tests of a package.
type Results struct {
	Verdicts map[string]string // by name
	Seconds  float64
}

// Count returns the numbers of passed, failed and skipped tests.
func (r Results) Count() string {
	n := map[string]int{}
	for _, verdict := range r.Verdicts {
		n[verdict]++
	}
	return fmt.Sprintf("%4d passed %3d failed %3d skipped", n[Pass], n[Fail], n[Skip])
}

// event is one of test2json's.
type event struct{ Action, Test, Output string }

// ReadTests returns how tests ended, by name; a test that has run Ginkgo's specs is left out when these are known.
func ReadTests(file string, specs bool) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	tests, runners := map[string]string{}, map[string]bool{}
	ended, failed := "", false
	for lines := bufio.NewReader(bytes.NewReader(text)); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			continue // output of the programs on stderr
		}
		switch e.Action {
		case "run":
			tests[e.Test] = Fail // until it ends
		case "output":
			runners[e.Test] = runners[e.Test] || strings.HasPrefix(e.Output, "Running Suite: ")
		case Pass, Fail, Skip:
			if e.Test == "" {
				ended = e.Action
				continue
			}
			tests[e.Test], failed = e.Action, failed || e.Action == Fail
		}
	}
	named := map[string]string{}
	for name, verdict := range tests {
		if !specs || !runners[name] {
			named[Normal(name)] = verdict
		}
	}
	if ended != Pass && ended != Skip && !failed {
		named[Whole] = Fail
	}
	return named, nil
}

var varying = regexp.MustCompile(`0x[0-9a-f]{6,}`)

// Normal returns a name on one line, without the parts that differ from run to run.
func Normal(name string) string {
	return strings.Join(strings.Fields(varying.ReplaceAllString(name, "0x…")), " ")
}
