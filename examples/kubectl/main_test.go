package kubectl

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/version"
	"k8s.io/kubectl/pkg/cmd"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubesim/kubesim/examples/bubble"
	"github.com/kubesim/kubesim/fake"
)

// exit is the value with which kubectl panics in these tests, instead of ending the process.
type exit struct {
	text string
	code int
}

func TestMain(m *testing.M) {
	bubble.Ready()
	_ = version.SetDynamicVersion("v0.0.0-examples") // a build without -ldflags has a version that kubectl cannot read
	cmdutil.BehaviorOnFatal(func(text string, code int) { panic(exit{text, code}) })
	os.Exit(m.Run())
}

// kubectl runs commands with one server.
type kubectl struct {
	t     *testing.T
	flags func() *genericclioptions.ConfigFlags
	end   func() // closes the server
}

// start returns a new server and a kubectl for it.
func start(t *testing.T, options ...fake.Options) (*fake.Server, kubectl) {
	srv := fake.RunT(t, options...)
	k := inProcess(t, srv.Transport())
	k.end = srv.Close
	return srv, k
}

// inProcess returns a kubectl that sends its requests with a RoundTripper. The https scheme makes it send --token, too.
func inProcess(t *testing.T, transport http.RoundTripper) kubectl {
	url, cache, none := "https://kubesim.invalid", t.TempDir(), os.DevNull
	return kubectl{t: t, flags: func() *genericclioptions.ConfigFlags {
		flags := genericclioptions.NewConfigFlags(true)
		flags.APIServer, flags.CacheDir, flags.KubeConfig = &url, &cache, &none
		return flags.WithWrapConfigFn(func(c *rest.Config) *rest.Config {
			c.Transport, c.QPS = transport, -1
			return c
		})
	}}
}

// onWatch is a RoundTripper that calls a function once, as soon as the first watch has begun. It allows a test to act while kubectl
// waits, without another goroutine and without sleeping.
type onWatch struct {
	next http.RoundTripper
	once sync.Once
	do   func()
}

func (o *onWatch) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := o.next.RoundTrip(r)
	if err == nil && r.URL.Query().Has("watch") {
		o.once.Do(o.do)
	}
	return response, err
}

// waiting returns a kubectl for a new server that calls do when the first watch has begun.
func waiting(t *testing.T, do func(*fake.Server, kubernetes.Interface)) kubectl {
	srv := fake.RunT(t)
	client := kubernetes.NewForConfigOrDie(&rest.Config{Host: srv.URL(), Transport: srv.Transport(), QPS: -1})
	k := inProcess(t, &onWatch{next: srv.Transport(), do: func() { do(srv, client) }})
	k.end = srv.Close
	return k
}

// file returns the name of a new file with a manifest.
func (k kubectl) file(manifest string) string {
	k.t.Helper()
	name := filepath.Join(k.t.TempDir(), "manifest.yaml")
	is.New(k.t).NoErr(os.WriteFile(name, []byte(manifest), 0o600))
	return name
}

// run runs a command line whose arguments are separated by spaces. Its error contains kubectl's standard error.
func (k kubectl) run(stdout io.Writer, line string) (err error) {
	var stderr bytes.Buffer
	defer func() {
		if e, ok := recover().(exit); ok {
			err = errors.New(stderr.String() + e.text)
		}
	}()
	command := cmd.NewKubectlCommand(cmd.KubectlOptions{
		ConfigFlags: k.flags(),
		IOStreams:   genericiooptions.IOStreams{In: strings.NewReader(""), Out: stdout, ErrOut: &stderr},
	})
	command.SetArgs(strings.Fields(line))
	command.SetOut(stdout)
	command.SetErr(&stderr)
	return command.Execute()
}

// do returns the output of a command that succeeds.
func (k kubectl) do(line string) string {
	k.t.Helper()
	var out bytes.Buffer
	if err := k.run(&out, line); err != nil {
		k.t.Fatalf("kubectl %s: %v\n%s", line, err, out.String())
	}
	return out.String()
}

// fail returns the error of a command that has to fail.
func (k kubectl) fail(line string) string {
	k.t.Helper()
	err := k.run(io.Discard, line)
	is.New(k.t).True(err != nil) // it fails
	return strings.TrimSpace(err.Error())
}
