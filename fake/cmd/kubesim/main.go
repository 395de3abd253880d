// Command kubesim serves a simulated Kubernetes API server.
//
//	kubesim serve [flags]      serve until interrupted
//	kubesim version            print the version of Kubernetes that is simulated
//
// The first line on stdout is "serving http://127.0.0.1:PORT"; the kubectl line to try follows on stderr.
package main

import (
	"fmt"
	"os"

	"github.com/kubesim/kubesim/sim"
)

const usage = `kubesim simulates the Kubernetes API server ` + sim.Version + `.

  kubesim serve [flags]   serve it on a local port; "kubesim serve --help" lists the flags
  kubesim version         print the simulated version
`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "kubesim:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, usage)
		return fmt.Errorf("say what to do: kubesim serve")
	}
	switch args[0] {
	case "serve":
		return serve(args[1:])
	case "version":
		fmt.Println(sim.Version)
		return nil
	case "help", "-h", "--help":
		fmt.Print(usage)
		return nil
	}
	return fmt.Errorf("there is no command %q; there are serve and version", args[0])
}
