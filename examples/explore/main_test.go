package explore_test

import (
	"context"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	controllerconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubesim/kubesim/examples/bubble"
	"github.com/kubesim/kubesim/fake"
)

func TestMain(m *testing.M) {
	bubble.Ready()
	controllerruntime.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard()) // client-go rightly logs the faults
	os.Exit(m.Run())
}

// operator is the program under test: a manager with what setup adds.
func operator(srv *fake.Server, setup func(controllerruntime.Manager) error) func(context.Context, http.RoundTripper) error {
	return func(ctx context.Context, transport http.RoundTripper) error {
		manager, err := controllerruntime.NewManager(&rest.Config{Host: srv.URL(), Transport: transport, QPS: -1},
			controllerruntime.Options{
				Metrics: metricsserver.Options{BindAddress: "0"}, // no sockets in a bubble
				// controller-runtime's own queue may leave a goroutine behind when it stops, which fails a bubble.
				Controller:     controllerconfig.Controller{SkipNameValidation: new(true), UsePriorityQueue: new(false)},
				MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper(), nil },
			})
		if err != nil {
			return err
		}
		if err := setup(manager); err != nil {
			return err
		}
		return manager.Start(ctx)
	}
}

// mapper returns a RESTMapper for the kinds that the operators in this package use.
func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	m.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("Secret"), meta.RESTScopeNamespace)
	return m
}

// world is the environment of a test's body.
type world struct {
	fake.T
	client.Client
}

// begin starts an operator, and returns a client for the test.
func begin(t fake.T, srv *fake.Server, setup func(controllerruntime.Manager) error) world {
	srv.Process("operator", operator(srv, setup))
	c, err := client.New(&rest.Config{Host: srv.URL(), Transport: srv.Transport(), QPS: -1}, client.Options{Mapper: mapper()})
	if err != nil {
		t.Fatal(err)
	}
	return world{t, c}
}

// must ends the test if err is not nil.
func (w world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// secrets returns the existing Secrets.
func (w world) secrets() []corev1.Secret {
	list := &corev1.SecretList{}
	w.must(w.List(w.Context(), list))
	return list.Items
}

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "default", Name: name}
}

const whole = 10 * time.Minute
