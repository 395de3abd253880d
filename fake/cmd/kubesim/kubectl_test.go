package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/controller"
)

// The test runs kubectl against a listening server, with TLS and the server's kubeconfig, or with the server's address.
func TestKubectl(t *testing.T) {
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Clock: clock.NewManual(clock.Epoch()), Nodes: 1, Controllers: controller.All})
	l, err := srv.Listen(fake.ListenOptions{TLS: true})
	is.NoErr(err)
	file := filepath.Join(t.TempDir(), "config")
	is.NoErr(os.WriteFile(file, l.KubeConfig(""), 0o600))
	run := func(args ...string) (string, int) {
		var out bytes.Buffer
		code := program{&out, &out}.main(t.Context(), append([]string{"kubectl", "--kubeconfig", file}, args...))
		return out.String(), code
	}
	manifest := filepath.Join(t.TempDir(), "cm.yaml")
	is.NoErr(os.WriteFile(manifest, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"), 0o600))

	out, code := run("apply", "-f", manifest)
	is.Equal(out, "configmap/a created\n") // a local file
	is.Equal(code, 0)
	out, code = run("get", "cm", "nope")
	is.Equal(out, "Error from server (NotFound): configmaps \"nope\" not found\n") // and no other message
	is.Equal(code, 1)
	out, _ = run("run", "one", "--image=nginx")
	is.Equal(out, "pod/one created\n")
	for range 5 {
		srv.Clock.Advance(time.Second)
	}
	out, code = run("exec", "one", "--", "echo", "hi")
	is.Equal(out, "hi\n") // over a WebSocket
	is.Equal(code, 0)
	out, code = run("exec", "one", "--", "false")
	is.Equal(out, "command terminated with exit code 1\n") // from the error channel
	is.Equal(code, 1)
	out, code = run("config", "set-context", "--current", "--namespace=x")
	is.True(strings.Contains(out, "changes no kubeconfig")) // files do not change
	is.Equal(code, 1)
}
