package ctrl

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/kubesim/kubesim/fake"
)

// Options configure a manager. The zero value is suitable for most tests.
type Options struct {
	// Name is the operator's name, with which its User-Agent begins. The default is operator.
	Name string
	// Scheme contains the manager's kinds. The default is client-go's scheme.
	Scheme *runtime.Scheme
	// User is the user of the manager's requests, such as system:serviceaccount:NAMESPACE:NAME. If it is empty, the manager is an
	// ordinary client of the server.
	User string
	// Manager, if not nil, changes the options of the manager, such as leader election or its cache.
	Manager func(*manager.Options)
}

// Manager is a controller-runtime manager that runs in a test and can crash.
type Manager struct {
	srv     *fake.Server
	setup   func(manager.Manager) error
	options Options

	mu      sync.Mutex
	process *fake.Process
	hooks   *webhooks  // of the current process; nil until its manager is set up
	started chan error // receives the result of the next start
}

// forEver is the downtime of a crashed manager that is not restarted.
const forEver = 100 * 365 * 24 * time.Hour

// Start runs a manager, with the controllers that setup adds to it, until the test ends. It returns when the caches are filled and
// the controllers are running, or after ten minutes if faults prevent that. Webhooks are called in process, regardless of the
// service in the stored configurations and definitions. If setup or the manager fails, the test ends. A later failure is a crash, after which the manager is started again
// (fake.Server.Process).
//
// The server's clock must advance by itself: in a testing/synctest bubble, use fake.Options{Clock: clock.System{}}.
func Start(t fake.TB, srv *fake.Server, setup func(manager.Manager) error, options ...Options) *Manager {
	t.Helper()
	m := &Manager{srv: srv, setup: setup}
	if len(options) > 0 {
		m.options = options[0]
	}
	if m.options.Name == "" {
		m.options.Name = "operator"
	}
	if m.options.Scheme == nil {
		m.options.Scheme = clientgoscheme.Scheme
	}
	if err := m.begin(); err != nil {
		t.Fatalf("ctrl: %s does not start: %v", m.options.Name, err)
	}
	return m
}

// begin starts a process and waits until its manager is running.
func (m *Manager) begin() error {
	started := make(chan error, 1)
	m.mu.Lock()
	m.started = started
	m.process = m.srv.Process(m.options.Name, m.run)
	m.mu.Unlock()
	err := <-started
	for late := time.After(startMost); err != nil && m.srv.IsTroubled(); { // the process is started again
		m.mu.Lock()
		m.started = started
		m.mu.Unlock()
		select {
		case err = <-started:
		case <-late:
			return nil
		}
	}
	if err != nil {
		m.Stop()
	}
	return err
}

// startMost is the maximum time for which Start waits for a manager, whose start faults may prevent.
const startMost = 10 * time.Minute

// tell sends the result of a start to the caller that waits for it, at most once.
func (m *Manager) tell(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.started != nil {
		m.started <- err
		m.started = nil
	}
}

// run runs a process of the manager until it ends.
func (m *Manager) run(ctx context.Context, transport http.RoundTripper) error {
	err := m.live(ctx, transport)
	if err != nil && ctx.Err() == nil {
		m.tell(err)
	}
	return err
}

