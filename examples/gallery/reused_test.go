package gallery

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubesim/kubesim/fake"
)

var reused = exhibit{
	name:    "reused",
	seen:    "operator-framework/helm-operator-plugins#378",
	mistake: "an object that was changed in memory but not stored is taken for the server's state",
	pattern: "each attempt begins with a read",
	server:  fake.Options{Bare: true},
	test:    testReused,
}

// helm sets the version of a release, a Secret, in up to five attempts. The first attempt changes the object in memory, and fails.
// The next one finds that the object already has the desired version, and does nothing.
//
// See operator-framework/helm-operator-plugins#378, and dotnet/dotnet-operator-sdk#298.
//
// The correct version reads the object in each attempt.
type helm struct {
	client.Client
	live    client.Reader
	correct bool
}

func (h *helm) Reconcile(ctx context.Context, chart *corev1.ConfigMap) (result reconcile.Result, err error) {
	release := &corev1.Secret{}
	for try := range 5 {
		if try == 0 || h.correct {
			if err = h.live.Get(ctx, client.ObjectKeyFromObject(chart), release); err != nil {
				continue
			}
		}
		if !set(release, chart.Data["version"]) {
			return done, nil
		}
		if err = h.Update(ctx, release); err == nil {
			return done, nil
		}
	}
	if apierrors.IsNotFound(err) {
		return reconcile.Result{RequeueAfter: time.Second}, nil
	}
	return done, err
}

// set sets the version of a release, and reports whether it had another one.
func set(release *corev1.Secret, version string) bool {
	if string(release.Data["version"]) == version {
		return false
	}
	release.Data = map[string][]byte{"version": []byte(version)}
	return true
}

func testReused(w *world) {
	release := secret(named("app"))
	w.must(w.Create(w.Context(), release))
	w.operate(func(m manager.Manager) reconcile.ObjectReconciler[*corev1.ConfigMap] {
		return &helm{m.GetClient(), m.GetAPIReader(), w.correct}
	})
	chart := w.cluster("app", "version", "1")
	w.pass(10 * time.Second)
	change(w, chart, func(chart *corev1.ConfigMap) { chart.Data["version"] = "2" })
	w.pass(trouble)
	w.settle()
	w.must(w.Get(w.Context(), client.ObjectKeyFromObject(release), release))
	if got := string(release.Data["version"]); got != "2" {
		w.Errorf("the release has version %s, want 2", got)
	}
}
