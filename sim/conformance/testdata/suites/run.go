package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/conformance/testdata/suites/gotest"
)

// job is one run of a test binary over the programs in a folder.
type job struct {
	project
	binary
	assets string // the folder with etcd and kube-apiserver
	out    string // for logs and reports
	focus  string // a regular expression: other specs and tests are not run
}

// limit is the maximal time of the tests of a package.
const limit = 20 * time.Minute

// run runs the tests and returns how each of them ended.
func (j job) run(ctx context.Context) (gotest.Results, error) {
	temp := filepath.Join(j.out, "tmp")
	if err := errors.Join(os.RemoveAll(j.out), os.MkdirAll(temp, 0o755)); err != nil {
		return gotest.Results{}, err
	}
	defer os.RemoveAll(temp)
	env := append(j.environment(), "TMPDIR="+temp, "KUBEBUILDER_ASSETS="+j.assets)
	if len(j.crds) > 0 {
		c, err := startCluster(ctx, j)
		if err != nil {
			return gotest.Results{}, err
		}
		defer c.stop()
		env = append(env, "KUBECONFIG="+c.kubeconfig)
	}
	defer gotest.EndLeft(temp)
	start := time.Now()
	if err := j.test(ctx, env); err != nil {
		return gotest.Results{}, err
	}
	seconds := time.Since(start).Seconds()
	r, err := j.read()
	r.Seconds = seconds
	return r, err
}

// environment returns the environment of this process without the variables that would direct a suite to another server.
func (j job) environment() (env []string) {
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		if name != "KUBECONFIG" && name != "USE_EXISTING_CLUSTER" && !strings.HasPrefix(name, "TEST_ASSET_") && !strings.HasPrefix(name, "KUBEBUILDER_") {
			env = append(env, e)
		}
	}
	return append(env, append([]string{"PWD=" + j.dir}, j.env...)...)
}

// test runs the binary like go test, and writes its output to events.json and Ginkgo's report to ginkgo.json.
// A failing test is not an error.
func (j job) test(ctx context.Context, env []string) error {
	return gotest.Run{File: j.file, Dir: j.dir, Path: j.path, Args: j.args(j.log("ginkgo.json")), Env: env, Limit: limit, Events: j.log("events.json")}.Start(ctx)
}

// args returns the arguments of the test binary. Ginkgo writes its report to the given file.
func (j job) args(file string) (args []string) {
	if j.ginkgo {
		// The same seed everywhere: specs run in the same order.
		args = append(args, "-ginkgo.v", "-ginkgo.no-color", "-ginkgo.seed=1", "-ginkgo.json-report="+file)
	}
	switch {
	case j.focus != "" && j.ginkgo:
		args = append(args, "-ginkgo.focus="+j.focus)
	case j.focus != "":
		args = append(args, "-test.run="+j.focus)
	}
	return args
}

func (j job) log(name string) string { return filepath.Join(j.out, name) }
