package operator

import (
	"context"
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
	controllerconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/examples/bubble"
	"github.com/kubesim/kubesim/fake"
)

func TestMain(m *testing.M) {
	bubble.Ready()
	controllerruntime.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// site is a cluster with the operator's definitions, and a client.
type site struct {
	t   *testing.T
	srv *fake.Server
	client.Client
	warnings *warnings
}

// warnings collects what the server warns of, as kubectl prints it.
type warnings struct {
	mu   sync.Mutex
	text []string
}

// HandleWarningHeader is called for each warning of an answer.
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

// inBubble runs a test in a bubble, in a cluster where config/ was applied.
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

// start runs the operator until stop is called, or to the end of the test.
func (s site) start() (stop func()) {
	s.t.Helper()
	is := is.New(s.t)
	hooks := &webhooks{Server: webhook.NewServer(webhook.Options{})}
	s.srv.AdmitThrough(hooks)
	s.srv.ConvertThrough(hooks)
	cfg := &rest.Config{Host: s.srv.URL(), Transport: s.srv.Transport(), QPS: -1, UserAgent: "operator"}
	manager, err := controllerruntime.NewManager(cfg, controllerruntime.Options{
		Scheme: Scheme(), WebhookServer: hooks,
		Metrics: metricsserver.Options{BindAddress: "0"}, // no sockets in a bubble
		// controller-runtime's own queue may leave a goroutine behind when it stops, which no bubble forgives.
		Controller: controllerconfig.Controller{SkipNameValidation: new(true), UsePriorityQueue: new(false)},
	})
	is.NoErr(err)
	is.NoErr(Setup(manager))
	ctx, cancel := context.WithCancel(s.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		is.NoErr(<-ended)           // it ends in order
		s.srv.ConvertThrough(hooks) // the server has to ask again about what it had converted
	})
	s.t.Cleanup(stop)
	settle(time.Second)
	return stop
}

// settle lets the operator work for a while, and waits until it has nothing to do.
func settle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
