package ctrl

import (
	"context"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubesim/kubesim/fake"
)

// Options say what a manager is like. The zero value is right for most.
type Options struct {
	// Name is how the operator is called: its User-Agent begins with it. "": operator.
	Name string
	// Scheme are the kinds that it knows. nil: those of client-go.
	Scheme *runtime.Scheme
	// User is who it is: system:serviceaccount:NAMESPACE:NAME. "": who everybody is.
	User string
	// Manager changes the options of the manager, such as leader election or what it caches. nil: nothing.
	Manager func(*manager.Options)
}

// Manager is a manager of controller-runtime that runs in a test, and can crash.
type Manager struct {
	srv     *fake.Server
	setup   func(manager.Manager) error
	options Options

	mu      sync.Mutex
	process *fake.Process
	hooks   *webhooks  // of the process; nil: it has not come so far
	started chan error // gets what became of the next start
}

// forEver is how long a manager is down that has crashed, unless it is restarted.
const forEver = 100 * 365 * 24 * time.Hour

// Start runs a manager with what setup adds to it, until the test ends, and returns when its caches are filled and its controllers
// work. Its webhooks are asked in process, by whatever service the configurations and definitions name that are stored. When setup
// or the manager fails, the test ends; later on, that is a crash, after which it starts again (fake.Server.Process).
//
// The server's clock has to move by itself: in a testing/synctest bubble, fake.Options{Clock: clock.System{}}.
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

// begin starts a process and waits until it works.
func (m *Manager) begin() error {
	started := make(chan error, 1)
	m.mu.Lock()
	m.started = started
	m.process = m.srv.Process(m.options.Name, m.run)
	m.mu.Unlock()
	err := <-started
	if err != nil {
		m.Stop()
	}
	return err
}

// tell says, once, what became of a start.
func (m *Manager) tell(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.started != nil {
		m.started <- err
		m.started = nil
	}
}

// run is one life of the manager.
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
		// Of one name there may be a controller in each test. controller-runtime's own queue may leave a goroutine behind when it
		// stops, which no bubble forgives.
		Controller:     config.Controller{SkipNameValidation: new(true), UsePriorityQueue: new(false)},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return &mapper{srv: m.srv}, nil },
	}
	if m.options.Manager != nil {
		m.options.Manager(&o)
	}
	mgr, err := controllerruntime.NewManager(cfg, o)
	if err == nil {
		err = m.setup(mgr)
	}
	if err == nil { // what waits for leadership runs after the caches are filled
		err = mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
			m.tell(nil)
			<-ctx.Done()
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
	return mgr.Start(ctx)
}

// forget lets the server ask again about what the webhooks of a process have converted that has ended.
func (m *Manager) forget() {
	m.mu.Lock()
	hooks := m.hooks
	m.mu.Unlock()
	if hooks != nil {
		m.srv.ConvertThrough(hooks)
	}
}

// Crash ends the manager in the middle of what it does, as the loss of its machine does: nothing of it reaches the server any more.
// It is down until Restart.
func (m *Manager) Crash() {
	m.mu.Lock()
	m.process.Crash(forEver)
	m.mu.Unlock()
	m.forget()
}

// Restart starts a new process in place of one that has crashed, or that runs: that one is stopped in order. It returns when it
// works, or with what kept it from that.
func (m *Manager) Restart() error {
	m.Stop()
	return m.begin()
}

// Stop stops the manager in order, and waits until it has ended.
func (m *Manager) Stop() {
	m.mu.Lock()
	process := m.process
	m.mu.Unlock()
	process.Stop()
	m.forget()
}
