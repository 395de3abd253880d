package gallery

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubesim/kubesim/fake"
)

var terminal = exhibit{
	name:    "terminal",
	seen:    "akuity/kargo#564",
	mistake: "a conflict is treated as a permanent failure",
	pattern: "errors of the API are retried; only invalid input fails permanently",
	server:  fake.Options{Bare: true},
	test:    testTerminal,
}

// kargo executes promotions: it writes a version to a stage, a Secret, and records the result in the promotion. After a conflict
// with another writer of the stage, which a retry would have resolved, the promotion fails permanently.
//
// See akuity/kargo#564; in Altinity/clickhouse-operator#2026 one failed request aborts a rollout of hours.
//
// The correct version returns the error, so that it is called again.
type kargo struct {
	client.Client
	correct bool
}

func (k *kargo) Reconcile(ctx context.Context, promotion *corev1.ConfigMap) (reconcile.Result, error) {
	if promotion.Data["phase"] != "" {
		return done, nil // it is over
	}
	phase := "Succeeded"
	if err := k.promote(ctx, promotion.Data["version"]); err != nil {
		if k.correct {
			return done, err
		}
		phase = "Failed"
	}
	promotion.Data["phase"] = phase
	return done, k.Update(ctx, promotion)
}

func (k *kargo) promote(ctx context.Context, version string) error {
	stage := &corev1.Secret{}
	if err := k.Get(ctx, client.ObjectKey{Namespace: "default", Name: "stage"}, stage); err != nil {
		return err
	}
	stage.Data = map[string][]byte{"version": []byte(version)}
	return k.Update(ctx, stage)
}

func testTerminal(w *world) {
	stage := secret(named("stage"))
	w.must(w.Create(w.Context(), stage))
	w.operate(func(m manager.Manager) reconcile.ObjectReconciler[*corev1.ConfigMap] {
		return &kargo{m.GetClient(), w.correct}
	})
	w.pass(time.Second)
	p := w.cluster("promotion", "version", "2")
	w.pass(trouble)
	w.settle()
	w.pass(3 * whole) // a queue waits for up to 1,000 s before it gives a key again that has failed often
	w.must(w.Get(w.Context(), client.ObjectKeyFromObject(p), p))
	w.must(w.Get(w.Context(), client.ObjectKeyFromObject(stage), stage))
	if p.Data["phase"] != "Succeeded" || string(stage.Data["version"]) != "2" {
		w.Errorf("the promotion has %s, and the stage version %s", p.Data["phase"], stage.Data["version"])
	}
}
