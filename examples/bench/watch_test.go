package bench

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func (c typed) watch(ctx context.Context) (watch.Interface, error) {
	return c.CoreV1().Pods("default").Watch(ctx, metav1.ListOptions{})
}

func (c generic) watch(ctx context.Context) (watch.Interface, error) {
	return c.Watch(ctx, &corev1.PodList{}, client.InNamespace("default"))
}

// fanOut measures the time from a write until each of 100 watches has received its event.
var fanOut = measurement{name: "watch ×100", except: []string{"kubesim-protobuf", "floor-protobuf", "floor-answers", "kubesim-manager", "floor-manager"}, run: func(b *testing.B, p pods) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	watches := make([]watch.Interface, 100)
	for i := range watches {
		w, err := p.watch(ctx)
		if err != nil {
			b.Fatal(err)
		}
		defer w.Stop()
		watches[i] = w
	}
	for n := 0; b.Loop(); n++ {
		if _, err := p.create(ctx, pod(n)); err != nil {
			b.Fatal(err)
		}
		for _, w := range watches {
			if event := <-w.ResultChan(); event.Type != watch.Added {
				b.Fatal(event)
			}
		}
	}
}}

// informer measures the time until a new informer's handler has received 1,000 pods. controller-runtime's clients have no
// informers.
var informer = measurement{name: "informer 1,000", existing: 1000, except: []string{"controller-runtime", "kubesim-manager", "floor-manager", "floor-protobuf", "floor-answers"}, run: func(b *testing.B, p pods) {
	for b.Loop() {
		syncInformer(b, p.(typed).Interface)
	}
}}

func syncInformer(b *testing.B, c kubernetes.Interface) {
	ctx, cancel := context.WithCancel(b.Context())
	factory := informers.NewSharedInformerFactory(c, 0)
	defer factory.Shutdown()
	defer cancel()
	informer := factory.Core().V1().Pods().Informer()
	synced := make(chan struct{})
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: counter(1000, synced)})
	if err != nil {
		b.Fatal(err)
	}
	factory.Start(ctx.Done())
	<-synced
}

// counter returns a handler that closes a channel at its n-th call.
func counter(n int, done chan struct{}) func(any) {
	return func(any) {
		if n--; n == 0 {
			close(done)
		}
	}
}
