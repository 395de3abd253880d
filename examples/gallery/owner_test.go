package gallery

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubesim/kubesim/fake"
)

var owner = exhibit{
	name:    "owner",
	seen:    "cloudamqp/lavinmq-operator#24",
	mistake: "the owner reference is written after the object was created",
	pattern: "owner references in the create",
	server:  fake.Options{Bare: true},
	test:    testOwner,
}

// lavin creates a Secret for each cluster, and sets its owner with a second write. If the second write fails or is never sent, the
// Secret has no owner, and the garbage collector never deletes it.
//
// See cloudamqp/lavinmq-operator#24, and noironetworks/aci-containers#436.
//
// The correct version creates the Secret with its owner.
type lavin struct {
	client.Client
	correct bool
}

func (l *lavin) Reconcile(ctx context.Context, cluster *corev1.ConfigMap) (reconcile.Result, error) {
	made := secret(named(cluster.Name))
	err := l.Get(ctx, client.ObjectKeyFromObject(made), made)
	if !apierrors.IsNotFound(err) {
		return done, err
	}
	if l.correct {
		if err := controllerutil.SetControllerReference(cluster, made, l.Scheme()); err != nil {
			return done, err
		}
		return done, client.IgnoreAlreadyExists(l.Create(ctx, made))
	}
	if err := l.Create(ctx, made); err != nil {
		return done, client.IgnoreAlreadyExists(err)
	}
	if err := controllerutil.SetControllerReference(cluster, made, l.Scheme()); err != nil {
		return done, err
	}
	return done, l.Update(ctx, made)
}

func testOwner(w *world) {
	w.operate(func(m manager.Manager) reconcile.ObjectReconciler[*corev1.ConfigMap] {
		return &lavin{m.GetClient(), w.correct}
	})
	c := w.cluster("mq")
	w.pass(trouble)
	w.settle()
	all := w.secrets("default")
	if len(all) != 1 || !metav1.IsControlledBy(&all[0], c) {
		w.Errorf("there are %d secrets, want one that the cluster owns", len(all))
	}
}
