package gallery

import (
	"context"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubesim/kubesim/fake"
)

var schedule = exhibit{
	name:    "schedule",
	seen:    "argoproj/argo-workflows#14719",
	mistake: "a run is started, then recorded; after a crash in between it is started again",
	pattern: "requeue for a time, and a name that is derived from that time",
	server:  fake.Options{Bare: true},
	test:    testSchedule,
}

// cron starts a run, a Secret, every 20 seconds, and then records the time of the start. If that second write fails, it starts the same run
// again.
//
// See argoproj/argo-workflows#14719.
//
// The correct version derives the name of the run from its scheduled time.
type cron struct {
	client.Client
	correct bool
}

const period = 20 * time.Second

func (c *cron) Reconcile(ctx context.Context, schedule *corev1.ConfigMap) (reconcile.Result, error) {
	slot := time.Now().Truncate(period).Unix()
	last, _ := strconv.ParseInt(schedule.Data["last"], 10, 64)
	if slot > last {
		at := strconv.FormatInt(slot, 10)
		run := secret(named(""))
		run.Labels = map[string]string{"slot": at}
		if run.GenerateName = schedule.Name + "-"; c.correct {
			run.GenerateName, run.Name = "", schedule.Name+"-"+at
		}
		if err := c.Create(ctx, run); client.IgnoreAlreadyExists(err) != nil {
			return done, err
		}
		schedule.Data["last"] = at
		if err := c.Update(ctx, schedule); err != nil {
			return done, err
		}
	}
	return reconcile.Result{RequeueAfter: time.Until(time.Unix(slot, 0).Add(period))}, nil
}

func testSchedule(w *world) {
	w.operate(func(m manager.Manager) reconcile.ObjectReconciler[*corev1.ConfigMap] {
		return &cron{m.GetClient(), w.correct}
	})
	w.cluster("report", "last", "0")
	w.pass(trouble)
	w.srv.Heal()
	w.pass(time.Minute)
	began, last := map[string]int{}, ""
	for _, run := range w.secrets("default") {
		last = max(last, run.Labels["slot"])
		if began[run.Labels["slot"]]++; began[run.Labels["slot"]] > 1 {
			w.Errorf("the run of %s has begun twice", run.Labels["slot"])
		}
	}
	if at, _ := strconv.ParseInt(last, 10, 64); time.Since(time.Unix(at, 0)) > time.Minute {
		w.Errorf("the last run was that of %s", last)
	}
}
