package gallery

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubesim/kubesim/fake"
)

var deletions = exhibit{
	name:    "deletions",
	seen:    "zalando/postgres-operator#941",
	mistake: "the controller depends on the event of a deletion, which does not come twice",
	pattern: "levels, not edges: a deletion stays visible until it has been handled",
	server:  fake.Options{Bare: true},
	test:    testDeletions,
}

// postgres creates a Secret in another namespace for each cluster, and deletes it on the event of the cluster's deletion. If the
// operator is down at that time, or its watch is broken, it never receives the event.
//
// See zalando/postgres-operator#941, and #2678 there.
//
// The correct version adds a finalizer to the cluster. The deletion is then a state, which lasts until the work is done.
type postgres struct {
	client.Client
	live    client.Reader
	correct bool
	started time.Time
}

const databaseFinalizer = "example.com/database"

func (p *postgres) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	database := secret(metav1.ObjectMeta{Namespace: "databases", Name: request.Name})
	cluster := &corev1.ConfigMap{}
	err := p.Get(ctx, request.NamespacedName, cluster)
	if apierrors.IsNotFound(err) {
		return done, client.IgnoreNotFound(p.Delete(ctx, database)) // the event of its deletion has come
	}
	if err != nil {
		return done, err
	}
	if p.correct && cluster.DeletionTimestamp != nil {
		if err := p.Delete(ctx, database); client.IgnoreNotFound(err) != nil {
			return done, err
		}
		if !alone(p.started) {
			return reconcile.Result{RequeueAfter: time.Until(p.started.Add(inFlight))}, nil
		}
		controllerutil.RemoveFinalizer(cluster, databaseFinalizer)
		return done, client.IgnoreNotFound(p.Update(ctx, cluster))
	}
	if p.correct && controllerutil.AddFinalizer(cluster, databaseFinalizer) {
		return done, p.Update(ctx, cluster)
	}
	if !exists(ctx, p.live, cluster) {
		return done, errOld
	}
	return done, client.IgnoreAlreadyExists(p.Create(ctx, database))
}

func testDeletions(w *world) {
	w.must(w.Create(w.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "databases"}}))
	w.manage("operator", func(m manager.Manager) error {
		return controllerruntime.NewControllerManagedBy(m).For(&corev1.ConfigMap{}).
			Complete(&postgres{m.GetClient(), m.GetAPIReader(), w.correct, time.Now()})
	})
	c := w.cluster("db")
	w.pass(5 * time.Second)
	w.must(w.Delete(w.Context(), c))
	w.pass(trouble)
	w.settle()
	if n := len(w.secrets("databases")); n != 0 {
		w.Errorf("%d databases are left", n)
	}
}
