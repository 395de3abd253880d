package gotest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Verdicts are the results of a project's tests on a real server, by package.
type Verdicts map[string]Results

// ReadVerdicts reads a file of verdicts, which need not be there. It must be of a module, path@version.
func ReadVerdicts(file, module string) (Verdicts, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all, of := Verdicts{}, ""
	for line := range strings.Lines(string(text)) {
		word, rest, found := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		switch {
		case strings.HasPrefix(line, "#"):
			if of := strings.Fields(line)[1]; of != module {
				return nil, fmt.Errorf("%s is of %s, not of %s: record it again", file, of, module)
			}
		case !found:
			return nil, fmt.Errorf("%s: what is %q?", file, line)
		case word == "package":
			path, seconds, _ := strings.Cut(rest, "\t")
			r := Results{Verdicts: map[string]string{}}
			r.Seconds, _ = strconv.ParseFloat(strings.TrimSuffix(seconds, " s"), 64) // 0 where none was recorded
			of, all[path] = path, r
		default:
			all[of].Verdicts[rest] = word
		}
	}
	return all, nil
}

// Write writes verdicts into a file.
func (v Verdicts) Write(file, module string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s on kube-apiserver v1.36.3\n", module)
	for _, path := range slices.Sorted(maps.Keys(v)) {
		fmt.Fprintf(&b, "package\t%s", path)
		if s := v[path].Seconds; s > 0 {
			fmt.Fprintf(&b, "\t%.0f s", s)
		}
		b.WriteByte('\n')
		for _, name := range slices.Sorted(maps.Keys(v[path].Verdicts)) {
			fmt.Fprintf(&b, "%s\t%s\n", v[path].Verdicts[name], name)
		}
	}
	return errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(b.String()), 0o644))
}

// MergeRuns keeps results that two runs agree on; a test whose results differ varies. Tests that did not run keep their results.
func MergeRuns(known, run map[string]string, some bool) map[string]string {
	merged := maps.Clone(known)
	for name, verdict := range known {
		if now, ran := run[name]; now != verdict && (ran || !some) {
			merged[name] = Varies
		}
	}
	for name := range run {
		if known[name] == "" {
			merged[name] = Varies
		}
	}
	return merged
}
