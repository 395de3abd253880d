package main

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/kubernetes/test/conformance/testdata"
	"sigs.k8s.io/yaml"
)

// conformanceOwn has the reasons why tests of [Conformance] are not run with kubesim's own controllers and nodes.
//
//go:embed conformance-own.txt
var conformanceOwn string

// reason is why some tests are not run: names, or patterns of names.
type reason struct {
	text     string
	patterns []*regexp.Regexp
}

// reasonsIn reads a list of names or patterns below comments. The comment at the top of the list is not a reason.
func reasonsIn(list string, pattern func(line string) string) (all []reason) {
	_, list, _ = strings.Cut(list, "\n\n")
	for block := range strings.SplitSeq(list, "\n\n") {
		block = strings.TrimSpace(block)
		if text, ok := strings.CutPrefix(block, "# "); ok {
			all = append(all, reason{text: strings.ReplaceAll(text, "\n# ", " ")})
			continue
		}
		for line := range strings.Lines(block) {
			r := &all[len(all)-1]
			r.patterns = append(r.patterns, regexp.MustCompile(pattern(strings.TrimSpace(line))))
		}
	}
	return all
}

// conformanceTests returns the names of the tests of [Conformance], as upstream lists them.
func conformanceTests() (names []string, err error) {
	text, err := testdata.GetConformanceTestdataFS().EmbeddedFS.ReadFile("conformance.yaml")
	if err != nil {
		return nil, err
	}
	var tests []struct {
		Codename string `json:"codename"`
	}
	if err := yaml.Unmarshal(text, &tests); err != nil {
		return nil, err
	}
	for _, t := range tests {
		names = append(names, t.Codename)
	}
	return names, nil
}

// reportConformance prints how many tests of [Conformance] passed, and the others by reason. It returns those for whose absence no list
// gives a reason.
func reportConformance(results map[string]string) (unexplained []string, err error) {
	names, err := conformanceTests()
	if err != nil {
		return nil, err
	}
	reasons := append(reasonsIn(cannot, func(line string) string { return "^" + regexp.QuoteMeta(line) + "$" }),
		reasonsIn(conformanceOwn, func(line string) string { return line })...)
	passed, counts := 0, make([]int, len(reasons))
tests:
	for _, name := range names {
		if state, ran := results[name]; ran {
			if state == "passed" {
				passed++
			}
			continue
		}
		for i, r := range reasons {
			for _, p := range r.patterns {
				if p.MatchString(name) {
					counts[i]++
					continue tests
				}
			}
		}
		unexplained = append(unexplained, name)
	}
	fmt.Printf("\n%d of %d tests of [Conformance] passed; not run:\n", passed, len(names))
	for i, r := range reasons {
		if counts[i] > 0 {
			fmt.Printf("%4d  %s\n", counts[i], r.text)
		}
	}
	return unexplained, nil
}
