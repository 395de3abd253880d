package gallery

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubesim/kubesim/fake"
)

var lock = exhibit{
	name:    "lock",
	seen:    "kubermatic/kubermatic#6759",
	mistake: "a merge patch of a list removes an element that another controller has added",
	pattern: "optimistic locking of patches",
	server:  fake.Options{Bare: true},
	test:    testLock,
}

// guardian is one of two controllers that each add a finalizer to a cluster with a certain key. A merge patch replaces a list as a
// whole: if it was computed from an object without the other finalizer, it removes that finalizer. Before the controllers used
// patches, they used updates, whose resourceVersion prevented this.
//
// See kubermatic/kubermatic#6759, and tigera/operator#4492.
//
// In the correct version, the patches also contain the resourceVersion.
type guardian struct {
	client.Client
	name    string
	correct bool
}

func (g *guardian) finalizer() string { return "example.com/" + g.name }

func (g *guardian) Reconcile(ctx context.Context, cluster *corev1.ConfigMap) (reconcile.Result, error) {
	if cluster.Data[g.name] == "" {
		return done, nil
	}
	before := cluster.DeepCopy()
	if !controllerutil.AddFinalizer(cluster, g.finalizer()) {
		return done, nil
	}
	patch := client.MergeFrom(before)
	if g.correct {
		patch = client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	}
	return done, g.Patch(ctx, cluster, patch)
}

func testLock(w *world) {
	w.srv.Never("a finalizer that another has taken away", func(view fake.View) error {
		if view.Write == nil || view.Write.Before() == nil || view.Write.After() == nil {
			return nil
		}
		after := view.Write.After().Strings("metadata", "finalizers")
		for _, f := range view.Write.Before().Strings("metadata", "finalizers") {
			if !slices.Contains(after, f) && !strings.HasPrefix(view.Write.Client, strings.TrimPrefix(f, "example.com/")) {
				return fmt.Errorf("%s is gone", f)
			}
		}
		return nil
	})
	for _, name := range []string{"network", "backup"} {
		w.manage(name, func(m manager.Manager) error {
			return controllerruntime.NewControllerManagedBy(m).For(&corev1.ConfigMap{}).
				Complete(reconcile.AsReconciler(m.GetClient(), &guardian{m.GetClient(), name, w.correct}))
		})
	}
	c := w.cluster("kube", "network", "yes")
	w.pass(10 * time.Second)
	change(w, c, func(c *corev1.ConfigMap) { c.Data["backup"] = "yes" })
	w.pass(trouble)
	w.settle()
	w.must(w.Get(w.Context(), client.ObjectKeyFromObject(c), c))
	if len(c.Finalizers) != 2 {
		w.Errorf("finalizers %v, want those of network and backup", c.Finalizers)
	}
}
