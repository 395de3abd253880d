package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
)

// worker is a typical client: a clientset and informers with their own connection.
type worker struct {
	name string
	set  kubernetes.Interface
	rand *rand.Rand

	conns sync.Map // set of the worker's net.Conns
}

// agentOfWorkers is the prefix of the User-Agents of workers. Faults apply only to them, and not to the watches of the log.
const agentOfWorkers = "worker-"

// newWorker returns a worker whose requests are recorded.
func newWorker(r *Remote, config *rest.Config, n int, seed uint64) (*worker, error) {
	w := &worker{name: fmt.Sprint(agentOfWorkers, n), rand: rand.New(rand.NewPCG(seed, uint64(n)))}
	c := rest.CopyConfig(config)
	c.UserAgent, c.QPS, c.Timeout = w.name, -1, 0
	c.ContentType, c.AcceptContentTypes = "application/json", "application/json"    // the recorder does not support protobuf
	c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) { // a separate Dial function results in a separate connection
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil {
			w.conns.Store(conn, true)
		}
		return conn, err
	}
	c.Wrap(func(next http.RoundTripper) http.RoundTripper { return recorder{r, w.name, next} })
	set, err := kubernetes.NewForConfig(c)
	w.set = set
	return w, err
}

// work executes n random operations while the worker's informers are running.
func (w *worker) work(ctx context.Context, n int) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	factory := informers.NewSharedInformerFactory(w.set, 0)
	factory.Core().V1().ConfigMaps().Informer()
	if w.rand.IntN(2) == 0 {
		factory.Coordination().V1().Leases().Informer()
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	for range n {
		w.step(ctx)
	}
	stop()
	factory.Shutdown()
}

// hangUp closes the worker's idle connections.
func (w *worker) hangUp() {
	w.conns.Range(func(conn, _ any) bool { conn.(net.Conn).Close(); return true })
}

// The namespaces and number of names that workers share.
var namespaces = []string{"default", "kube-public"}

const names = 6

// step executes a random operation. It does not retry a failed one.
func (w *worker) step(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	namespace, name := namespaces[w.rand.IntN(len(namespaces))], fmt.Sprint("o", w.rand.IntN(names))
	value := fmt.Sprint(w.rand.Uint32())
	if w.rand.IntN(3) == 0 {
		w.lease(ctx, namespace, name)
		return
	}
	maps := w.set.CoreV1().ConfigMaps(namespace)
	meta := metav1.ObjectMeta{Name: name, Labels: map[string]string{"a": value[:1]}}
	switch w.rand.IntN(9) {
	case 0, 1:
		_, _ = maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"v": value}}, metav1.CreateOptions{})
	case 2:
		_ = maps.Delete(ctx, name, metav1.DeleteOptions{})
	case 3:
		_, _ = maps.Get(ctx, name, metav1.GetOptions{})
	case 4:
		_, _ = maps.Patch(ctx, name, types.MergePatchType, []byte(`{"data":{"p":"`+value+`"}}`), metav1.PatchOptions{})
	case 5:
		_, _ = maps.Apply(ctx, applycorev1.ConfigMap(name, namespace).WithData(map[string]string{"s": value}), metav1.ApplyOptions{FieldManager: w.name, Force: true})
	case 6:
		_ = retry.RetryOnConflict(retry.DefaultRetry, func() error {
			obj, err := maps.Get(ctx, name, metav1.GetOptions{})
			if err == nil {
				obj.Data = map[string]string{"u": value}
				_, err = maps.Update(ctx, obj, metav1.UpdateOptions{})
			}
			return err
		})
	case 7:
		list, err := maps.List(ctx, metav1.ListOptions{Limit: 3})
		for err == nil && list.Continue != "" {
			list, err = maps.List(ctx, metav1.ListOptions{Limit: 3, Continue: list.Continue})
		}
	default:
		_, _ = maps.List(ctx, metav1.ListOptions{ResourceVersion: "0", LabelSelector: "a=" + value[:1]})
	}
}

// lease acquires, renews or releases a lease.
func (w *worker) lease(ctx context.Context, namespace, name string) {
	leases := w.set.CoordinationV1().Leases(namespace)
	now := metav1.NowMicro()
	obj, err := leases.Get(ctx, name, metav1.GetOptions{})
	switch {
	case err != nil:
		_, _ = leases.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &w.name, RenewTime: &now}}, metav1.CreateOptions{})
	case w.rand.IntN(4) == 0:
		_ = leases.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &obj.UID, ResourceVersion: &obj.ResourceVersion}})
	default:
		obj.Spec.HolderIdentity, obj.Spec.RenewTime = &w.name, &now
		_, _ = leases.Update(ctx, obj, metav1.UpdateOptions{})
	}
}
