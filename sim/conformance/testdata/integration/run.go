package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/conformance/testdata/suites/gotest"
)

// A package is ended when its tests take longer than limit together, or when they print nothing for longer than silent: one of
// them waits for something that does not come. It has failed, and those after it are run then, with as much time.
const (
	limit  = 40 * time.Minute
	silent = 3 * time.Minute
)

// job is one run of a package over the programs in a folder.
type job struct {
	pkg
	assets string // the folder with etcd and kube-apiserver
	out    string // for logs and events
	temp   string // for temporary files: its path is short, because there are sockets in it
	focus  string // as -run of go test
	limit  time.Duration
}

// run runs the tests of the package and returns how each ended. When the process ends before all tests have, it is started
// again for the others.
func (j job) run(ctx context.Context) (gotest.Results, error) {
	r := gotest.Results{Verdicts: map[string]string{}}
	logs := filepath.Join(j.out, "servers")
	if err := errors.Join(os.RemoveAll(j.out), os.MkdirAll(logs, 0o755), os.RemoveAll(j.temp), os.MkdirAll(j.temp, 0o755)); err != nil {
		return r, err
	}
	defer os.RemoveAll(j.temp)
	defer gotest.EndLeft(j.temp)
	env := append(os.Environ(), "PWD="+j.dir, "TMPDIR="+j.temp, "INTEGRATION_ASSETS="+j.assets, "INTEGRATION_LOGS="+logs)
	env = slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, "KUBE") })
	left, err := j.tests(ctx)
	if err != nil {
		return r, err
	}
	for part := 1; len(left) > 0; part++ {
		events := filepath.Join(j.out, fmt.Sprintf("events%d.json", part))
		pattern := "^(" + strings.Join(left, "|") + ")$"
		if j.focus != "" {
			pattern = j.focus
		}
		start := time.Now()
		run := gotest.Run{File: j.binary, Dir: j.dir, Path: j.path, Args: []string{"-test.run=" + pattern}, Env: env, Limit: j.limit, Silent: silent, Events: events}
		if err := run.Start(ctx); err != nil {
			return r, err
		}
		r.Seconds += time.Since(start).Seconds()
		gotest.EndLeft(j.temp)
		ended, err := gotest.ReadTests(events, false)
		if err != nil {
			return r, err
		}
		whole := ended[gotest.Whole]
		delete(ended, gotest.Whole)
		maps.Copy(r.Verdicts, ended)
		rest := slices.DeleteFunc(slices.Clone(left), func(name string) bool { return ended[name] != "" })
		if len(rest) == len(left) { // not one was started
			r.Verdicts[gotest.Whole] = gotest.Fail
			break
		}
		if left = rest; j.focus != "" {
			break
		}
		if whole != "" && len(left) == 0 {
			r.Verdicts[gotest.Whole] = whole
		}
	}
	return r, nil
}

var test = regexp.MustCompile(`^Test\w*$`)

// tests returns the names of the tests of the package.
func (j job) tests(ctx context.Context) (names []string, err error) {
	out, err := gotest.Command(ctx, j.dir, j.binary, "-test.list", ".")
	if err != nil {
		return nil, fmt.Errorf("cannot list the tests: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		if name := strings.TrimSpace(line); test.MatchString(name) {
			names = append(names, name)
		}
	}
	return names, nil
}
