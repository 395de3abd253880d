package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/conformance/testdata/suites/gotest"
)

// read reads the results of a run: Ginkgo's specs, and the tests that do not run a Ginkgo suite.
func (j job) read() (gotest.Results, error) {
	specs, err := readSpecs(j.log("ginkgo.json"))
	if err != nil {
		return gotest.Results{}, err
	}
	tests, err := gotest.ReadTests(j.log("events.json"), len(specs) > 0)
	if err != nil {
		return gotest.Results{}, err
	}
	r := gotest.Results{Verdicts: map[string]string{}}
	for name, all := range specs {
		slices.SortFunc(all, func(a, b string) int { return cmp.Compare(worse[a], worse[b]) })
		for i, verdict := range all { // several specs may have one name
			full := name
			if i > 0 {
				full = fmt.Sprintf("%s #%d", name, i+1)
			}
			r.Verdicts[full] = verdict
		}
	}
	maps.Copy(r.Verdicts, tests)
	if j.focus != "" { // specs outside the focus are reported as skipped
		maps.DeleteFunc(r.Verdicts, func(_, verdict string) bool { return verdict == gotest.Skip })
	}
	return r, nil
}

var worse = map[string]int{gotest.Fail: 0, gotest.Skip: 1, gotest.Pass: 2}

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
			verdict := gotest.Fail
			switch s.State {
			case "passed":
				verdict = gotest.Pass
			case "skipped", "pending":
				verdict = gotest.Skip
			}
			name := gotest.Normal(strings.Join(append(slices.Clone(s.ContainerHierarchyTexts), s.LeafNodeText), " "))
			if s.LeafNodeType != "It" {
				if verdict != gotest.Fail {
					continue // BeforeSuite, AfterSuite, …: no specs
				}
				name = "(" + s.LeafNodeType + ")"
			}
			specs[name] = append(specs[name], verdict)
		}
	}
	return specs, nil
}
