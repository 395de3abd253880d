package bugs

import (
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// scheduler tracks the number of pods that it has placed on each node.
type scheduler struct {
	fixed bool

	mu     sync.Mutex
	placed map[string]int // by node name
}

func (s *scheduler) place(node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.placed[node]++
}

func (s *scheduler) state() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprint(s.placed)
}

// OnAdd adds an empty node.
func (s *scheduler) OnAdd(obj any, _ bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.placed[obj.(*corev1.Node).Name] = 0
}

// OnUpdate handles a changed node. The fixed scheduler checks whether it is still the same node.
func (s *scheduler) OnUpdate(old, obj any) {
	if s.fixed && old.(*corev1.Node).UID != obj.(*corev1.Node).UID {
		s.OnDelete(old)
		s.OnAdd(obj, false)
	}
}

// OnDelete removes a node.
func (s *scheduler) OnDelete(obj any) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.placed, obj.(*corev1.Node).Name)
}

// A node is deleted and is recreated with the same name, as an empty machine, while the watch of the scheduler is broken. The new
// list contains a node with that name, so the informer reports neither a deletion nor an addition, but an update. The load of the
// old machine is attributed to the new one forever. See kubernetes/kubernetes#56261, #94437, #106102.
//
// The fix is to compare uids: a name can be reused, and only the uid identifies an object.
func TestRecreated(t *testing.T) {
	both(t, func(w world, fixed bool) {
		s := &scheduler{fixed: fixed, placed: map[string]int{}}
		factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config(w.srv, "scheduler")), 0)
		_, err := factory.Core().V1().Nodes().Informer().AddEventHandler(s)
		w.must(err)
		node := func() *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}} }
		w.must(w.Create(w.t.Context(), node()))
		factory.Start(w.t.Context().Done())
		w.t.Cleanup(factory.Shutdown)
		settle(time.Second)
		s.place("n1")
		s.place("n1")
		w.must(w.Delete(w.t.Context(), node()))
		w.must(w.Create(w.t.Context(), node()))
		settle(time.Second)
		w.is.Equal(s.state(), "map[n1:0]") // correct as long as the watch works

		s.place("n1")
		s.place("n1")
		w.srv.Replica(1).Stall(45 * time.Second)
		w.must(w.Delete(w.t.Context(), node()))
		w.must(w.Create(w.t.Context(), node()))
		w.srv.Expire()
		settle(2 * time.Minute)
		want := "map[n1:2]" // full, although it is empty
		if fixed {
			want = "map[n1:0]"
		}
		w.is.Equal(s.state(), want)
	})
}
