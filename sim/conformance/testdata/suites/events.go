package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// How a spec or test ends.
const (
	pass   = "pass"
	fail   = "fail"
	skip   = "skip"
	varies = "varies" // it did not end the same in each run
)

// results are how the specs and tests of a package ended.
type results struct {
	verdicts map[string]string // by name
	seconds  float64
}

// whole is the name that stands for a package: it fails when it ends badly and no test of it is to blame.
const whole = "(the package)"

// read reads what a run has left: Ginkgo's specs, and the tests that are no suite of such.
func (j job) read() (results, error) {
	specs, err := readSpecs(j.log("ginkgo.json"))
	if err != nil {
		return results{}, err
	}
	tests, err := readTests(j.log("events.json"), len(specs) > 0)
	if err != nil {
		return results{}, err
	}
	r := results{verdicts: map[string]string{}}
	for name, all := range specs {
		slices.SortFunc(all, func(a, b string) int { return cmp.Compare(worse[a], worse[b]) })
		for i, verdict := range all { // several specs may have one name
			if i > 0 {
				name = fmt.Sprintf("%s #%d", strings.TrimSuffix(name, fmt.Sprintf(" #%d", i)), i+1)
			}
			r.verdicts[name] = verdict
		}
	}
	maps.Copy(r.verdicts, tests)
	if j.focus != "" { // what was not asked for is reported as skipped
		maps.DeleteFunc(r.verdicts, func(_, verdict string) bool { return verdict == skip })
	}
	return r, nil
}

var worse = map[string]int{fail: 0, skip: 1, pass: 2}

// specReport is the part of Ginkgo's report of a suite that is read here.
type specReport struct {
	SpecReports []struct {
		ContainerHierarchyTexts []string
		LeafNodeType            string
		LeafNodeText            string
		State                   string
	}
}

// readSpecs returns how Ginkgo's specs ended, and which of the nodes around them failed, by their full names.
func readSpecs(file string) (map[string][]string, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var suites []specReport
	if err := errors.Join(err, json.Unmarshal(text, &suites)); err != nil {
		return nil, err
	}
	specs := map[string][]string{}
	for _, suite := range suites {
		for _, s := range suite.SpecReports {
			verdict := fail
			switch s.State {
			case "passed":
				verdict = pass
			case "skipped", "pending":
				verdict = skip
			}
			name := normal(strings.Join(append(slices.Clone(s.ContainerHierarchyTexts), s.LeafNodeText), " "))
			if s.LeafNodeType != "It" {
				if verdict != fail {
					continue // BeforeSuite, AfterSuite, …: no specs
				}
				name = "(" + s.LeafNodeType + ")"
			}
			specs[name] = append(specs[name], verdict)
		}
	}
	return specs, nil
}

// event is one of test2json's.
type event struct{ Action, Test, Output string }

// readTests returns how tests ended, by name; a test that runs Ginkgo's specs is left out when these are known.
func readTests(file string, specs bool) (map[string]string, error) {
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
			continue // what the programs say on stderr
		}
		switch e.Action {
		case "run":
			tests[e.Test] = fail // until it ends
		case "output":
			runners[e.Test] = runners[e.Test] || strings.HasPrefix(e.Output, "Running Suite: ")
		case pass, fail, skip:
			if e.Test == "" {
				ended = e.Action
				continue
			}
			tests[e.Test], failed = e.Action, failed || e.Action == fail
		}
	}
	named := map[string]string{}
	for name, verdict := range tests {
		if !specs || !runners[name] {
			named[normal(name)] = verdict
		}
	}
	if ended != pass && ended != skip && !failed {
		named[whole] = fail
	}
	return named, nil
}

var varying = regexp.MustCompile(`0x[0-9a-f]{6,}`)

// normal is a name without what differs from run to run, on one line.
func normal(name string) string {
	return strings.Join(strings.Fields(varying.ReplaceAllString(name, "0x…")), " ")
}

// count says how many passed, failed and were skipped.
func (r results) count() string {
	n := map[string]int{}
	for _, verdict := range r.verdicts {
		n[verdict]++
	}
	return fmt.Sprintf("%4d passed %3d failed %3d skipped", n[pass], n[fail], n[skip])
}
