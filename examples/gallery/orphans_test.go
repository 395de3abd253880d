package gallery

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubesim/kubesim/fake"
)

var orphans = exhibit{
	name:    "orphans",
	seen:    "kubernetes/kubernetes#88097",
	mistake: "an object that is missing in one cache is taken for deleted because of another cache",
	pattern: "two caches show two points in time: the server confirms absence",
	server:  fake.Options{Bare: true},
	test:    testOrphans,
}

// collector deletes Secrets whose ConfigMap of the same name does not exist. It has separate watches for both, which are not
// synchronized: a Secret may arrive before the ConfigMap that was created first.
//
// See kubernetes/kubernetes#88097.
//
// The correct version asks the server before it deletes, and deletes with a precondition on the Secret.
type collector struct {
	client.Client
	live    client.Reader
	correct bool
}

func (c *collector) Reconcile(ctx context.Context, part *corev1.Secret) (reconcile.Result, error) {
	whole := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: part.Namespace, Name: part.Name}}
	err := c.Get(ctx, client.ObjectKeyFromObject(whole), whole)
	if c.correct && apierrors.IsNotFound(err) {
		if err = c.live.Get(ctx, client.ObjectKeyFromObject(whole), whole); err == nil {
			return done, errOld // and may never contain it, if it is deleted before the cache receives it
		}
	}
	if !apierrors.IsNotFound(err) {
		return done, err
	}
	return done, client.IgnoreNotFound(c.Delete(ctx, part, client.Preconditions{UID: &part.UID}))
}

func testOrphans(w *world) {
	w.manage("collector", func(m manager.Manager) error {
		return controllerruntime.NewControllerManagedBy(m).For(&corev1.Secret{}).
			Watches(&corev1.ConfigMap{}, &handler.EnqueueRequestForObject{}).
			Complete(reconcile.AsReconciler(m.GetClient(), &collector{m.GetClient(), m.GetAPIReader(), w.correct}))
	})
	w.pass(time.Second)
	gone := w.cluster("gone")
	w.must(w.Create(w.Context(), secret(named("gone"))))
	for _, name := range []string{"a", "b", "c"} {
		w.pass(5 * time.Second)
		w.cluster(name)
		w.pass(time.Second)
		w.must(w.Create(w.Context(), secret(named(name))))
	}
	w.must(w.Delete(w.Context(), gone))
	w.pass(trouble)
	w.settle()
	left := ""
	for _, s := range w.secrets("default") {
		left += s.Name
	}
	if left != "abc" {
		w.Errorf("there are the secrets %q, want those of abc", left)
	}
}
