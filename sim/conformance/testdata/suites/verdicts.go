package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// verdicts are what the specs of a project give on a real server: by package, by name.
type verdicts map[string]map[string]string

func (p project) recorded() string { return filepath.Join("verdicts", p.name+".txt") }

// readVerdicts reads what was recorded of a project; there need not be anything.
func readVerdicts(p project) (verdicts, error) {
	text, err := os.ReadFile(p.recorded())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all, of := verdicts{}, ""
	for line := range strings.Lines(string(text)) {
		word, rest, found := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		switch {
		case strings.HasPrefix(line, "#"):
			if module := strings.Fields(line)[1]; module != p.module {
				return nil, fmt.Errorf("%s is of %s, not of %s: record it again", p.recorded(), module, p.module)
			}
		case !found:
			return nil, fmt.Errorf("%s: what is %q?", p.recorded(), line)
		case word == "package":
			of, all[rest] = rest, map[string]string{}
		default:
			all[of][rest] = word
		}
	}
	return all, nil
}

// record adds a run over the real server to what is known, writes it, and returns it.  Only the packages that ran change; of a
// run of some specs in them, only these.
func record(p project, known verdicts, run *outcome, some bool) (verdicts, error) {
	if run == nil {
		return nil, errors.New("-record needs -real")
	}
	merged := verdicts{}
	maps.Copy(merged, known)
	for path, r := range run.packages {
		merged[path] = r.verdicts
		if before, ok := known[path]; ok {
			merged[path] = mergeRuns(before, r.verdicts, some)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s on kube-apiserver v1.36.3\n", p.module)
	for _, path := range slices.Sorted(maps.Keys(merged)) {
		fmt.Fprintf(&b, "package\t%s\n", path)
		for _, name := range slices.Sorted(maps.Keys(merged[path])) {
			fmt.Fprintf(&b, "%s\t%s\n", merged[path][name], name)
		}
	}
	return merged, errors.Join(os.MkdirAll("verdicts", 0o755), os.WriteFile(p.recorded(), []byte(b.String()), 0o644))
}

// mergeRuns keeps what is known and was found again; the rest varies.  A run of some specs says nothing of others.
func mergeRuns(known, run map[string]string, some bool) map[string]string {
	merged := maps.Clone(known)
	for name, verdict := range known {
		if now, ran := run[name]; now != verdict && (ran || !some) {
			merged[name] = varies
		}
	}
	for name := range run {
		if known[name] == "" {
			merged[name] = varies
		}
	}
	return merged
}

// differences are the specs that did not give what they give on a real server, one line each.  A run of some specs says
// nothing of others.
func differences(known verdicts, run *outcome, some bool) (lines []string) {
	for _, path := range slices.Sorted(maps.Keys(run.packages)) {
		here := run.packages[path].verdicts
		if known[path] == nil {
			lines = append(lines, path+": nothing is recorded of a real server")
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(known[path])) {
			if there := known[path][name]; there != varies && there != here[name] && !(some && here[name] == "") {
				lines = append(lines, fmt.Sprintf("%s here, %s on a real server: %s: %s", cmp.Or(here[name], "not run"), there, path, name))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(here)) {
			if known[path][name] == "" {
				lines = append(lines, fmt.Sprintf("%s here, not run on a real server: %s: %s", here[name], path, name))
			}
		}
	}
	return lines
}
