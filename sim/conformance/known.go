package conformance

import (
	_ "embed"
	"fmt"
	"strings"
)

// known is a parsed list of known differences; see testdata/known_differences.txt.
type known map[string]string // "area/case step", "area/case *" or "area/*" -> reason

//go:embed testdata/known_differences.txt
var knownDifferences string

// KnownDifferences returns the list of known differences embedded in the package.
func KnownDifferences() string { return knownDifferences }

func parseKnown(text string, cases []Case) (known, error) {
	out := known{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		entry, reason, ok := strings.Cut(line, " — ")
		entry = strings.Join(strings.Fields(entry), " ")
		switch {
		case !ok || strings.TrimSpace(reason) == "":
			return nil, fmt.Errorf("known differences, line %d: no reason after —", i+1)
		case out[entry] != "":
			return nil, fmt.Errorf("known differences, line %d: %s is listed twice", i+1, entry)
		case !names(cases, entry):
			return nil, fmt.Errorf("known differences, line %d: there is no step %s", i+1, entry)
		}
		out[entry] = strings.TrimSpace(reason)
	}
	return out, nil
}

// names reports whether an entry matches at least one step.
func names(cases []Case, entry string) bool {
	for _, c := range cases {
		if entry == areaEntry(c.Area) || entry == caseEntry(c) {
			return true
		}
		for _, s := range c.Steps {
			if entry == stepEntry(c, s.Name) {
				return true
			}
		}
	}
	return false
}

func areaEntry(area string) string { return area + "/*" }

func caseEntry(c Case) string { return c.ID() + " *" }

func stepEntry(c Case, step string) string { return c.ID() + " " + step }

// reason returns the reason why a step may differ: from the entry for the step, or else for its case, or else for its
// area.
func (k known) reason(c Case, step string) string {
	for _, entry := range []string{stepEntry(c, step), caseEntry(c), areaEntry(c.Area)} {
		if why := k[entry]; why != "" {
			return why
		}
	}
	return ""
}
