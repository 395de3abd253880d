package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	overhttp "github.com/kubesim/kubesim/fake/kubectl"
	"github.com/kubesim/kubesim/sim/kubectl"
)

// exitCode is the error of a command that has already printed its messages.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// kubectl implements the command kubesim kubectl. It runs the built-in kubectl, which the browser page and scenarios also use,
// against any API server.
func (p program) kubectl(ctx context.Context, args []string) error {
	target, err := overhttp.Load(args, os.Getenv)
	if err != nil {
		return err
	}
	editor := os.Getenv("KUBE_EDITOR")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	s := &kubectl.Session{Conn: overhttp.Dial(ctx, target.Config.Server, target.Transport(), target.Token), Config: target.Config,
		Files: overhttp.Disk{}, Out: p.stdout, Err: p.stderr,
		Edit: func(_, text string) (string, error) { return overhttp.Edit(editor, text) }}
	var input []byte
	if readsInput(args) {
		if input, err = io.ReadAll(os.Stdin); err != nil {
			return err
		}
	}
	if code := s.Run(args, input); code != 0 {
		return exitCode(code)
	}
	return nil
}

// readsInput reports whether a command line reads stdin.
func readsInput(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return a == "-" || a == "-f-" || a == "-f=-" || a == "--filename=-" || a == "-i" || a == "-it" || a == "--stdin"
	})
}
