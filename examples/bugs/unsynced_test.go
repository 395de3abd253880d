package bugs

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/kubesim/kubesim/sim/fault"
)

// agent applies policies once it has all of them.
type agent struct {
	client  kubernetes.Interface
	fixed   bool
	applied chan int // receives the number of policies
}

// run waits for the cache indefinitely. The fixed version waits only for a minute, and then starts again with a list, as clients
// did before watch-lists existed.
func (a *agent) run(ctx context.Context) {
	informer := a.informer(false)
	if !a.synced(ctx, informer) && a.fixed {
		informer = a.informer(true)
		a.synced(ctx, informer)
	}
	if ctx.Err() == nil {
		a.applied <- len(informer.GetStore().List())
	}
}

// synced runs an informer and reports whether its cache has synced.
func (a *agent) synced(ctx context.Context, informer cache.SharedIndexInformer) bool {
	running, stop := context.WithCancel(ctx)
	go informer.RunWithContext(running)
	wait := ctx
	if a.fixed {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeout(ctx, time.Minute)
		defer cancel()
	}
	if cache.WaitForCacheSync(wait.Done(), informer.HasSynced) {
		context.AfterFunc(ctx, stop)
		return true
	}
	stop()
	return false
}

// informer returns an informer that uses a watch-list, unless plain is true.
func (a *agent) informer(plain bool) cache.SharedIndexInformer {
	maps := a.client.CoreV1().ConfigMaps("default")
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object,
			error) {
			return maps.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return maps.Watch(ctx, o)
		},
	}
	if plain {
		return cache.NewSharedIndexInformer(plainList{lw}, &corev1.ConfigMap{}, 0, nil)
	}
	return cache.NewSharedIndexInformer(lw, &corev1.ConfigMap{}, 0, nil)
}

// plainList configures a reflector not to begin with a watch-list.
type plainList struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported makes a reflector start with a list instead of a watch-list.
func (plainList) IsWatchListSemanticsUnSupported() bool { return true }

// An agent starts with a watch-list. The server, an aggregated one with its own store, sends all objects but never the bookmark
// with k8s.io/initial-events-end that marks their end. There is no error, only a line in the log every ten seconds. The informer
// waits forever, its cache never syncs, and no policy is applied. See antrea-io/antrea#8123, derailed/k9s#4186,
// cozystack/cozystack#2786, kubernetes/kubernetes#135895.
//
// Waiting for a cache needs a time limit. After that, the agent can restart, which its user notices, or list, as here.
func TestNeverSynced(t *testing.T) {
	both(t, func(w world, fixed bool) {
		w.srv.Faults.Add(fault.On("watch", "configmaps").Client("agent").Event("BOOKMARK").Drop())
		w.must(w.Create(w.t.Context(), owner("policy", nil)))
		a := &agent{kubernetes.NewForConfigOrDie(config(w.srv, "agent")), fixed, make(chan int, 1)}
		ctx, cancel := context.WithCancel(w.t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			a.run(ctx)
		}()
		w.t.Cleanup(func() {
			cancel()
			<-ended
			settle(time.Second)
		})
		begin := time.Now()
		select {
		case n := <-a.applied:
			w.is.True(fixed)
			w.is.Equal(n, 1)
			w.is.True(time.Since(begin) < 2*time.Minute)
		case <-time.After(2 * time.Hour):
			w.is.True(!fixed) // two hours later nothing has happened
		}
	})
}
