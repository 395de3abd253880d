package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/kubesim/kubesim/sim/conformance/testdata/suites/gotest"
)

func (p project) recorded() string { return filepath.Join("verdicts", p.name+".txt") }

// readVerdicts reads the recorded verdicts of a project. The file need not exist.
func readVerdicts(p project) (gotest.Verdicts, error) {
	return gotest.ReadVerdicts(p.recorded(), p.module)
}

// record merges a run on the real server into the known verdicts, writes them, and returns them. Only packages that ran change. If some
// is set, only the specs that ran change.
func record(p project, known gotest.Verdicts, run *outcome, some bool) (gotest.Verdicts, error) {
	if run == nil {
		return nil, errors.New("-record needs -real")
	}
	merged := gotest.Verdicts{}
	maps.Copy(merged, known)
	for path, r := range run.packages {
		now := r.Verdicts
		if before, ok := known[path]; ok {
			now = gotest.MergeRuns(before.Verdicts, now, some)
		}
		merged[path] = gotest.Results{Verdicts: now}
	}
	return merged, merged.Write(p.recorded(), p.module)
}

// differences returns a line for each spec whose result differs from the real server's. After a run of some specs the others are
// skipped.
func differences(known gotest.Verdicts, run *outcome, some bool) (lines []string) {
	for _, path := range slices.Sorted(maps.Keys(run.packages)) {
		here := run.packages[path].Verdicts
		if known[path].Verdicts == nil {
			lines = append(lines, path+": nothing is recorded of a real server")
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(known[path].Verdicts)) {
			if there := known[path].Verdicts[name]; there != gotest.Varies && there != here[name] && !(some && here[name] == "") {
				lines = append(lines, fmt.Sprintf("%s here, %s on a real server: %s: %s", cmp.Or(here[name], "not run"), there, path, name))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(here)) {
			if known[path].Verdicts[name] == "" {
				lines = append(lines, fmt.Sprintf("%s here, not run on a real server: %s: %s", here[name], path, name))
			}
		}
	}
	return lines
}
