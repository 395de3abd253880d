package bugs

import (
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// ingress tracks the certificates that it serves, by the names of their Secrets.
type ingress struct {
	fixed bool

	mu     sync.Mutex
	served map[string]bool
	broken []any // values with which handlers panicked
}

// OnAdd, OnUpdate and OnDelete implement cache.ResourceEventHandler.
func (i *ingress) OnAdd(obj any, _ bool) { i.set(obj.(*corev1.Secret).Name, true) }

func (i *ingress) OnUpdate(_, obj any) { i.set(obj.(*corev1.Secret).Name, true) }

func (i *ingress) OnDelete(obj any) {
	defer i.recover() // the process of the real controller would end here
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok && i.fixed {
		obj = tombstone.Obj // last state in the cache
	}
	i.set(obj.(*corev1.Secret).Name, false)
}

func (i *ingress) set(name string, served bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.served[name] = true; !served {
		delete(i.served, name)
	}
}

func (i *ingress) recover() {
	if r := recover(); r != nil {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.broken = append(i.broken, r)
	}
}

func (i *ingress) state() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return fmt.Sprint(i.served, len(i.broken))
}

// A Secret is deleted while the watch of a controller is broken. The controller's new list does not contain it. The informer, which
// did not receive the deletion, reports it with a tombstone instead of the object. The handler expects a Secret and panics, in all
// replicas of the controller at once. Tests with a fake client never produce a tombstone, because its watches do not break. See
// kubernetes/ingress-nginx#10015, kumahq/kuma#17065, Altinity/clickhouse-operator#1882 and the many others that a search for
// DeletedFinalStateUnknown finds.
func TestTombstone(t *testing.T) {
	both(t, func(w world, fixed bool) {
		factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config(w.srv, "ingress")), 0)
		handler := &ingress{fixed: fixed, served: map[string]bool{}}
		_, err := factory.Core().V1().Secrets().Informer().AddEventHandler(handler)
		w.must(err)
		for _, name := range []string{"a", "b", "c"} {
			w.must(w.Create(w.t.Context(), &corev1.Secret{ObjectMeta: object(name)}))
		}
		factory.Start(w.t.Context().Done())
		w.t.Cleanup(factory.Shutdown)
		settle(time.Second)
		w.must(w.Delete(w.t.Context(), &corev1.Secret{ObjectMeta: object("a")}))
		settle(time.Second)
		w.is.Equal(handler.state(), "map[b:true c:true] 0") // a deletion that is received is handled correctly

		w.srv.Replica(1).Stall(45 * time.Second) // no more data arrives until the client's pings fail
		w.must(w.Delete(w.t.Context(), &corev1.Secret{ObjectMeta: object("b")}))
		w.srv.Expire() // and the server has discarded its history
		settle(2 * time.Minute)
		want := "map[b:true c:true] 1" // a panic, and a deleted certificate that is still served
		if fixed {
			want = "map[c:true] 0"
		}
		w.is.Equal(handler.state(), want)
	})
}
