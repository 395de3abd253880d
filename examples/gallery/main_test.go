package gallery

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	controllerconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubesim/kubesim/examples/bubble"
	"github.com/kubesim/kubesim/fake"
)

func TestMain(m *testing.M) {
	bubble.Ready()
	controllerruntime.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard()) // client-go rightly logs the faults
	os.Exit(m.Run())
}

// exhibit is a controller of the gallery, in two versions.
type exhibit struct {
	name    string       // of its file
	seen    string       // where the mistake was reported
	mistake string       // description of the mistake
	pattern string       // what the correct version does instead
	server  fake.Options // options of its server
	test    func(w *world)
}

// world is the environment of an ordinary test: a server, its client, and the version under test.
type world struct {
	fake.T
	client.Client
	srv     *fake.Server
	correct bool
}

// body returns the test of an exhibit for Explore.
func (x *exhibit) body(correct bool) func(t fake.T, srv *fake.Server) {
	return func(t fake.T, srv *fake.Server) {
		c, err := client.New(fake.Config[rest.Config](srv, "test"), client.Options{Mapper: mapper()})
		if err != nil {
			t.Fatal(err)
		}
		x.test(&world{t, c, srv, correct})
	}
}

// mapper returns a RESTMapper for the kinds that the controllers in this package use.
func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	m.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("Secret"), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("Namespace"), meta.RESTScopeRoot)
	m.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), meta.RESTScopeNamespace)
	return m
}

// process runs a program that may crash and be restarted. Faults refer to it by name.
func (w *world) process(name string, run func(ctx context.Context, config *rest.Config) error) {
	w.srv.Process(name, func(ctx context.Context, transport http.RoundTripper) error {
		return run(ctx, &rest.Config{Host: w.srv.URL(), Transport: transport, QPS: -1})
	})
}

// manage runs a controller-runtime manager with what setup adds to it.
func (w *world) manage(name string, setup func(m manager.Manager) error) {
	w.process(name, func(ctx context.Context, config *rest.Config) error {
		m, err := manager.New(config, manager.Options{
			Metrics: metricsserver.Options{BindAddress: "0"}, // no sockets in a bubble
			// controller-runtime's own queue may leave a goroutine behind when it stops, which fails a bubble.
			Controller:     controllerconfig.Controller{SkipNameValidation: new(true), UsePriorityQueue: new(false)},
			MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper(), nil },
		})
		if err == nil {
			err = setup(m)
		}
		if err != nil {
			return err
		}
		return m.Start(ctx)
	})
}

// operate runs an operator: a controller of ConfigMaps that also watches the Secrets that they own. make is called whenever its
// process starts. m.GetClient reads from a cache, and m.GetAPIReader reads from the server.
func (w *world) operate(make func(m manager.Manager) reconcile.ObjectReconciler[*corev1.ConfigMap]) {
	w.manage("operator", func(m manager.Manager) error {
		return controllerruntime.NewControllerManagedBy(m).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).
			Complete(reconcile.AsReconciler(m.GetClient(), make(m)))
	})
}

// must ends the test if err is not nil.
func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// exists asks the server whether an object exists and is not being deleted.
func exists(ctx context.Context, live client.Reader, obj *corev1.ConfigMap) bool {
	now := &corev1.ConfigMap{}
	err := live.Get(ctx, client.ObjectKeyFromObject(obj), now)
	return err == nil && now.UID == obj.UID && now.DeletionTimestamp == nil
}

// errOld is the error of a reconciler that must not trust its cache.
var errOld = errors.New("the cache is old: look again later")

// inFlight is the time for which a request may still be in flight after the process that sent it has ended. A real server gives up
// after a minute (--request-timeout); in these tests no request takes longer than inFlight.
const inFlight = 30 * time.Second

// alone reports whether requests of an earlier process can no longer arrive.
func alone(started time.Time) bool { return time.Since(started) >= inFlight }

// done is the result of a reconciler that needs no requeue.
var done = reconcile.Result{}

// cluster creates the custom resource of an operator.
func (w *world) cluster(name string, data ...string) *corev1.ConfigMap {
	w.Helper()
	c := &corev1.ConfigMap{ObjectMeta: named(name), Data: map[string]string{}}
	for i := 0; i < len(data); i += 2 {
		c.Data[data[i]] = data[i+1]
	}
	w.must(w.Create(w.Context(), c))
	return c
}

// size returns the desired number of members of a cluster.
func size(cluster *corev1.ConfigMap) int {
	n, _ := strconv.Atoi(cluster.Data["size"])
	return n
}

// change changes the newest state of an object, like a user.
func change[O client.Object](w *world, obj O, change func(O)) {
	w.Helper()
	w.must(w.Get(w.Context(), client.ObjectKeyFromObject(obj), obj))
	change(obj)
	w.must(w.Update(w.Context(), obj)) // nothing happens between two requests of the test
}

// secrets returns the Secrets of a namespace.
func (w *world) secrets(namespace string) []corev1.Secret {
	w.Helper()
	list := &corev1.SecretList{}
	w.must(w.List(w.Context(), list, client.InNamespace(namespace)))
	return list.Items
}

// pass lets time pass in the bubble.
func (w *world) pass(d time.Duration) { time.Sleep(d) }

// await lets time pass until so returns true. If that takes too long, it ends all faults early.
func (w *world) await(what string, so func() bool) {
	w.Helper()
	for waited := time.Duration(0); !so(); waited += time.Second {
		switch waited {
		case patience:
			w.srv.Heal()
		case patience + whole:
			w.Fatalf("it never came to this: %s", what)
		}
		w.pass(time.Second)
	}
}

// settle ends all faults, and gives all controllers the time to finish their work.
func (w *world) settle() {
	w.srv.Heal()
	w.pass(whole)
}

const (
	trouble  = time.Minute     // time for which faults occur after the test's own operations
	patience = 2 * time.Minute // time for which the test waits for a condition while faults occur

	// whole is the time that controllers then have to complete their work. An object that has failed repeatedly, for example
	// because of an old cache, is retried after up to 1,000 s (workqueue.DefaultTypedControllerRateLimiter).
	whole = 20 * time.Minute
)

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "default", Name: name}
}

// secret returns a Secret with data from pairs of keys and values.
func secret(meta metav1.ObjectMeta, data ...string) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{}}
	for i := 0; i < len(data); i += 2 {
		s.Data[data[i]] = []byte(data[i+1])
	}
	return s
}
