// Command e2e runs Kubernetes' own end-to-end tests, as far as they need no container, against kubesim or against a real
// kube-apiserver, each with the real controllers:
//
//	kubesim serve, or       ┌─ kube-controller-manager, as system:kube-controller-manager
//	kube-apiserver ◀─https──┼─ kube-scheduler, as system:kube-scheduler
//	over an etcd            ├─ nodes (in this process): report like kubelets
//	                        └─ ginkgo: e2e.test in several processes
//
// Or it runs them against kubesim serve with its own controllers and nodes, and nothing around it (-target own).
//
// It prints, for each special interest group, how many tests passed, and every failed test that passes on a real server
// (passes.txt) or passed with kubesim's own controllers (passes-own.txt). The warnings and errors in the logs of
// kube-controller-manager and kube-scheduler, without names and numbers, are compared with their logs with a real server
// (complaints.txt). "make e2e" builds the programs and runs it; it takes half an hour on two cores, most of it waiting. It is a
// separate module below testdata, because no other module may have its dependencies.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// version is the version of everything that is built here.
const version = "v1.36.3"

// flags are the command line.
type flags struct {
	target, bin, out, focus, listen string
	server                          string
	procs                           int
	idle                            time.Duration
	keep, record                    bool
}

func main() {
	var f flags
	flag.StringVar(&f.target, "target", "kubesim", "what to test: kubesim or real, with the real controllers, or own: kubesim with its own and its nodes")
	flag.StringVar(&f.bin, "bin", "", "the folder with kubesim, Kubernetes' programs, ginkgo and e2e.test")
	flag.StringVar(&f.out, "out", "", "the folder for logs and reports")
	flag.StringVar(&f.focus, "focus", "", "run the tests whose names match this regular expression only")
	flag.StringVar(&f.listen, "listen", "127.0.0.1:0", "where the server listens; port 0 is any free one")
	flag.StringVar(&f.server, "server", "", "more flags for the server, with spaces between them")
	flag.IntVar(&f.procs, "procs", 8, "how many processes run tests side by side")
	flag.DurationVar(&f.idle, "idle", 0, "how long to let the controllers run alone before the tests")
	flag.BoolVar(&f.keep, "keep", false, "run no tests: start everything and wait to be interrupted")
	flag.BoolVar(&f.record, "record", false, "write what passed and what was complained about to passes.txt and complaints.txt, or to passes-own.txt")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, f); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, f flags) error {
	var err error
	if f.bin, err = filepath.Abs(f.bin); err != nil {
		return err
	}
	if f.out, err = filepath.Abs(filepath.Join(f.out, f.target)); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(f.out), os.MkdirAll(f.out, 0o755)); err != nil {
		return err
	}
	c := &cluster{flags: f}
	defer c.stop()
	if err := c.start(ctx); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig("admin"))
	if err != nil {
		return err
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	playing, stopNodes := context.WithCancel(ctx)
	defer stopNodes()
	if c.own() {
		err = makeClass(ctx, client)
	} else {
		err = startNodes(playing, client, 2)
	}
	if err != nil {
		return err
	}
	fmt.Println("export KUBECONFIG=" + c.kubeconfig("admin"))
	if f.keep {
		<-ctx.Done()
		return nil
	}
	wait(ctx, f.idle)
	results, err := c.test(ctx)
	if err != nil {
		return err
	}
	stopNodes()
	c.stop()
	return report(f, results, c.complaints())
}
