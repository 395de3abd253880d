package gallery

import (
	"context"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubesim/kubesim/fake"
)

var tombstone = exhibit{
	name:    "tombstone",
	seen:    "koordinator-sh/koordinator#2910",
	mistake: "a deletion that happened during a broken watch is not recognized",
	pattern: "tombstones: DeletedFinalStateUnknown is also a deletion",
	server:  fake.Options{Bare: true},
	test:    testTombstone,
}

// koordinator tracks the members of a gang, Secrets, by the events of an informer, and records their number. An informer that has
// missed a deletion, because its watch was broken, reports it with a tombstone instead of the object. The handler does not expect a
// tombstone, and the member remains forever.
//
// See koordinator-sh/koordinator#2910, projectcalico/calico#12793, volcano-sh/volcano#58.
//
// The correct version unwraps the tombstone.
type koordinator struct {
	correct bool
	mu      sync.Mutex
	members map[string]bool
}

// OnAdd, OnUpdate and OnDelete implement cache.ResourceEventHandler.
func (k *koordinator) OnAdd(obj any, _ bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.members[obj.(*corev1.Secret).Name] = true
}

func (k *koordinator) OnUpdate(_, obj any) { k.OnAdd(obj, false) }

func (k *koordinator) OnDelete(obj any) {
	if t, ok := obj.(cache.DeletedFinalStateUnknown); ok && k.correct {
		obj = t.Obj
	}
	member, ok := obj.(*corev1.Secret)
	if !ok {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.members, member.Name)
}

func (k *koordinator) count() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strconv.Itoa(len(k.members))
}

// run records the number of members whenever it changes.
func (k *koordinator) run(ctx context.Context, config *rest.Config) error {
	c := kubernetes.NewForConfigOrDie(config)
	factory := informers.NewSharedInformerFactory(c, 0)
	informer := factory.Core().V1().Secrets().Informer()
	if _, err := informer.AddEventHandler(k); err != nil {
		return err
	}
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	for synced := cache.WaitForCacheSync(ctx.Done(), informer.HasSynced); synced && ctx.Err() == nil; {
		gang, err := c.CoreV1().ConfigMaps("default").Get(ctx, "gang", metav1.GetOptions{})
		if err == nil && gang.Data["size"] != k.count() {
			gang.Data = map[string]string{"size": k.count()}
			_, _ = c.CoreV1().ConfigMaps("default").Update(ctx, gang, metav1.UpdateOptions{}) // or the next time
		}
		select {
		case <-ctx.Done():
		case <-time.After(2 * time.Second):
		}
	}
	return nil
}

func testTombstone(w *world) {
	gang := w.cluster("gang", "size", "0")
	w.process("scheduler", func(ctx context.Context, config *rest.Config) error {
		return (&koordinator{correct: w.correct, members: map[string]bool{}}).run(ctx, config)
	})
	for _, name := range []string{"a", "b", "c"} {
		w.must(w.Create(w.Context(), secret(named(name))))
	}
	for _, name := range []string{"a", "b"} {
		w.pass(10 * time.Second)
		w.must(w.Delete(w.Context(), secret(named(name))))
	}
	w.pass(trouble)
	w.settle()
	w.must(w.Get(w.Context(), client.ObjectKeyFromObject(gang), gang))
	if size(gang) != 1 {
		w.Errorf("the gang has %d members, want 1", size(gang))
	}
}
