package bugs

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/matryer/is"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	controllerconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/examples/bubble"
	"github.com/kubesim/kubesim/fake"
)

func TestMain(m *testing.M) {
	bubble.Ready()
	controllerruntime.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard()) // client-go rightly logs the faults
	os.Exit(m.Run())
}

// world is a cluster of two API servers, with a client of the first one.
type world struct {
	t   *testing.T
	is  *is.I
	srv *fake.Server
	client.Client
	mapper meta.RESTMapper // for managers; if nil, they use discovery
}

// both runs a story with the bug and with the fix, each in its own bubble.
func both(t *testing.T, story func(w world, fixed bool)) {
	t.Parallel()
	for _, x := range []struct {
		name  string
		fixed bool
	}{{"mistake", false}, {"remedy", true}} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Bare: true, Replicas: make([]fake.ReplicaOptions, 2)})
				c, err := client.New(config(srv, "user"), client.Options{})
				is.NoErr(err)
				story(world{t, is, srv, c, nil}, x.fixed)
			})
		})
	}
}

// secrets returns the number of Secrets.
func (w world) secrets() int {
	list := &corev1.SecretList{}
	w.must(w.List(w.t.Context(), list))
	return len(list.Items)
}

// config returns a client configuration. Routes and faults identify the client by its name.
func config(srv *fake.Server, name string) *rest.Config {
	return &rest.Config{Host: srv.URL(), Transport: srv.Transport(), QPS: -1, UserAgent: name}
}

// process is a manager that can crash.
type process struct {
	crash func()      // ends it immediately; further calls have no effect
	dead  func() bool // whether the response to the fatal request was received
}

// start runs a manager with what setup adds to it, as the client "operator". If fatal is not nil, the process dies when the first
// request that it matches has been answered: earlier writes are stored, and no later ones follow.
func (w world) start(setup func(controllerruntime.Manager) error, fatal func(*http.Request) bool) *process {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	cfg := config(w.srv, "operator")
	connection := &mortal{next: cfg.Transport, fatal: fatal, die: cancel}
	cfg.Transport = connection
	options := controllerruntime.Options{
		Metrics: metricsserver.Options{BindAddress: "0"}, // no sockets in a bubble
		// controller-runtime's own queue may leave a goroutine behind when it stops, which fails a bubble.
		Controller: controllerconfig.Controller{SkipNameValidation: new(true), UsePriorityQueue: new(false)},
	}
	if w.mapper != nil {
		options.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return w.mapper, nil }
	}
	manager, err := controllerruntime.NewManager(cfg, options)
	w.is.NoErr(err)
	w.is.NoErr(setup(manager))
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	p := &process{dead: connection.dead.Load, crash: sync.OnceFunc(func() {
		cancel()
		<-ended // with an error or without
	})}
	w.t.Cleanup(p.crash)
	return p
}

// mortal is the transport of a process that dies after a certain request.
type mortal struct {
	next  http.RoundTripper
	fatal func(*http.Request) bool
	die   func()
	dead  atomic.Bool
}

var errDead = errors.New("the process is dead")

func (m *mortal) RoundTrip(r *http.Request) (*http.Response, error) {
	if m.dead.Load() {
		return nil, errDead
	}
	response, err := m.next.RoundTrip(r)
	if m.fatal != nil && m.fatal(r) {
		m.dead.Store(true)
		m.die()
		if err == nil {
			response.Body.Close()
		}
		return nil, errDead
	}
	return response, err
}

// settle lets d pass, and waits until all goroutines of the bubble are idle.
func settle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// object returns the metadata of an object in the namespace default.
func object(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "default", Name: name}
}

// owner returns a ConfigMap that stands for the custom resource of a project.
func owner(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: object(name), Data: data}
}

// must fails the test if err is not nil.
func (w world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}
