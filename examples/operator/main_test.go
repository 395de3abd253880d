package operator

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/matryer/is"
	"k8s.io/client-go/rest"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/examples/bubble"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/ctrl"
)

func TestMain(m *testing.M) {
	bubble.Ready()
	controllerruntime.SetLogger(logr.Discard())
	flag.Parse()
	if *recordFrom != "" {
		if err := recordRun(*recordFrom); err != nil {
			fmt.Fprintln(os.Stderr, "record:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// site is a cluster with the operator's definitions, and a client.
type site struct {
	t   *testing.T
	srv *fake.Server
	client.Client
	warnings *warnings
}

// warnings collects the warnings of the server, like kubectl.
type warnings struct {
	mu   sync.Mutex
	text []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, text)
}

// take returns the warnings since the last call.
func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.text
	w.text = nil
	return text
}

// inBubble runs a test in a bubble, with a cluster to which config/ was applied.
func inBubble(t *testing.T, test func(t *testing.T, is *is.I, c site)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
		is.NoErr(srv.Load("config/crd.yaml", "config/webhooks.yaml"))
		w := &warnings{}
		cfg := &rest.Config{Host: srv.URL(), Transport: srv.Transport(), QPS: -1, WarningHandler: w}
		c, err := client.New(cfg, client.Options{Scheme: Scheme()})
		is.NoErr(err)
		test(t, is, site{t, srv, c, w})
	})
}

// start runs the operator until stop is called or the test ends.
func (s site) start() (stop func()) {
	s.t.Helper()
	m := ctrl.Start(s.t, s.srv, Setup, ctrl.Options{Scheme: Scheme()})
	settle(time.Second)
	return m.Stop
}

// settle lets the operator run for d, and waits until it is idle.
func settle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
