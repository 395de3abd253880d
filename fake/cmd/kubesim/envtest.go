package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"

	"github.com/kubesim/kubesim/fake/dropin"
)

const envtestUsage = `kubesim envtest [--dir DIR] puts kubesim's simulations of etcd and kube-apiserver, and kubectl if there is one, into a
folder and prints its path. All test suites that use envtest can use them:

  KUBEBUILDER_ASSETS=$(kubesim envtest) go test ./...

  --dir DIR   create the folder below DIR (default: the user's cache)

TEST_ASSET_ETCD and TEST_ASSET_KUBE_APISERVER may also name the programs; kube-apiserver --help lists which of its flags
are honoured. These environment variables configure every server that a suite starts:

  KUBESIM_SEED=7        the seed of uids, generated names and random faults
  KUBESIM_TRACE=FILE    writes each step to FILE as a line of JSON; further servers write to FILE.2, FILE.3 and so on
  KUBESIM_FAULTS=FILE   faults, one per line: on update pods times=1 do fail Conflict
`

// envtest prints the folder.
func (p program) envtest(args []string) error {
	set := newFlags("envtest")
	dir := set.String("dir", "", "")
	if err := set.Parse(args); errors.Is(err, flag.ErrHelp) {
		return helpText(envtestUsage)
	} else if err != nil || set.NArg() > 0 {
		return usagef("envtest: %v; see kubesim envtest --help", cmp.Or(err, fmt.Errorf("%q is not a flag", set.Arg(0))))
	}
	path, err := dropin.Folder(*dir)
	if err != nil {
		return fmt.Errorf("envtest: %w", err)
	}
	fmt.Fprintln(p.stdout, path)
	return nil
}
