package gallery

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubesim/kubesim/fake"
)

var leak = exhibit{
	name:    "leak",
	seen:    "outscale/cluster-api-provider-outscale#917",
	mistake: "the finalizer is added after the resource that it should delete was created",
	pattern: "the finalizer first",
	server:  fake.Options{Bare: true},
	test:    testLeak,
}

// outscale creates an external resource, here a Secret in another namespace, for each custom resource, and then adds the finalizer
// that deletes it. If the custom resource is deleted between the two steps, the external resource remains, and costs money.
//
// See outscale/cluster-api-provider-outscale#917; crossplane/crossplane-runtime#63 discusses which mistake is worse.
//
// The correct version adds the finalizer first, and removes it when no earlier request can still create anything.
type outscale struct {
	client.Client
	live    client.Reader
	correct bool
	started time.Time
}

const externalFinalizer = "example.com/external"

func (o *outscale) Reconcile(ctx context.Context, resource *corev1.ConfigMap) (reconcile.Result, error) {
	external := secret(metav1.ObjectMeta{Namespace: "external", Name: resource.Name})
	if resource.DeletionTimestamp != nil {
		if err := o.Delete(ctx, external); client.IgnoreNotFound(err) != nil {
			return done, err
		}
		if o.correct && !alone(o.started) {
			return reconcile.Result{RequeueAfter: time.Until(o.started.Add(inFlight))}, nil
		}
		controllerutil.RemoveFinalizer(resource, externalFinalizer)
		return done, client.IgnoreNotFound(o.Update(ctx, resource))
	}
	if o.correct && controllerutil.AddFinalizer(resource, externalFinalizer) {
		return done, o.Update(ctx, resource)
	}
	if !exists(ctx, o.live, resource) {
		return done, errOld
	}
	if err := o.Create(ctx, external); client.IgnoreAlreadyExists(err) != nil {
		return done, err
	}
	if controllerutil.AddFinalizer(resource, externalFinalizer) {
		return done, o.Update(ctx, resource)
	}
	return done, nil
}

func testLeak(w *world) {
	w.must(w.Create(w.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "external"}}))
	w.operate(func(m manager.Manager) reconcile.ObjectReconciler[*corev1.ConfigMap] {
		return &outscale{m.GetClient(), m.GetAPIReader(), w.correct, time.Now()}
	})
	c := w.cluster("bucket")
	w.pass(3 * time.Second)
	w.must(w.Delete(w.Context(), c))
	w.pass(trouble)
	w.settle()
	if n := len(w.secrets("external")); n != 0 {
		w.Errorf("%d is left outside", n)
	}
}
