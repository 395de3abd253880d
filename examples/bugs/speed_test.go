package bugs

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
)

// idleMonth runs an informer for 30 days without changes. About 5,800 watches time out and are restarted.
func idleMonth(t *testing.T) {
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Bare: true})
	factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config(srv, "idle")), 0)
	informer := factory.Core().V1().ConfigMaps().Informer()
	factory.Start(t.Context().Done())
	t.Cleanup(factory.Shutdown)
	begin := time.Now()
	time.Sleep(30 * 24 * time.Hour)
	is.True(informer.HasSynced())
	is.Equal(time.Since(begin), 30*24*time.Hour)
	c, err := client.New(config(srv, "user"), client.Options{})
	is.NoErr(err)
	is.NoErr(c.Create(t.Context(), owner("late", nil)))
	synctest.Wait()
	is.Equal(len(informer.GetStore().List()), 1) // and it is still there
}

// 30 days take seconds. The goal is less than 5; the limit in this test allows for a busy machine.
func TestIdleMonth(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	begin := time.Now() // outside of the bubble: real time
	synctest.Test(t, idleMonth)
	took := time.Since(begin)
	t.Logf("30 days took %v", took)
	if took > time.Minute {
		t.Errorf("30 days of an idle informer took %v, want less than 5 s, and 1 m at the very most", took)
	}
}

// keeper creates a Secret for each ConfigMap and keeps its data up to date.
type keeper struct{ client.Client }

// Reconcile copies the data of a ConfigMap to its Secret.
func (k *keeper) Reconcile(ctx context.Context, request controllerruntime.Request) (controllerruntime.Result, error) {
	from := &corev1.ConfigMap{}
	if err := k.Get(ctx, request.NamespacedName, from); err != nil {
		return controllerruntime.Result{}, client.IgnoreNotFound(err)
	}
	to := &corev1.Secret{ObjectMeta: object(request.Name)}
	_, err := controllerutil.CreateOrUpdate(ctx, k.Client, to, func() error {
		to.StringData, to.Data = nil, map[string][]byte{"value": []byte(from.Data["value"])}
		return controllerutil.SetControllerReference(from, to, k.Scheme())
	})
	return controllerruntime.Result{RequeueAfter: 5 * time.Minute}, err
}

// tenMinutes is a scenario of typical size: two API servers, a controller, twenty objects that each change once, a cache that lags
// for a while, and a controller that restarts at the other server.
func tenMinutes(t *testing.T) {
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Bare: true, Replicas: make([]fake.ReplicaOptions, 2), Trace: -1})
	// The mapper is given, because discovery by three clients would take a third of the time.
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Secret"), meta.RESTScopeNamespace)
	c, err := client.New(config(srv, "user"), client.Options{Mapper: mapper})
	is.NoErr(err)
	w := world{t, is, srv, c, mapper}
	setup := func(m controllerruntime.Manager) error {
		return controllerruntime.NewControllerManagedBy(m).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).
			Complete(&keeper{m.GetClient()})
	}
	begin := time.Now()
	first := w.start(setup, nil)
	maps := make([]*corev1.ConfigMap, 20)
	for i := range maps {
		maps[i] = owner(fmt.Sprint("object-", i), map[string]string{"value": "1"})
		w.must(c.Create(t.Context(), maps[i]))
	}
	time.Sleep(2 * time.Minute)
	srv.Replica(2).Lag()
	for _, m := range maps {
		m.Data["value"] = "2"
		w.must(c.Update(t.Context(), m))
		time.Sleep(time.Second)
	}
	first.crash()
	srv.Route("operator", 2)
	w.start(setup, nil)
	time.Sleep(10 * time.Second)
	srv.Replica(2).Resume()
	time.Sleep(10*time.Minute - time.Since(begin))
	synctest.Wait()
	secrets := &corev1.SecretList{}
	w.must(c.List(t.Context(), secrets))
	is.Equal(len(secrets.Items), len(maps))
	for _, s := range secrets.Items {
		is.Equal(string(s.Data["value"]), "2")
	}
}

// TestTenMinutes runs the scenario that BenchmarkTenMinutes measures.
func TestTenMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, tenMinutes)
}

// BenchmarkIdleMonth measures the real time of 30 days of an idle informer. The goal is less than 5 seconds.
func BenchmarkIdleMonth(b *testing.B) { inBubbles(b, "month", 30*24*time.Hour, idleMonth) }

// BenchmarkTenMinutes measures the real time of a scenario of ten minutes. The goal is 15 ms.
func BenchmarkTenMinutes(b *testing.B) { inBubbles(b, "scenario", 10*time.Minute, tenMinutes) }

// inBubbles runs a test in a synctest bubble for each iteration, and reports the time of a run and how many simulated seconds pass
// in a real one.
func inBubbles(b *testing.B, name string, simulated time.Duration, f func(*testing.T)) {
	for b.Loop() {
		ok := testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{
			{Name: name, F: func(t *testing.T) { synctest.Test(t, f) }},
		})
		if !ok {
			b.Fatalf("the %s did not pass", name)
		}
	}
	per := b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(per*1e3, "ms/"+name)
	b.ReportMetric(simulated.Seconds()/per, "simulated-s/s")
}
