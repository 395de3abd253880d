package gallery

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubesim/kubesim/fake"
)

var between = exhibit{
	name:    "between",
	seen:    "rabbitmq/cluster-operator#782",
	mistake: "the second of two writes is never done if the process ends after the first",
	pattern: "each write follows from the observed state, never from another write",
	server:  fake.Options{Bare: true},
	test:    testBetween,
}

// rabbit keeps a set and its volume at a cluster's desired size. The size of a set is immutable, so rabbit deletes the set,
// enlarges the volume, and creates the set again. If it crashes or fails after the first step, it later finds no set, creates one
// of the new size, and concludes that everything is right. The volume stays small forever.
//
// See rabbitmq/cluster-operator#782.
//
// The correct version compares and enlarges the volume first in every reconciliation, independently of the set.
type rabbit struct {
	client.Client
	correct bool
}

func (r *rabbit) Reconcile(ctx context.Context, cluster *corev1.ConfigMap) (reconcile.Result, error) {
	want := cluster.Data["storage"]
	if r.correct {
		if err := r.grow(ctx, cluster.Name, want); err != nil {
			return done, err
		}
	}
	set := secret(named(cluster.Name + "-set"))
	err := r.Get(ctx, client.ObjectKeyFromObject(set), set)
	if apierrors.IsNotFound(err) {
		set = secret(named(cluster.Name+"-set"), "storage", want)
		if err := controllerutil.SetControllerReference(cluster, set, r.Scheme()); err != nil {
			return done, err
		}
		return done, client.IgnoreAlreadyExists(r.Create(ctx, set))
	}
	if err != nil || string(set.Data["storage"]) == want {
		return done, err
	}
	if err := r.Delete(ctx, set); err != nil || r.correct {
		return done, client.IgnoreNotFound(err)
	}
	return done, r.grow(ctx, cluster.Name, want)
}

// grow enlarges the volume of a cluster.
func (r *rabbit) grow(ctx context.Context, name, want string) error {
	volume := &corev1.Secret{}
	err := r.Get(ctx, client.ObjectKey{Namespace: "default", Name: name + "-volume"}, volume)
	if err != nil || string(volume.Data["storage"]) == want {
		return client.IgnoreNotFound(err)
	}
	volume.Data["storage"] = []byte(want)
	return r.Update(ctx, volume)
}

func testBetween(w *world) {
	volume := secret(named("mq-volume"), "storage", "10Gi")
	w.must(w.Create(w.Context(), volume))
	w.operate(func(m manager.Manager) reconcile.ObjectReconciler[*corev1.ConfigMap] {
		return &rabbit{m.GetClient(), w.correct}
	})
	c := w.cluster("mq", "storage", "10Gi")
	w.pass(10 * time.Second)
	change(w, c, func(c *corev1.ConfigMap) { c.Data["storage"] = "15Gi" })
	w.pass(trouble)
	w.settle()
	w.must(w.Get(w.Context(), client.ObjectKeyFromObject(volume), volume))
	if got := string(volume.Data["storage"]); got != "15Gi" {
		w.Errorf("the volume has %s, want 15Gi", got)
	}
}
