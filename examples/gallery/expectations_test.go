package gallery

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubesim/kubesim/fake"
)

var expectations = exhibit{
	name:    "expectations",
	seen:    "ray-project/kuberay#715",
	mistake: "missing objects are counted in a cache, which lacks the latest creations",
	pattern: "expectations: created objects are counted until the cache has them",
	server:  fake.Options{Bare: true},
	test:    testExpectations,
}

// rays creates as many workers as a cluster should have and its cache lacks; they are Secrets with generated names. When the first
// of them arrives in the cache, it reconciles again, before the cache contains all of them, and creates the others a second time.
// The real operator then deletes the excess workers, and their work is lost.
//
// See ray-project/kuberay#715; kubernetes-sigs/kubebuilder#1381 asks how to avoid it.
//
// The correct version remembers the workers that it has created until its cache contains them. If it cannot know which of them
// exist, after a restart or a failed create, it waits as long as a request may be in flight, and then asks the server.
type rays struct {
	client.Client
	live    client.Reader
	correct bool
	unsure  time.Time                        // time at which it lost track of the created workers
	made    map[types.UID]map[types.UID]bool // by cluster: created workers that the cache lacked
}

func (r *rays) Reconcile(ctx context.Context, cluster *corev1.ConfigMap) (reconcile.Result, error) {
	have, err := r.workers(ctx, r.Client, cluster)
	if err != nil {
		return done, err
	}
	count := len(have)
	if r.correct {
		if r.made[cluster.UID] == nil && !alone(r.unsure) {
			return reconcile.Result{RequeueAfter: time.Until(r.unsure.Add(inFlight))}, nil
		}
		if count, err = r.known(ctx, cluster, have); err != nil {
			return done, err
		}
	}
	for ; count < size(cluster); count++ {
		worker := secret(named(""))
		worker.GenerateName, worker.Labels = cluster.Name+"-worker-", map[string]string{"cluster": cluster.Name}
		if err := controllerutil.SetControllerReference(cluster, worker, r.Scheme()); err != nil {
			return done, err
		}
		if err := r.Create(ctx, worker); err != nil {
			delete(r.made, cluster.UID) // it may exist, or be created later
			r.unsure = time.Now()
			return done, err
		}
		if r.correct {
			r.made[cluster.UID][worker.UID] = true
		}
	}
	return done, nil
}

// known returns the number of workers in the cache and of created ones that the cache lacks.
func (r *rays) known(ctx context.Context, cluster *corev1.ConfigMap, cached map[types.UID]bool) (int, error) {
	if r.made[cluster.UID] == nil {
		there, err := r.workers(ctx, r.live, cluster)
		if err != nil {
			return 0, err
		}
		r.made[cluster.UID] = there
	}
	for uid := range cached {
		delete(r.made[cluster.UID], uid)
	}
	return len(cached) + len(r.made[cluster.UID]), nil
}

func (r *rays) workers(ctx context.Context, from client.Reader, cluster *corev1.ConfigMap) (map[types.UID]bool, error) {
	list, uids := &corev1.SecretList{}, map[types.UID]bool{}
	err := from.List(ctx, list, client.InNamespace(cluster.Namespace), client.MatchingLabels{"cluster": cluster.Name})
	for i := range list.Items {
		uids[list.Items[i].UID] = true
	}
	return uids, err
}

func testExpectations(w *world) {
	w.srv.Never("more than three workers", func(view fake.View) error {
		if n := len(view.List("secrets", "default")); n > 3 {
			return fmt.Errorf("there are %d", n)
		}
		return nil
	})
	w.operate(func(m manager.Manager) reconcile.ObjectReconciler[*corev1.ConfigMap] {
		return &rays{m.GetClient(), m.GetAPIReader(), w.correct, time.Now(), map[types.UID]map[types.UID]bool{}}
	})
	c := w.cluster("ray", "size", "1")
	w.pass(inFlight + 10*time.Second)
	change(w, c, func(c *corev1.ConfigMap) { c.Data["size"] = "3" })
	w.pass(trouble)
	w.settle()
	if n := len(w.secrets("default")); n != 3 {
		w.Errorf("%d workers, want 3", n)
	}
}
