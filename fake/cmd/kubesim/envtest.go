package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"

	"github.com/kubesim/kubesim/fake/dropin"
)

const envtestUsage = `kubesim envtest [--dir DIR] puts etcd and kube-apiserver as kubesim simulates them, and kubectl if there is one, into a
folder and prints its path. Any suite over envtest runs over them:

  KUBEBUILDER_ASSETS=$(kubesim envtest) go test ./...

  --dir DIR   make the folder below DIR (default: the user's cache)

TEST_ASSET_ETCD and TEST_ASSET_KUBE_APISERVER may name the programs, too; kube-apiserver --help says which of its flags
are honoured. Variables that reach every server that a suite starts:

  KUBESIM_SEED=7        what uids, generated names and random faults are drawn from
  KUBESIM_TRACE=FILE    each step is written to FILE as a line of JSON; further servers write to FILE.2, FILE.3 and so on
  KUBESIM_FAULTS=FILE   what goes wrong, one fault per line: on update pods times=1 do fail Conflict
`

// envtest prints the folder.
func (p program) envtest(args []string) error {
	set := newFlags("envtest")
	dir := set.String("dir", "", "")
	if err := set.Parse(args); errors.Is(err, flag.ErrHelp) {
		return helpText(envtestUsage)
	} else if err != nil || set.NArg() > 0 {
		return usagef("envtest: %v; kubesim envtest --help says more", cmp.Or(err, fmt.Errorf("%q is no flag", set.Arg(0))))
	}
	path, err := dropin.Folder(*dir)
	if err != nil {
		return fmt.Errorf("envtest: %w", err)
	}
	fmt.Fprintln(p.stdout, path)
	return nil
}
