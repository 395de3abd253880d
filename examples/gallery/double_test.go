package gallery

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubesim/kubesim/fake"
)

var double = exhibit{
	name:    "double",
	seen:    "scylladb/scylla-operator#2492",
	mistake: "a generated name, and a cache that does not have the created object yet",
	pattern: "deterministic names",
	server:  fake.Options{Bare: true},
	test:    testDouble,
}

// remotes creates one Secret, which stands for a remote data center, for each cluster. It looks for the Secret in its cache, and
// creates one with a generated name if there is none. A cache may lack the latest writes of its own client, so the next
// reconciliation creates a second data center, and deleting one of the two deletes data.
//
// See scylladb/scylla-operator#2492; argoproj/argo-rollouts#243 had four analyses of one rollout.
//
// In the correct version, the name is derived from the cluster, so the server rejects a second create.
type remotes struct {
	client.Client
	correct bool
}

func (r *remotes) Reconcile(ctx context.Context, cluster *corev1.ConfigMap) (reconcile.Result, error) {
	there := &corev1.SecretList{}
	err := r.List(ctx, there, client.InNamespace(cluster.Namespace), client.MatchingLabels{"cluster": cluster.Name})
	if err != nil || len(there.Items) > 0 {
		return done, err
	}
	remote := secret(named(""))
	remote.Labels = map[string]string{"cluster": cluster.Name}
	if r.correct {
		remote.Name = cluster.Name + "-remote"
	} else {
		remote.GenerateName = cluster.Name + "-remote-"
	}
	if err := controllerutil.SetControllerReference(cluster, remote, r.Scheme()); err != nil {
		return done, err
	}
	return done, client.IgnoreAlreadyExists(r.Create(ctx, remote))
}

func testDouble(w *world) {
	w.operate(func(m manager.Manager) reconcile.ObjectReconciler[*corev1.ConfigMap] {
		return &remotes{m.GetClient(), w.correct}
	})
	c := w.cluster("scylla")
	w.pass(10 * time.Second)
	change(w, c, func(c *corev1.ConfigMap) { c.Data = map[string]string{"racks": "2"} })
	w.pass(trouble)
	w.settle()
	if n := len(w.secrets("default")); n != 1 {
		w.Errorf("%d remote data centers, want 1", n)
	}
}
