package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/kubesim/kubesim/sim/conformance/testdata/suites/gotest"
)

// batch is the packages of a project that one kubesim gotest runs in virtual time.
type batch struct {
	jobs    []job
	program string // kubesim
	out     string // for the output of all packages
}

// inVirtualTime runs the packages of a project, one after the other, by kubesim gotest, which builds them, too. Packages with Ginkgo
// are a batch of their own, because the others do not have Ginkgo's flags.
func (f flags) inVirtualTime(ctx context.Context, p project, packages []binary) (*outcome, error) {
	program, err := filepath.Abs(f.virtual)
	if err != nil {
		return nil, err
	}
	logs := filepath.Join(f.work, "log", "virtual", p.name)
	specs := batch{program: program, out: filepath.Join(logs, "specs")}
	tests := batch{program: program, out: filepath.Join(logs, "tests")}
	for _, b := range packages {
		into := &tests
		if b.ginkgo {
			into = &specs
		}
		into.jobs = append(into.jobs, job{project: p, binary: b, focus: f.focus, out: filepath.Join(logs, strings.ReplaceAll(b.path, "/", "_"))})
	}
	o := &outcome{packages: map[string]gotest.Results{}}
	for _, b := range []batch{specs, tests} {
		if err := b.run(ctx, o); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// run runs the tests of a batch and adds the results of each package to the outcome. A failing test is not an error.
func (b batch) run(ctx context.Context, o *outcome) error {
	if len(b.jobs) == 0 {
		return nil
	}
	for _, dir := range append(b.outs(), b.out) {
		if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
			return err
		}
	}
	if err := b.start(ctx); err != nil {
		return err
	}
	seconds, err := b.split()
	if err != nil {
		return err
	}
	for _, j := range b.jobs {
		r, err := j.read()
		if err != nil {
			return fmt.Errorf("%s: %w", j.path, err)
		}
		r.Seconds = seconds[j.binary.name]
		o.packages[j.path] = r
		fmt.Printf("%-22s %-8s %6.1fs  %s  %s\n", j.project.name, "virtual", r.Seconds, r.Count(), j.path)
	}
	return nil
}

// outs returns the folders for the logs of the packages.
func (b batch) outs() (dirs []string) {
	for _, j := range b.jobs {
		dirs = append(dirs, j.out)
	}
	return dirs
}

// report is the name of Ginkgo's report in the folder of a package. Its path in args is the same for all packages.
const report = "kubesim-suites-report.json"

// start runs kubesim gotest. The events of all packages go to a file, and stderr to another.
func (b batch) start(ctx context.Context) error {
	j := b.jobs[0] // the packages differ in their paths only
	source := filepath.Join(j.dir, relativeRoot(j.path))
	events, err := os.Create(filepath.Join(b.out, "events.json"))
	if err != nil {
		return err
	}
	defer events.Close()
	errs, err := os.Create(filepath.Join(b.out, "stderr.txt"))
	if err != nil {
		return err
	}
	defer errs.Close()
	args := []string{"gotest", "-json", "-p=1", "-vet=off", "-ldflags=-s -w", "-timeout=" + limit.String(), "-tags=" + j.tags}
	if len(j.crds) > 0 {
		args = append(args, "--cluster="+strings.Join(j.crds, ","))
	}
	for _, j := range b.jobs {
		if err := os.Remove(filepath.Join(j.dir, report)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		args = append(args, "./"+j.path)
	}
	cmd := exec.CommandContext(ctx, b.program, append(args, j.args(report)...)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = source, append(j.environment(), "PWD="+source), events, errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return err
	}
	return nil
}

// split copies the events of each package, and moves Ginkgo's report about it, to the package's folder for logs. It returns the real
// seconds that the tests of each package took, by import path. A package that ran in virtual and then in real time took the sum.
func (b batch) split() (seconds map[string]float64, err error) {
	text, err := os.ReadFile(filepath.Join(b.out, "events.json"))
	if err != nil {
		return nil, err
	}
	seconds, of := map[string]float64{}, map[string]*bytes.Buffer{}
	for line := range bytes.Lines(text) {
		var event struct {
			Package, Action, Test string
			Elapsed               float64
		}
		if json.Unmarshal(line, &event) != nil {
			continue // output of the go command
		}
		if of[event.Package] == nil {
			of[event.Package] = &bytes.Buffer{}
		}
		of[event.Package].Write(line)
		if event.Test == "" && event.Action != "output" {
			seconds[event.Package] += event.Elapsed
		}
	}
	for _, j := range b.jobs {
		events := of[j.binary.name]
		if events == nil {
			return nil, fmt.Errorf("kubesim gotest did not run %s; its output is in %s", j.binary.name, b.out)
		}
		if err := os.WriteFile(j.log("events.json"), events.Bytes(), 0o644); err != nil {
			return nil, err
		}
		if err := os.Rename(filepath.Join(j.dir, report), j.log("ginkgo.json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err // a package that ended early has no report
		}
	}
	return seconds, nil
}
