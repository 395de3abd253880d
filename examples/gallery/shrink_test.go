package gallery

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubesim/kubesim/fake"
)

var shrink = exhibit{
	name:    "shrink",
	seen:    "instaclustr/cassandra-operator#407, pravega/zookeeper-operator#314",
	mistake: "a cluster is shrunk, because an old state of it had a smaller size",
	pattern: "a live read before an irreversible operation",
	server:  fake.Options{Bare: true},
	test:    testShrink,
}

// cassandra has a volume for each member of a cluster, and deletes the volumes of excess members. If a cluster was scaled down and
// up again, it deletes the volume of an existing member because of an old cache.
//
// See instaclustr/cassandra-operator#407 and pravega/zookeeper-operator#314.
//
// The correct version reads the desired size from the server before it deletes data. It deletes the volume with the resourceVersion
// that it has seen, because client-go may retry a request for half a minute, and by then the size may have changed.
type cassandra struct {
	client.Client
	live    client.Reader
	correct bool
}

func (c *cassandra) Reconcile(ctx context.Context, cluster *corev1.ConfigMap) (reconcile.Result, error) {
	for i := range 3 {
		volume := secret(named(fmt.Sprintf("%s-%d", cluster.Name, i)))
		err := c.Get(ctx, client.ObjectKeyFromObject(volume), volume)
		switch {
		case i < size(cluster) && err != nil:
			err = c.make(ctx, cluster, volume)
		case i >= size(cluster) && err == nil:
			err = c.remove(ctx, cluster, volume)
		}
		if client.IgnoreNotFound(err) != nil {
			return done, err
		}
	}
	return done, nil
}

func (c *cassandra) make(ctx context.Context, cluster *corev1.ConfigMap, volume *corev1.Secret) error {
	if err := controllerutil.SetControllerReference(cluster, volume, c.Scheme()); err != nil {
		return err
	}
	return client.IgnoreAlreadyExists(c.Create(ctx, volume))
}

func (c *cassandra) remove(ctx context.Context, cluster *corev1.ConfigMap, volume *corev1.Secret) error {
	if !c.correct {
		return c.Delete(ctx, volume)
	}
	now := &corev1.ConfigMap{}
	if err := c.live.Get(ctx, client.ObjectKeyFromObject(cluster), now); err != nil {
		return err
	}
	if now.UID != cluster.UID || now.Data["size"] != cluster.Data["size"] {
		return errOld
	}
	return c.Delete(ctx, volume, client.Preconditions{UID: &volume.UID, ResourceVersion: &volume.ResourceVersion})
}

func testShrink(w *world) {
	w.operate(func(m manager.Manager) reconcile.ObjectReconciler[*corev1.ConfigMap] {
		return &cassandra{m.GetClient(), m.GetAPIReader(), w.correct}
	})
	c := w.cluster("ring", "size", "2")
	resize := func(sizes ...string) {
		for _, size := range sizes {
			w.pass(5 * time.Second)
			change(w, c, func(c *corev1.ConfigMap) { c.Data["size"] = size })
		}
	}
	resize("1", "2")
	w.pass(15 * time.Second) // the earlier requests have been done now
	w.await("two members", func() bool { return len(w.secrets("default")) == 2 })
	second := &w.secrets("default")[1]
	change(w, second, func(volume *corev1.Secret) { volume.Data = map[string][]byte{"data": []byte("much")} })
	resize("3", "2", "3")
	w.pass(trouble)
	w.settle()
	w.must(w.Get(w.Context(), client.ObjectKeyFromObject(second), second))
	if len(second.Data) == 0 {
		w.Errorf("the data of the second member are gone")
	}
}
