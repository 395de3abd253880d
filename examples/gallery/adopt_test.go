package gallery

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubesim/kubesim/fake"
)

var adopt = exhibit{
	name:    "adopt",
	seen:    "kubernetes/kubernetes#42639",
	mistake: "an owner that is about to be deleted adopts an object that should outlive it",
	pattern: "adoption after a live read of the owner, with the version of the child",
	server:  fake.Options{Bare: true, Controllers: []string{"garbage-collector-controller"}},
	test:    testAdopt,
}

// adopter owns the Secrets with its label, and adopts Secrets without an owner. A user deletes the owner but wants to keep its
// Secrets, so the garbage collector first removes the owner references, and then the owner. The controller receives a Secret
// without an owner before it receives the deletion of its own object. It adopts the Secret again, and the garbage collector deletes
// the Secret with its owner.
//
// See kubernetes/kubernetes#42639, and #43032 there for the remaining problem.
//
// The correct version asks the server whether its object exists and is not being deleted, and adopts the Secret with the
// resourceVersion that it has seen. If the garbage collector has changed the Secret since then, the server rejects the request. A
// Secret that never had an owner is not protected in this way, because the garbage collector has no reason to change it.
type adopter struct {
	client.Client
	live    client.Reader
	correct bool
}

func (a *adopter) Reconcile(ctx context.Context, set *corev1.ConfigMap) (reconcile.Result, error) {
	members := &corev1.SecretList{}
	err := a.List(ctx, members, client.InNamespace(set.Namespace), client.MatchingLabels{"set": set.Name})
	if err != nil || set.DeletionTimestamp != nil {
		return done, err
	}
	for i := range members.Items {
		member := &members.Items[i]
		if metav1.GetControllerOf(member) != nil {
			continue
		}
		if a.correct && !exists(ctx, a.live, set) {
			return done, errOld
		}
		patch := client.MergeFrom(member.DeepCopy())
		if a.correct {
			patch = client.MergeFromWithOptions(member.DeepCopy(), client.MergeFromWithOptimisticLock{})
		}
		if err := controllerutil.SetControllerReference(set, member, a.Scheme()); err != nil {
			return done, err
		}
		if err := a.Patch(ctx, member, patch); client.IgnoreNotFound(err) != nil {
			return done, err
		}
	}
	return done, nil
}

func testAdopt(w *world) {
	w.operate(func(m manager.Manager) reconcile.ObjectReconciler[*corev1.ConfigMap] {
		return &adopter{m.GetClient(), m.GetAPIReader(), w.correct}
	})
	for _, name := range []string{"a", "b", "c"} {
		member := secret(named(name))
		member.Labels = map[string]string{"set": "set"}
		w.must(w.Create(w.Context(), member))
	}
	set := w.cluster("set")
	w.await("the members are adopted", func() bool {
		return !slices.ContainsFunc(w.secrets("default"), func(s corev1.Secret) bool { return !metav1.IsControlledBy(&s, set) })
	})
	w.must(w.Delete(w.Context(), set, client.PropagationPolicy(metav1.DeletePropagationOrphan)))
	w.pass(trouble)
	w.settle()
	if n := len(w.secrets("default")); n != 3 {
		w.Errorf("%d members are left, want all 3", n)
	}
}
