package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/fake/dropin"
	"github.com/kubesim/kubesim/fake/gotest"
)

// gotestUsage returns the help text of kubesim gotest.
func gotestUsage() string { return gotestText + "\n" + variablesText + dropin.VariablesHelp() }

const gotestText = `kubesim gotest [flags] [flags of go test] PACKAGES runs Go tests in virtual time: time stands still while code runs, and jumps to
the next timer when every goroutine waits. Tests that wait for minutes take seconds. etcd and kube-apiserver, which suites with
envtest start, are kubesim's, in the test process. Neither sources nor go.mod change. All flags of go test may be given, also
those of Ginkgo and those that the tests define (after -args if the name is similar to another flag's). It needs Linux and go.

  --date DATE      the date at the start, such as 2030-01-31 or 2030-01-31T12:00:00Z (default: now; with --seed: today at 00:00)
  --seed N         take all random choices from the seed, and run one goroutine at a time: two runs are alike
  --repeat N       run each package with N seeds; print which tests fail with which, and the smallest plan of KUBESIM_SWARM
  --hang 1m        end a test whose virtual time has stood still for so long, with a dump of its goroutines
  --cluster FILES  start an API server in the test process and set KUBECONFIG, for tests that expect a cluster. FILES are the
                   objects in it, with commas between files and folders, such as config/crd/bases; or empty
  --real           run in real time, over kubesim's etcd and kube-apiserver
  --kubesim DIR    the folder of kubesim's source (default: that of this program, or its version from the module proxy)
  --keep DIR       keep the temporary files (go.mod, changed files of the Go tree) in DIR

A package that needs cgo runs in real time. So does a package, after it has failed, whose tests start other programs or connect to
other machines. Both are named on stderr.
`

// gotest implements kubesim gotest.
func (p program) gotest(ctx context.Context, args []string) error {
	if slices.ContainsFunc(args, func(a string) bool { return a == "--help" || a == "-help" || a == "-h" }) {
		return helpText(gotestUsage())
	}
	o, err := gotest.Parse(args)
	if err != nil {
		return usagef("gotest: %v; see kubesim gotest --help", err)
	}
	err = gotest.Run(ctx, o, release, p.stdout, p.stderr)
	if errors.Is(err, gotest.ErrFailed) {
		return exitCode(1)
	}
	if err != nil {
		return fmt.Errorf("gotest: %w", err)
	}
	return nil
}

// gotestExec implements the hidden command that go test runs for each test binary.
func (p program) gotestExec(args []string) error {
	code, err := gotest.Exec(args)
	if err == nil && code != 0 {
		return exitCode(code)
	}
	return err
}
