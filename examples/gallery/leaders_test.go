package gallery

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubesim/kubesim/fake"
)

var leaders = exhibit{
	name:    "leaders",
	seen:    "volcano-sh/kthena#1793",
	mistake: "a former leader continues to write",
	pattern: "fenced leaders: a write of an old term is refused",
	server:  fake.Options{Bare: true},
	test:    testLeaders,
}

// candidate increments a counter every five seconds while it leads. At the beginning of its term it records its name. Its work uses
// the context of the process, so it continues after the end of the term, and treats the writes of the next leader as its own.
//
// See volcano-sh/kthena#1793, and kubernetes/kubernetes#23731.
//
// The correct version stops at the end of its term. That alone is not sufficient, because a request of the old leader may be in
// flight. Therefore each write contains the resourceVersion of the leader's own previous write: if another leader has begun its
// term, the server rejects it.
type candidate struct {
	name    string
	client  kubernetes.Interface
	correct bool
}

func (c *candidate) run(ctx context.Context, config *rest.Config) error {
	c.client = kubernetes.NewForConfigOrDie(config)
	lease := &resourcelock.LeaseLock{LeaseMeta: named("leader"), Client: c.client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: c.name}}
	lead := func(term context.Context) {
		if c.correct {
			c.work(term)
		} else {
			c.work(ctx)
		}
	}
	for ctx.Err() == nil { // and then it is a candidate again
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{Lock: lease, LeaseDuration: 15 * time.Second,
			RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: lead, OnStoppedLeading: func() {}}})
	}
	return nil
}

// work increments the counter until its context ends.
func (c *candidate) work(ctx context.Context) {
	var state *corev1.ConfigMap
	for ctx.Err() == nil {
		state = c.step(ctx, state)
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
	}
}

// step writes once, based on its previous write. It returns nil if the write fails, and then a new term has to begin.
func (c *candidate) step(ctx context.Context, state *corev1.ConfigMap) *corev1.ConfigMap {
	maps, fresh := c.client.CoreV1().ConfigMaps("default"), state == nil
	if fresh || !c.correct {
		now, err := maps.Get(ctx, "state", metav1.GetOptions{})
		if err != nil {
			return state
		}
		state = now
	}
	if fresh {
		term, _ := strconv.Atoi(state.Data["term"])
		state.Data["term"] = strconv.Itoa(term + 1)
	}
	state.Data["leader"] = c.name
	count, _ := strconv.Atoi(state.Data["count"])
	state.Data["count"] = strconv.Itoa(count + 1)
	state, err := maps.Update(ctx, state, metav1.UpdateOptions{})
	if err != nil {
		return nil
	}
	return state
}

func testLeaders(w *world) {
	state := w.cluster("state", "count", "0")
	w.srv.Never("one leader writes in the term of another", func(view fake.View) error {
		if view.Write == nil || view.Write.Resource != "configmaps" || view.Write.Before() == nil {
			return nil
		}
		data := fake.To[corev1.ConfigMap](view.Write.Before(), view.Write.After())
		before, after := data[0].Data, data[1].Data
		if before["term"] == after["term"] && before["leader"] != after["leader"] {
			return fmt.Errorf("%s writes in term %s, which is that of %s", after["leader"], after["term"], before["leader"])
		}
		return nil
	})
	for _, name := range []string{"one", "two"} {
		w.process(name, func(ctx context.Context, config *rest.Config) error {
			return (&candidate{name: name, correct: w.correct}).run(ctx, config)
		})
		w.pass(time.Second) // the first one leads, without trouble
	}
	w.pass(trouble)
	w.srv.Heal()
	w.pass(time.Minute)
	w.must(w.Get(w.Context(), client.ObjectKeyFromObject(state), state))
	before := state.Data["count"]
	w.pass(30 * time.Second)
	w.must(w.Get(w.Context(), client.ObjectKeyFromObject(state), state))
	if state.Data["count"] == before {
		w.Errorf("nobody leads: the count is %s, as half a minute ago", before)
	}
}
