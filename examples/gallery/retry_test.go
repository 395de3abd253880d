package gallery

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubesim/kubesim/fake"
)

var retry = exhibit{
	name:    "retry",
	seen:    "kubernetes/sample-controller#31",
	mistake: "an error is logged, and the key is dropped",
	pattern: "a failed key goes back into the queue, with increasing delays",
	server:  fake.Options{Bare: true},
	test:    testRetry,
}

// sample is a controller without a framework: an informer, a queue and a worker. It creates a Secret for each ConfigMap. On failure
// it reports the error and takes the next key. The failed key has to wait for an event, which may never occur.
//
// See kubernetes/sample-controller#31, from which many have copied, and kubernetes/kubernetes#70031.
//
// The correct version puts the key back, with a rate limit.
type sample struct {
	client  kubernetes.Interface
	queue   workqueue.TypedRateLimitingInterface[string]
	correct bool
}

func (s *sample) run(ctx context.Context, config *rest.Config) error {
	s.client = kubernetes.NewForConfigOrDie(config)
	s.queue = workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	defer s.queue.ShutDown()
	factory := informers.NewSharedInformerFactoryWithOptions(s.client, 0, informers.WithNamespace("default"))
	informer := factory.Core().V1().ConfigMaps().Informer()
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: s.enqueue,
		UpdateFunc: func(_, obj any) { s.enqueue(obj) }}); err != nil {
		return err
	}
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	go func() {
		<-ctx.Done()
		s.queue.ShutDown()
	}()
	for s.next(ctx) {
	}
	return nil
}

func (s *sample) enqueue(obj any) { s.queue.Add(obj.(*corev1.ConfigMap).Name) }

// next processes the next key in the queue. It returns false when the queue has been shut down. The mistake is not to retry after
// an error.
func (s *sample) next(ctx context.Context) bool {
	name, closed := s.queue.Get()
	if closed {
		return false
	}
	defer s.queue.Done(name)
	_, err := s.client.CoreV1().Secrets("default").Create(ctx, secret(metav1.ObjectMeta{Name: name}), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) && s.correct {
		s.queue.AddRateLimited(name)
		return true
	}
	s.queue.Forget(name)
	return true
}

func testRetry(w *world) {
	w.process("sample", func(ctx context.Context, config *rest.Config) error {
		return (&sample{correct: w.correct}).run(ctx, config)
	})
	for _, name := range []string{"a", "b", "c"} {
		w.pass(time.Second)
		w.cluster(name)
	}
	w.pass(trouble)
	w.settle()
	if n := len(w.secrets("default")); n != 3 {
		w.Errorf("%d secrets, want 3", n)
	}
}
