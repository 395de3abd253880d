package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"

	"github.com/kubesim/kubesim/fake/dropin"
)

// envtestUsage returns the help text of kubesim envtest.
func envtestUsage() string {
	return `kubesim envtest [--dir DIR] puts kubesim's simulations of etcd and kube-apiserver, and kubectl if there is one, into a
folder and prints its path. All test suites that use envtest can use them:

  KUBEBUILDER_ASSETS=$(kubesim envtest) go test ./...

  --dir DIR   create the folder below DIR (default: the user's cache)

TEST_ASSET_ETCD and TEST_ASSET_KUBE_APISERVER may also name the programs; kube-apiserver --help lists which of its flags
are honoured. ` + variablesText + dropin.VariablesHelp()
}

// variablesText introduces the environment variables in a help text.
const variablesText = `These environment variables configure every server that a suite starts, and a server does not start
with another one whose name begins with KUBESIM_:

`

// envtest implements kubesim envtest: it prints the path of a directory for KUBEBUILDER_ASSETS.
func (p program) envtest(args []string) error {
	set := newFlags("envtest")
	dir := set.String("dir", "", "")
	if err := set.Parse(args); errors.Is(err, flag.ErrHelp) {
		return helpText(envtestUsage())
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
