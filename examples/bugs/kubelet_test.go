package bugs

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// machines contains the pods that actually run, on all nodes.
type machines struct {
	mu      sync.Mutex
	running []string // "NODE POD UID"
}

func (m *machines) start(container string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.Contains(m.running, container) {
		m.running = append(m.running, container)
	}
}

func (m *machines) stop(container string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running = slices.DeleteFunc(m.running, func(c string) bool { return c == container })
}

func (m *machines) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.running)
}

// kubelet runs the pods of one node.
type kubelet struct {
	node   string
	client kubernetes.Interface
	fixed  bool
	*machines
}

func (k *kubelet) container(pod *corev1.Pod) string {
	return fmt.Sprint(k.node, " ", pod.Name, " ", pod.UID)
}

// OnAdd starts a pod that is in the cache. The fixed kubelet first asks the server whether the pod still exists.
func (k *kubelet) OnAdd(obj any, _ bool) {
	pod := obj.(*corev1.Pod)
	if k.fixed {
		live, err := k.client.CoreV1().Pods(pod.Namespace).Get(context.Background(), pod.Name, metav1.GetOptions{})
		if err != nil || live.UID != pod.UID || live.Spec.NodeName != k.node {
			return // not true, or unknown: the next event or resync retries
		}
	}
	k.start(k.container(pod))
}

// OnUpdate does nothing, because pods do not change in this test.
func (k *kubelet) OnUpdate(_, _ any) {}

// OnDelete stops a pod.
func (k *kubelet) OnDelete(obj any) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	k.stop(k.container(obj.(*corev1.Pod)))
}

// run runs the kubelet until crash is called.
func (k *kubelet) run(w world) (crash func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	factory := informers.NewSharedInformerFactoryWithOptions(k.client, 0,
		informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", k.node).String()
		}))
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(k)
	w.must(err)
	factory.Start(ctx.Done())
	crash = sync.OnceFunc(func() {
		cancel()
		factory.Shutdown()
	})
	w.t.Cleanup(crash)
	return crash
}

// pod returns a pod on a node, as a StatefulSet would create it.
func pod(node string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: object("db-0"), Spec: corev1.PodSpec{NodeName: node,
		Containers: []corev1.Container{{Name: "db", Image: "db"}}}}
}

// Pod db-0 moves from one node to another. The first node's kubelet restarts and connects to an API server that is cut off from the
// store, which serves lists with resourceVersion=0 from a cache that still contains the old pod. The kubelet starts the pod: two
// databases with the same name write to the same volume, although a StatefulSet guarantees that this never happens. See
// kubernetes/kubernetes#59848. Current clients still have the problem: a watch-list fails on such a server, and the reflector falls
// back to a list.
//
// The fix is to read from the store (a get without resourceVersion) before starting anything that must exist only once.
func TestTwoPodsOfOneName(t *testing.T) {
	both(t, func(w world, fixed bool) {
		all := &machines{}
		one := &kubelet{"one", kubernetes.NewForConfigOrDie(config(w.srv, "kubelet-one")), fixed, all}
		two := &kubelet{"two", kubernetes.NewForConfigOrDie(config(w.srv, "kubelet-two")), fixed, all}
		crash := one.run(w)
		two.run(w)
		w.must(w.Create(w.t.Context(), &corev1.ServiceAccount{ObjectMeta: object("default")}))
		w.must(w.Create(w.t.Context(), pod("one")))
		settle(time.Second)
		w.is.Equal(all.count(), 1)

		w.srv.Replica(2).Cut()
		w.must(w.Delete(w.t.Context(), pod("one"), client.GracePeriodSeconds(0)))
		w.must(w.Create(w.t.Context(), pod("two")))
		settle(time.Second)
		w.is.Equal(all.count(), 1) // it has moved

		crash()
		w.srv.Route("kubelet-one", 2)
		one.run(w)
		settle(time.Minute)
		want := 2
		if fixed {
			want = 1
		}
		w.is.Equal(all.count(), want) // two at the same time

		w.srv.Replica(2).Resume()
		settle(time.Minute)
		w.is.Equal(all.count(), 1) // as soon as its cache is up to date
	})
}
