// Command kubesim serves a simulated Kubernetes API server.
//
//	kubesim serve [flags]      serve until interrupted; kubesim serve --help lists the flags
//	kubesim envtest            print a folder for KUBEBUILDER_ASSETS
//	kubesim run SCENARIO       run a scenario and print its transcript
//	kubesim open FILE          show a scenario or a recording in the page
//	kubesim sweep SCENARIO     run a scenario under the random faults of many seeds
//	kubesim replay TRACE       run a trace again and compare
//	kubesim test PACKAGES      run Go tests so that runs are byte-identical
//	kubesim gotest PACKAGES    run Go tests, such as suites with envtest, in virtual time
//	kubesim check PATHS        ask a server whether it accepts the objects in files
//	kubesim proxy              forward requests to a cluster, and record them
//	kubesim replay-recording FILE   serve what a recording contains
//	kubesim scenario-from FILE      make a scenario or a Go test from a recording or an audit log
//	kubesim kubectl COMMAND    kubectl's commands, for any API server
//	kubesim version            print the version of kubesim, and of the Kubernetes that it simulates
//	kubesim help               list the commands
//
// The first line on stdout is "serving http://127.0.0.1:PORT"; an example command follows on stderr.
//
//	arguments ─ run ─┬─ serve   parseFlags ─▶ fake.New ─▶ Listen ─▶ kubeconfig file ─▶ "serving …" ─▶ wait
//	                 ├─ envtest ─▶ fake/dropin, which also runs if the program is named etcd or kube-apiserver
//	                 ├─ run, sweep, replay ─▶ sim/scenario
//	                 ├─ open ─▶ a link to the page, which it serves if no other process does
//	                 ├─ test ─▶ go test, as js/wasm under node
//	                 ├─ gotest ─▶ fake/gotest ─▶ go test, which calls kubesim gotest-exec for each test binary
//	                 ├─ check ─▶ fake/check
//	                 ├─ proxy, replay-recording, scenario-from ─▶ fake/record
//	                 ├─ kubectl ─▶ sim/kubectl, over fake/kubectl
//	                 ├─ version
//	                 └─ help
//
// The exit code is 0 on success, 1 if something fails, and 2 if the arguments are invalid.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/kubesim/kubesim/fake/dropin"
	"github.com/kubesim/kubesim/fake/gotest"
	"github.com/kubesim/kubesim/sim"
)

const usage = `kubesim simulates the Kubernetes API server ` + sim.Version + `.

  kubesim serve [flags]   run the server on a local port; "kubesim serve --help" lists the flags
  kubesim envtest         print a folder with etcd and kube-apiserver: KUBEBUILDER_ASSETS=$(kubesim envtest) go test ./...
  kubesim run SCENARIO    run a scenario (.txtar) and print its transcript; this and the next commands have --help
  kubesim open FILE       print a link that opens a scenario or a recording in the page
  kubesim sweep SCENARIO  run a scenario under the random faults of many seeds
  kubesim replay TRACE    repeat a run from its trace, and compare
  kubesim test PACKAGES   run Go tests as js/wasm, where goroutines run in the same order each time
  kubesim gotest PACKAGES run Go tests, such as suites with envtest, in virtual time
  kubesim check PATHS     ask a server whether it accepts the objects in files: kubesim check --minors 1.36,1.37 deploy/
  kubesim proxy           forward requests to a cluster and record them: kubesim proxy --to KUBECONFIG --record FILE
  kubesim replay-recording FILE  serve the answers and watch events of a recording
  kubesim scenario-from FILE     make a scenario or a Go test from a recording or an audit log
  kubesim kubectl WORD …  kubectl's commands, for any API server: kubesim kubectl --server http://127.0.0.1:8001 get pods
  kubesim version         print the versions of kubesim and of the simulated Kubernetes
  kubesim help            print this help
`

// release is the version of a released program. make release sets it with the linker's flag -X main.release=v0.1.0.
var release string

// ownVersion returns the version of this program: that of the release, that of the module from which go install or go run built it,
// or "(devel)".
func ownVersion() string {
	version := release
	if info, ok := debug.ReadBuildInfo(); ok {
		version = cmp.Or(version, info.Main.Version)
	}
	return cmp.Or(version, "(devel)")
}

// program holds the outputs of the command.
type program struct {
	stdout, stderr io.Writer
}

// usageError is an error in the arguments.
type usageError string

func (e usageError) Error() string { return string(e) }

// helpText is the error of a command that was called with --help: the text to print.
type helpText string

func (h helpText) Error() string { return string(h) }

func usagef(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(program{os.Stdout, os.Stderr}.runAs(ctx, os.Args[0], os.Args[1:]))
}

// runAs runs the program that the name of the executable selects, and returns the exit code. It stops when ctx ends.
func (p program) runAs(ctx context.Context, name string, args []string) int {
	switch dropin.Program(name) {
	case "etcd":
		return p.exit("etcd", dropin.Etcd(ctx, args, p.stdout, p.stderr))
	case "kube-apiserver":
		return p.exit("kube-apiserver", dropin.APIServer(ctx, args, p.stdout, p.stderr))
	}
	return p.main(ctx, args)
}

// main runs the command kubesim, as opposed to etcd or kube-apiserver (see runAs), and returns its exit code.
func (p program) main(ctx context.Context, args []string) int {
	return p.exit("kubesim", p.run(ctx, args))
}

// exit prints the error of the named program and returns the exit code.
func (p program) exit(name string, err error) int {
	if err == nil {
		return 0
	}
	if help, ok := err.(helpText); ok {
		fmt.Fprint(p.stdout, help)
		return 0
	}
	if code, ok := err.(exitCode); ok {
		return int(code)
	}
	fmt.Fprintf(p.stderr, "%s: %s\n", name, strings.TrimPrefix(err.Error(), "kubesim: "))
	if errors.As(err, new(usageError)) {
		return 2
	}
	return 1
}

func (p program) run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		fmt.Fprint(p.stderr, usage)
		return usagef("no command; for example: kubesim serve")
	}
	switch args[0] {
	case "serve":
		return p.serve(ctx, args[1:])
	case "envtest":
		return p.envtest(args[1:])
	case "run":
		return p.runScenario(args[1:])
	case "open":
		return p.open(ctx, args[1:])
	case "sweep":
		return p.sweep(ctx, args[1:])
	case "replay":
		return p.replay(args[1:])
	case "test":
		return p.test(ctx, args[1:])
	case "gotest":
		return p.gotest(ctx, args[1:])
	case gotest.ExecCommand:
		return p.gotestExec(args[1:])
	case "check":
		return p.check(args[1:])
	case "proxy":
		return p.proxy(ctx, args[1:])
	case "replay-recording":
		return p.replayRecording(ctx, args[1:])
	case "scenario-from":
		return p.scenarioFrom(args[1:])
	case "kubectl":
		return p.kubectl(ctx, args[1:])
	case "version", "--version":
		fmt.Fprintf(p.stdout, "kubesim %s\nKubernetes %s\n", ownVersion(), sim.Version)
		return nil
	case "help", "-h", "-help", "--help":
		return helpText(usage)
	}
	return usagef("there is no command %q; there are serve, envtest, run, open, sweep, replay, test, gotest, check, proxy, replay-recording, scenario-from, kubectl, version and help", args[0])
}
