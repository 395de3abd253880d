// Package inside is imported by the test binaries that kubesim gotest builds. It runs kubesim's etcd and kube-apiserver in the
// test process: the modified package os calls the function that Program returns instead of starting a process.
package inside

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/kubesim/kubesim/fake/dropin"
)

// Program returns a function that replaces the program with a name or path. It returns nil for programs other than etcd and
// kube-apiserver. The function returns the exit code when the program has ended or after stop is closed.
func Program(name string) func(args []string, stdout, stderr *os.File, stop <-chan struct{}) int {
	var run func(ctx context.Context, args []string, stdout, stderr io.Writer) error
	switch dropin.Program(name) {
	case "etcd":
		run = dropin.Etcd
	case "kube-apiserver":
		run = dropin.APIServer
	default:
		return nil
	}
	return func(args []string, stdout, stderr *os.File, stop <-chan struct{}) int {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			select {
			case <-stop:
				cancel()
			case <-ctx.Done():
			}
		}()
		if err := run(ctx, args, writer(stdout), writer(stderr)); err != nil {
			fmt.Fprintf(writer(stderr), "%s: %v\n", dropin.Program(name), err)
			return 1
		}
		return 0
	}
}

// StartCluster starts the API server of --cluster, if it was given, and sets KUBECONFIG.
func StartCluster() {
	list, ok := os.LookupEnv(dropin.ClusterVariable)
	if !ok {
		return
	}
	if err := startCluster(filepath.SplitList(list)); err != nil {
		fmt.Fprintf(os.Stderr, "kubesim gotest: --cluster: %v\n", err)
		os.Exit(1)
	}
}

func startCluster(files []string) error {
	config, err := dropin.Cluster(files, os.Stderr)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp("", "kubeconfig-")
	if err != nil {
		return err
	}
	_, err = f.Write(config)
	return errors.Join(err, f.Close(), os.Setenv("KUBECONFIG", f.Name()))
}

// EndTest returns the failures that oracles have found since the last call. If rest is true, it first waits until the clients of
// servers with the oracle rest are at rest.
func EndTest(rest bool) []string { return dropin.EndTest(rest) }

// writer returns f as a writer. If f is nil, the output is discarded.
func writer(f *os.File) io.Writer {
	if f == nil {
		return io.Discard
	}
	return f
}
