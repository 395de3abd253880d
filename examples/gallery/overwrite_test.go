package gallery

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	clientretry "k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubesim/kubesim/fake"
)

var overwrite = exhibit{
	name:    "overwrite",
	seen:    "pingcap/tidb-operator#81, RamenDR/ramen#2338",
	mistake: "after a conflict an old object is written with the version of the new one",
	pattern: "read, change, update: other clients' changes are kept",
	server:  fake.Options{Bare: true},
	test:    testOverwrite,
}

// ramen records in the custom resource that it has seen it. After a conflict it copies the resourceVersion of the stored object,
// and writes the whole object from its memory: the changes of other clients are lost.
//
// See pingcap/tidb-operator#81, and the review of RamenDR/ramen#2338.
//
// The correct version applies its change to the stored object.
type ramen struct {
	client.Client
	live    client.Reader
	correct bool
}

func (r *ramen) Reconcile(ctx context.Context, volume *corev1.ConfigMap) (reconcile.Result, error) {
	if volume.Data["seen"] == volume.Data["size"] {
		return done, nil
	}
	volume.Data["seen"] = volume.Data["size"]
	return done, clientretry.RetryOnConflict(clientretry.DefaultRetry, func() error {
		now := &corev1.ConfigMap{}
		if err := r.live.Get(ctx, client.ObjectKeyFromObject(volume), now); err != nil {
			return err
		}
		if r.correct {
			now.Data["seen"] = now.Data["size"]
			return r.Update(ctx, now)
		}
		volume.ResourceVersion = now.ResourceVersion
		return r.Update(ctx, volume)
	})
}

func testOverwrite(w *world) {
	w.operate(func(m manager.Manager) reconcile.ObjectReconciler[*corev1.ConfigMap] {
		return &ramen{m.GetClient(), m.GetAPIReader(), w.correct}
	})
	c := w.cluster("volume", "size", "1")
	for _, size := range []string{"2", "3", "4"} {
		w.pass(5 * time.Second)
		change(w, c, func(c *corev1.ConfigMap) { c.Data["size"] = size })
	}
	w.pass(trouble)
	w.settle()
	w.must(w.Get(w.Context(), client.ObjectKeyFromObject(c), c))
	if c.Data["size"] != "4" || c.Data["seen"] != "4" {
		w.Errorf("the user has asked for 4, and there is %s, of which %s was seen", c.Data["size"], c.Data["seen"])
	}
}
