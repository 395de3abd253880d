package kubectl

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// counter prints a number every second, and web serves port 80.
const counter = `
apiVersion: v1
kind: Pod
metadata: {name: counter}
spec:
  nodeName: node-1
  restartPolicy: Never
  containers:
  - name: count
    image: busybox
    command: [sh, -c, 'for i in 1 2 3 4; do echo $i; sleep 1; done']
---
apiVersion: v1
kind: Pod
metadata: {name: web, annotations: {kubesim.io/http: hello, kubesim.io/cpu: 250m, kubesim.io/memory: 64Mi}}
spec:
  nodeName: node-1
  containers:
  - name: web
    image: nginx
    ports: [{containerPort: 80}]
`

// nodes returns a server with a node that runs counter and web, and a kubectl that connects to it over a socket, which upgraded
// connections require. Its clock does not advance by itself.
func nodes(t *testing.T) (*fake.Server, kubectl) {
	t.Helper()
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Nodes: 1})
	l, err := srv.Listen(fake.ListenOptions{})
	is.NoErr(err)
	config := filepath.Join(t.TempDir(), "kubeconfig")
	is.NoErr(os.WriteFile(config, l.KubeConfig(""), 0o600))
	k := withConfig(t, config)
	k.do("apply -f " + k.file(counter))
	srv.Clock.Advance(time.Second)
	return srv, k
}

// onWrite is a writer that calls a function after each write.
type onWrite struct {
	bytes.Buffer
	do func()
}

func (w *onWrite) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	w.do()
	return n, err
}

func TestLogs(t *testing.T) {
	is := is.New(t)
	srv, k := nodes(t)
	is.Equal(k.do("logs counter"), "1\n")
	srv.Clock.Advance(time.Second)
	is.Equal(k.do("logs counter --tail 1 --timestamps"), "2026-01-01T00:00:02.000000000Z 2\n")

	out := &onWrite{do: func() { srv.Clock.Advance(time.Second) }} // each line lets the next one come
	is.NoErr(k.run(out, "logs counter -f"))
	is.Equal(out.String(), "1\n2\n3\n4\n")
	is.Equal(k.do("get pod counter -o jsonpath={.status.phase}"), "Succeeded")
	is.True(strings.Contains(k.fail("logs counter -p"), `previous terminated container "count" in pod "counter" not found`))
}

func TestExec(t *testing.T) {
	is := is.New(t)
	_, k := nodes(t)
	is.Equal(k.do("exec web -- echo hello"), "hello\n")
	is.Equal(k.do("exec web -- hostname"), "web\n")
	is.Equal(k.fail("exec web -- false"), "command terminated with exit code 1")
	t.Setenv("KUBECTL_REMOTE_COMMAND_WEBSOCKETS", "false") // as older ones do: over SPDY
	is.Equal(k.do("exec web -- echo hello"), "hello\n")
	is.Equal(k.fail("exec web -- false"), "command terminated with exit code 1")
}

func TestPortForward(t *testing.T) {
	for _, websockets := range []string{"true", "false"} {
		t.Run("websockets "+websockets, func(t *testing.T) {
			is := is.New(t)
			t.Setenv("KUBECTL_PORT_FORWARD_WEBSOCKETS", websockets)
			_, k := nodes(t)
			answer, once := make(chan string, 1), sync.Once{}
			out := &onWrite{}
			out.do = func() {
				var from string
				if _, err := fmt.Sscanf(out.String(), "Forwarding from %s -> 80", &from); err != nil {
					return
				}
				once.Do(func() {
					go func() {
						said := get("http://" + from)
						if err := k.run(io.Discard, "delete pod web --force --grace-period 0"); err != nil { // which ends the command
							t.Errorf("delete pod web: %v", err)
						}
						answer <- said
					}()
				})
			}
			is.True(strings.Contains(k.portForward(out), "lost connection to pod"))
			is.Equal(<-answer, "hello")
		})
	}
}

// portForward runs the command until its pod is gone, and returns its output.
func (k kubectl) portForward(out io.Writer) string {
	err := k.run(out, "port-forward pod/web :80 --address 127.0.0.1")
	if err == nil {
		return ""
	}
	return err.Error()
}

func get(url string) string {
	res, err := http.Get(url)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err.Error()
	}
	return string(body)
}

func TestTop(t *testing.T) {
	is := is.New(t)
	_, k := nodes(t)
	is.Equal(strings.Fields(k.do("top nodes --no-headers")), []string{"node-1", "351m", "4%", "592Mi", "1%"})
	is.Equal(strings.Fields(k.do("top pod web --no-headers")), []string{"web", "250m", "64Mi"})
}
