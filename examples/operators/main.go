// Command operators searches real operators for bugs with fake.Explore, and writes the table of README.md.
//
//	rows ─ module of the operator, version ─▶ a copy of its folder ─ go test -c ─▶ test binary ─▶ measured.jsonl ─▶ README.md
//
// A row has up to three searches: blind and directed in the version with the bug, after in the version without it. A search whose
// result is in measured.jsonl is not repeated, so the command may be interrupted at any time.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

var (
	work  = flag.String("work", filepath.Join(os.TempDir(), "kubesim-operators"), "the folder for copies of the modules and test binaries")
	only  = flag.String("rows", "", "the beginnings of the rows' names, with commas between them; all if empty")
	cells = flag.String("columns", strings.Join(columns, ","), "the columns to measure, with commas between them")
	seeds = flag.Int("seeds", 2000, "the number of seeds of a search")
	limit = flag.Duration("for", 10*time.Minute, "the time after which a search ends")
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	programs := programs{}
	for _, r := range rows {
		if !r.selected() {
			continue
		}
		for _, s := range r.searches() {
			if !slices.Contains(strings.Split(*cells, ","), s.column) {
				continue
			}
			if err := s.measure(programs); err != nil {
				log.Printf("%s %s: %v", r.name, s.column, err)
			}
		}
	}
	if err := writeReadme(); err != nil {
		log.Fatal(err)
	}
}

// selected reports whether the flag -rows selects the row.
func (r row) selected() bool {
	return *only == "" || slices.ContainsFunc(strings.Split(*only, ","), func(begin string) bool { return strings.HasPrefix(r.name, begin) })
}

// search is a search in one version of a row's operator.
type search struct {
	row
	column, version string
	plan            string // the file of the only plan to run, or empty
}

// The searches of a row are columns of the table.
const (
	blindColumn    = "blind"
	directedColumn = "directed"
	afterColumn    = "after" // in the version without the bug
)

// columns are the columns in the order of the table.
var columns = []string{directedColumn, directedColumn + " " + afterColumn, blindColumn, afterColumn}

// searches returns the searches of a row: the plan in the bad version and in the fixed one, if there is a plan file, and a blind search in
// both.
func (r row) searches() (list []search) {
	plan, err := filepath.Abs(filepath.Join(r.operator, r.name+".plan"))
	_, missing := os.Stat(plan)
	planned := err == nil && missing == nil
	if planned {
		list = append(list, search{row: r, column: directedColumn, version: r.bad, plan: plan})
	}
	if planned && r.fixed != "" {
		list = append(list, search{row: r, column: directedColumn + " " + afterColumn, version: r.fixed, plan: plan})
	}
	list = append(list, search{row: r, column: blindColumn, version: r.bad})
	if r.fixed != "" {
		list = append(list, search{row: r, column: afterColumn, version: r.fixed})
	}
	return list
}

// measure runs a search, unless its result is known, and stores the result.
func (s search) measure(programs programs) error {
	known, err := measured()
	if err != nil || known.find(s.name, s.column) != nil {
		return err
	}
	if same := s.sameIn(known); same != nil {
		same.Row = s.name
		return same.add()
	}
	program, err := programs.build(s)
	if err != nil {
		return err
	}
	results, dir := program+".jsonl", strings.TrimSuffix(program, programSuffix)
	os.Remove(results)
	os.RemoveAll(filepath.Join(dir, "testdata")) // plans of earlier searches
	cmd := exec.Command(program, "-test.run=^"+cmp.Or(s.test, "TestOperator")+"$", "-test.v", "-test.timeout=0")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), fmt.Sprintf("KUBESIM_SEEDS=%d", *seeds), "KUBESIM_FOR="+limit.String(), "KUBESIM_RESULTS="+results,
		"KUBESIM_PLAN="+s.plan, "KUBESIM_KNOWN="+s.knownTexts())
	log.Printf("%s: %s, %s %s", s.name, s.column, s.module, s.version)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return err
	}
	m := measurement{Row: s.name, Column: s.column, Version: s.version,
		CPU: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()}
	if err := m.addResults(results); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	m.Report = report(string(out))
	if s.plan != "" { // which is an absolute path
		m.Report = strings.ReplaceAll(m.Report, s.plan, filepath.Base(s.plan))
	}
	return m.add()
}

// knownTexts returns the texts of failures that the search ignores, one per line.
func (s search) knownTexts() string {
	if s.column != afterColumn || s.knownAfter == "" {
		return s.known
	}
	return s.known + "\n" + s.knownAfter
}

// sameIn returns the result of the same search for another bug of the operator, which was fixed in the same version, or nil.
func (s search) sameIn(known measurements) *measurement {
	for _, r := range rows {
		if s.column == afterColumn && r.operator == s.operator && r.fixed == s.fixed {
			if m := known.find(r.name, s.column); m != nil {
				return m
			}
		}
	}
	return nil
}

// programs are the names of the test binaries that this process has built.
type programs map[string]bool

// programSuffix is added to the name of a copy of a module for the name of its test binary.
const programSuffix = ".test"

// build builds the test binary of a copy of the operator's module, which requires the version. Modules that differ only in the
// operator's version have separate copies.
func (built programs) build(s search) (program string, err error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(*work, s.operator+"-"+s.version)
	program = dir + programSuffix
	if built[program] {
		return program, nil
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(*work, 0o755), os.CopyFS(dir, os.DirFS(s.operator))); err != nil {
		return "", err
	}
	if err := s.copyFiles(dir); err != nil {
		return "", err
	}
	for _, args := range [][]string{
		{"mod", "edit", "-replace=github.com/kubesim/kubesim=" + root, "-replace=github.com/kubesim/kubesim/fake/ctrl=" + filepath.Join(root, "fake/ctrl"),
			"-require=" + s.module + "@" + s.version},
		{"mod", "tidy"},
		{"test", "-vet=off", "-tags=" + s.tags[s.version], "-c", "-o", program, "."},
	} {
		cmd := exec.CommandContext(context.Background(), "go", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, bytes.TrimSpace(out))
		}
	}
	built[program] = true
	return program, nil
}

// copyFiles copies the row's file of the operator's module into dir, or the Go files of the row's folder without its tests. It does
// nothing if the row has neither.
func (s search) copyFiles(dir string) error {
	if s.files == "" {
		return nil
	}
	cmd := exec.Command("go", "mod", "download", "-json", s.module+"@"+s.version)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go mod download: %w", err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return err
	}
	files := []string{filepath.Join(module.Dir, s.files)}
	if filepath.Ext(s.files) != ".go" {
		if files, err = filepath.Glob(filepath.Join(module.Dir, s.files, "*.go")); err != nil {
			return err
		}
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		data, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(file)), data, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// report returns the report of a failed search from the output of a test, without its indentation, or "".
func report(output string) string {
	_, text, found := strings.Cut(output, ": kubesim: ")
	if !found || !strings.Contains(output, "--- FAIL") {
		return ""
	}
	text, _, _ = strings.Cut(text, "\n--- FAIL")
	return strings.TrimSpace(strings.ReplaceAll(text, "\n        ", "\n"))
}
