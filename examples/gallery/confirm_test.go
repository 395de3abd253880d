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

var confirm = exhibit{
	name:    "confirm",
	seen:    "pingcap/tidb-operator#6532",
	mistake: "a finalizer is removed when the cache shows no more objects to delete",
	pattern: "finalizers that confirm deletions with the server",
	server:  fake.Options{Bare: true},
	test:    testConfirm,
}

// tidb creates a Secret, which stands for a store, for each cluster in another namespace, where owner references do not work. When
// the cluster is deleted, it deletes the stores in its cache, and removes its finalizer when there are none. A store that was
// created shortly before is not in the cache, so it is never deleted.
//
// See pingcap/tidb-operator#6532, and open-cluster-management-io/work#16.
//
// The correct version lists the remaining stores from the server, and keeps its finalizer as long as requests of an earlier process
// may still arrive. It also creates nothing for a cluster before it has confirmed with the server that the cluster exists, because
// after a restart its cache may contain a deleted one.
type tidb struct {
	client.Client
	live    client.Reader
	correct bool
	started time.Time
}

const storesFinalizer = "example.com/stores"

func (d *tidb) Reconcile(ctx context.Context, cluster *corev1.ConfigMap) (reconcile.Result, error) {
	if cluster.DeletionTimestamp != nil {
		return d.clean(ctx, cluster)
	}
	if controllerutil.AddFinalizer(cluster, storesFinalizer) {
		return done, d.Update(ctx, cluster)
	}
	if d.correct && !exists(ctx, d.live, cluster) {
		return done, errOld
	}
	store := secret(metav1.ObjectMeta{Namespace: "stores", Name: cluster.Name})
	return done, client.IgnoreAlreadyExists(d.Create(ctx, store))
}

// clean deletes stores, and is retried until there are none.
func (d *tidb) clean(ctx context.Context, cluster *corev1.ConfigMap) (reconcile.Result, error) {
	from, stores := client.Reader(d.Client), &corev1.SecretList{}
	if d.correct {
		from = d.live
	}
	if err := from.List(ctx, stores, client.InNamespace("stores")); err != nil {
		return done, err
	}
	for i := range stores.Items {
		if err := d.Delete(ctx, &stores.Items[i]); client.IgnoreNotFound(err) != nil {
			return done, err
		}
	}
	if len(stores.Items) > 0 {
		return reconcile.Result{RequeueAfter: time.Second}, nil
	}
	if d.correct && !alone(d.started) {
		return reconcile.Result{RequeueAfter: time.Until(d.started.Add(inFlight))}, nil
	}
	controllerutil.RemoveFinalizer(cluster, storesFinalizer)
	return done, client.IgnoreNotFound(d.Update(ctx, cluster))
}

func testConfirm(w *world) {
	w.must(w.Create(w.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "stores"}}))
	w.operate(func(m manager.Manager) reconcile.ObjectReconciler[*corev1.ConfigMap] {
		return &tidb{m.GetClient(), m.GetAPIReader(), w.correct, time.Now()}
	})
	c := w.cluster("db")
	w.pass(2 * time.Second)
	w.must(w.Delete(w.Context(), c))
	w.pass(trouble)
	w.settle()
	if n := len(w.secrets("stores")); n != 0 {
		w.Errorf("%d stores are left behind", n)
	}
}
