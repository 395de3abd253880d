package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/conformance/testdata/suites/gotest"
)

// inVirtualTime runs the packages of a project, one after the other, by kubesim gotest, which builds them, too.
func (f flags) inVirtualTime(ctx context.Context, p project, packages []binary) (*outcome, error) {
	program, err := filepath.Abs(f.virtual)
	if err != nil {
		return nil, err
	}
	o := &outcome{packages: map[string]gotest.Results{}}
	for _, b := range packages {
		j := job{project: p, binary: b, focus: f.focus, out: filepath.Join(f.work, "log", "virtual", p.name, strings.ReplaceAll(b.path, "/", "_"))}
		results, err := j.runVirtual(ctx, program)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.path, err)
		}
		o.packages[b.path] = results
		fmt.Printf("%-22s %-8s %6.1fs  %s  %s\n", p.name, "virtual", results.Seconds, results.Count(), b.path)
	}
	return o, nil
}

// runVirtual runs the tests and returns how each of them ended. A failing test is not an error.
func (j job) runVirtual(ctx context.Context, program string) (gotest.Results, error) {
	if err := errors.Join(os.RemoveAll(j.out), os.MkdirAll(j.out, 0o755)); err != nil {
		return gotest.Results{}, err
	}
	events, err := os.Create(j.log("events.json"))
	if err != nil {
		return gotest.Results{}, err
	}
	defer events.Close()
	args := []string{"gotest", "-json", "-vet=off", "-ldflags=-s -w", "-timeout=" + limit.String(), "-tags=" + j.tags}
	if len(j.crds) > 0 {
		var folders []string
		for _, folder := range j.crds {
			folders = append(folders, filepath.Join(relativeRoot(j.path), folder))
		}
		args = append(args, "--cluster="+strings.Join(folders, ","))
	}
	args = append(append(args, "."), j.args()...)
	cmd := exec.CommandContext(ctx, program, args...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = j.dir, j.environment(), events, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return gotest.Results{}, err
	}
	if err := os.WriteFile(j.log("stderr.txt"), stderr.Bytes(), 0o644); err != nil {
		return gotest.Results{}, err
	}
	r, err := j.read()
	for _, m := range took.FindAllStringSubmatch(stderr.String(), -1) {
		if d, err := time.ParseDuration(m[1]); err == nil {
			r.Seconds += d.Seconds()
		}
	}
	return r, err
}

// took finds the real time that a package took in the output of kubesim gotest.
var took = regexp.MustCompile(`(?m)^kubesim gotest: \S+: .* in (\S+)$`)
