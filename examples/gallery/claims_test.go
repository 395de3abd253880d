package gallery

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubesim/kubesim/fake"
)

var claims = exhibit{
	name:    "claims",
	seen:    "pravega/zookeeper-operator#312",
	mistake: "objects are deleted by the name of their owner, which a new object has now",
	pattern: "identity by uid: owner references and preconditions",
	server:  fake.Options{Bare: true},
	test:    testClaims,
}

// zookeeper creates a Secret, which stands for a volume, for each member of a cluster, and deletes the volumes of a deleted
// cluster. After a restart its cache may contain an older state, for example a cluster that was being deleted. If there is a new
// cluster with that name, its data is deleted.
//
// See pravega/zookeeper-operator#312, and the similar k8ssandra/cass-operator#118 and instaclustr/cassandra-operator#402.
//
// The correct version lists the volumes from the server instead of its cache. It deletes a volume only if the uid in the owner
// reference is that of the current cluster, with the volume's uid as a precondition.
type zookeeper struct {
	client.Client
	live    client.Reader
	correct bool
}

const volumesFinalizer = "example.com/volumes"

func (z *zookeeper) Reconcile(ctx context.Context, cluster *corev1.ConfigMap) (reconcile.Result, error) {
	if cluster.DeletionTimestamp != nil {
		if err := z.clean(ctx, cluster); err != nil {
			return done, err
		}
		controllerutil.RemoveFinalizer(cluster, volumesFinalizer)
		return done, client.IgnoreNotFound(z.Update(ctx, cluster))
	}
	for i := range size(cluster) {
		volume := secret(named(fmt.Sprintf("%s-%d", cluster.Name, i)))
		volume.Labels = map[string]string{"cluster": cluster.Name}
		if z.Get(ctx, client.ObjectKeyFromObject(volume), &corev1.Secret{}) == nil {
			continue
		}
		if err := controllerutil.SetControllerReference(cluster, volume, z.Scheme()); err != nil {
			return done, err
		}
		if err := z.Create(ctx, volume); client.IgnoreAlreadyExists(err) != nil {
			return done, err
		}
	}
	return done, nil
}

// clean deletes the volumes of a cluster. The mistake is to delete by label, which includes the volumes of a new cluster with the
// same name.
func (z *zookeeper) clean(ctx context.Context, cluster *corev1.ConfigMap) error {
	volumes, selector := &corev1.SecretList{}, client.MatchingLabels{"cluster": cluster.Name}
	if !z.correct {
		return z.DeleteAllOf(ctx, &corev1.Secret{}, client.InNamespace(cluster.Namespace), selector)
	}
	if err := z.live.List(ctx, volumes, selector); err != nil {
		return err
	}
	for i := range volumes.Items {
		volume := &volumes.Items[i]
		if !metav1.IsControlledBy(volume, cluster) {
			continue
		}
		if err := z.Delete(ctx, volume, client.Preconditions{UID: &volume.UID}); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

func testClaims(w *world) {
	w.srv.Never("the volume of a cluster that is there is deleted", func(view fake.View) error {
		if view.Write == nil || view.Write.Resource != "secrets" || view.Write.After() != nil {
			return nil
		}
		cluster := view.Get("configmaps", "default", "zoo")
		if cluster != nil && cluster.DeletionTimestamp() == "" &&
			cluster.UID() == view.Write.Before().Objects("metadata", "ownerReferences")[0].String("uid") {
			return fmt.Errorf("cluster %s loses its data", cluster.Name())
		}
		return nil
	})
	w.operate(func(m manager.Manager) reconcile.ObjectReconciler[*corev1.ConfigMap] {
		return &zookeeper{m.GetClient(), m.GetAPIReader(), w.correct}
	})
	create := func() *corev1.ConfigMap {
		c := &corev1.ConfigMap{ObjectMeta: named("zoo"), Data: map[string]string{"size": "1"}}
		c.Finalizers = []string{volumesFinalizer} // a webhook would add it
		w.must(w.Create(w.Context(), c))
		return c
	}
	c := create()
	w.pass(5 * time.Second)
	w.must(w.Delete(w.Context(), c))
	w.await("the cluster is gone", func() bool { return w.Get(w.Context(), client.ObjectKeyFromObject(c), c) != nil })
	c = create()
	for _, size := range []string{"2", "3", "4"} {
		w.pass(5 * time.Second)
		change(w, c, func(c *corev1.ConfigMap) { c.Data["size"] = size })
	}
	w.pass(trouble)
	w.settle()
}