func (m *Manager) live(ctx context.Context, transport http.RoundTripper) error {
	if m.options.User != "" {
		transport = m.srv.As(m.options.User).Over(transport)
	}
	cfg := Config(m.srv, m.options.Name)
	cfg.Transport = transport
	hooks := newWebhooks(ctx)
	o := manager.Options{
		Scheme: m.options.Scheme, WebhookServer: hooks,
		Metrics: metricsserver.Options{BindAddress: "0"}, // no sockets in a bubble
		// SkipNameValidation allows tests to use controllers with the same name.
		Controller:     config.Controller{SkipNameValidation: new(true)},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return &mapper{srv: m.srv}, nil },
	}
	useClientGoQueue(&o.Controller)
	if m.options.Manager != nil {
		m.options.Manager(&o)
	}
	start := newStarting(ctx, &o)
	mgr, err := controllerruntime.NewManager(cfg, o)
	if err == nil {
		mgr, err = newRecording(ctx, mgr, cfg)
	}
	if err == nil {
		err = m.setup(mgr)
	}
	if err == nil { // a Runnable that needs leader election runs after the caches are filled
		err = mgr.Add(manager.RunnableFunc(func(run context.Context) error {
			if ctx.Err() == nil {
				m.tell(nil)
			}
			<-run.Done()
			return nil
		}))
	}
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.hooks = hooks
	m.mu.Unlock()
	m.srv.AdmitThrough(hooks)
	m.srv.ConvertThrough(hooks)
	err = start.run(mgr)
	if time.Now().Before(afterBubbles) {
		time.Sleep(queuesEnd)
	}
	return err
}

// useClientGoQueue turns controller-runtime's own queue off, because it may leave a goroutine behind when it stops, which fails a
// bubble. Controller-runtime v0.19 does not have it.
func useClientGoQueue(c *config.Controller) {
	if use := reflect.ValueOf(c).Elem().FieldByName("UsePriorityQueue"); use.IsValid() {
		use.Set(reflect.ValueOf(new(false)))
	}
}

// queuesEnd is the time after which the goroutines of stopped work queues have ended: those of client-go before v0.36 look twice
// per second whether their queue was shut down. A bubble must not end before its goroutines.
const queuesEnd = time.Second

// afterBubbles is later than the time in any testing/synctest bubble.
var afterBubbles = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// forget clears the server's cache of results from the conversion webhooks of a process that has ended.
func (m *Manager) forget() {
	m.mu.Lock()
	hooks := m.hooks
	m.mu.Unlock()
	if hooks != nil {
		m.srv.ConvertThrough(hooks)
	}
}

// Crash ends the manager at an arbitrary point, like the loss of its machine: none of its requests reaches the server any more. It
// is down until Restart.
func (m *Manager) Crash() {
	m.mu.Lock()
	m.process.Crash(forEver)
	m.mu.Unlock()
	m.forget()
}

// Restart starts a new process. If the current one is running, it is stopped gracefully. Restart returns when the new manager is
// running, or returns the error that prevents it.
func (m *Manager) Restart() error {
	m.Stop()
	return m.begin()
}

// Stop stops the manager gracefully, and waits until it has ended.
func (m *Manager) Stop() {
	m.mu.Lock()
	process := m.process
	m.mu.Unlock()
	process.Stop()
	m.forget()
}

// webhooks is a webhook server without a listener. The API server calls RoundTrip, which calls the handlers in process, whatever
// service a configuration specifies.
type webhooks struct {
	webhook.Server
	life context.Context // of its process; after a crash no requests are served
	up   atomic.Bool
}

func newWebhooks(life context.Context) *webhooks {
	return &webhooks{Server: webhook.NewServer(webhook.Options{}), life: life}
}

// Start implements webhook.Server. It serves until the manager stops.
func (w *webhooks) Start(ctx context.Context) error {
	w.up.Store(true)
	defer w.up.Store(false)
	<-ctx.Done()
	return nil
}

// StartedChecker implements webhook.Server. The manager calls it before it starts the caches.
func (w *webhooks) StartedChecker() healthz.Checker {
	return func(*http.Request) error {
		if !w.up.Load() {
			return errors.New("not started")
		}
		return nil
	}
}

// RoundTrip implements http.RoundTripper. It serves requests to any webhook service.
func (w *webhooks) RoundTrip(r *http.Request) (*http.Response, error) {
	if !w.up.Load() || w.life.Err() != nil {
		return nil, errors.New("dial tcp: connection refused")
	}
	recorder := httptest.NewRecorder()
	w.WebhookMux().ServeHTTP(recorder, r)
	return recorder.Result(), nil
}
