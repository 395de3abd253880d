package gallery

import (
	"context"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubesim/kubesim/fake"
)

var generation = exhibit{
	name:    "generation",
	seen:    "gardener/etcd-druid#996",
	mistake: "observedGeneration is written before the conditions, so old conditions appear to be current",
	pattern: "status conditions and observedGeneration in one write at the end",
	server:  fake.Options{Bare: true},
	test:    testGeneration,
}

// druid copies the replicas of a Deployment, which stands for the custom resource here because it has a generation, to a Secret. It
// first sets observedGeneration in the status, then does the work, and then sets ready. If the work takes time, a client that waits
// for both mistakes the old value of ready for the new one.
//
// See gardener/etcd-druid#996.
//
// The correct version sets both at once, when the work is done. It records the generation in the Secret, and never writes an older
// one, because after a restart its cache may be behind its own work.
type druid struct {
	client.Client
	correct bool
}

func (d *druid) Reconcile(ctx context.Context, etcd *appsv1.Deployment) (reconcile.Result, error) {
	if etcd.Status.ObservedGeneration >= etcd.Generation && ready(etcd) {
		return done, nil
	}
	if !d.correct && etcd.Status.ObservedGeneration != etcd.Generation {
		etcd.Status.ObservedGeneration = etcd.Generation
		if err := d.Status().Update(ctx, etcd); err != nil {
			return done, err
		}
	}
	if err := d.work(ctx, etcd); err != nil {
		return done, err
	}
	etcd.Status.ObservedGeneration = etcd.Generation
	etcd.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}}
	return done, d.Status().Update(ctx, etcd)
}

func (d *druid) work(ctx context.Context, etcd *appsv1.Deployment) error {
	replicas, from := strconv.Itoa(int(*etcd.Spec.Replicas)), strconv.Itoa(int(etcd.Generation))
	member := &corev1.Secret{}
	err := d.Get(ctx, client.ObjectKeyFromObject(etcd), member)
	if apierrors.IsNotFound(err) {
		return d.Create(ctx, secret(named(etcd.Name), "replicas", replicas, "generation", from))
	}
	if err != nil {
		return err
	}
	if made, _ := strconv.ParseInt(string(member.Data["generation"]), 10, 64); d.correct && made > etcd.Generation {
		return errOld
	}
	member.Data["replicas"], member.Data["generation"] = []byte(replicas), []byte(from)
	return d.Update(ctx, member)
}

// ready reports whether a Deployment is available according to its status.
func ready(etcd *appsv1.Deployment) bool {
	return len(etcd.Status.Conditions) > 0 && etcd.Status.Conditions[0].Status == corev1.ConditionTrue
}

func testGeneration(w *world) {
	w.manage("operator", func(m manager.Manager) error {
		return controllerruntime.NewControllerManagedBy(m).For(&appsv1.Deployment{}).
			Complete(reconcile.AsReconciler(m.GetClient(), &druid{m.GetClient(), w.correct}))
	})
	labels := map[string]string{"app": "etcd"}
	etcd := &appsv1.Deployment{ObjectMeta: named("etcd"), Spec: appsv1.DeploymentSpec{
		Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "etcd", Image: "etcd"}}}}}}
	w.must(w.Create(w.Context(), etcd))
	for replicas := range int32(4) {
		change(w, etcd, func(etcd *appsv1.Deployment) { etcd.Spec.Replicas = &replicas })
		w.await("the change is ready", func() bool {
			w.must(w.Get(w.Context(), client.ObjectKeyFromObject(etcd), etcd))
			return etcd.Status.ObservedGeneration == etcd.Generation && ready(etcd)
		})
		member := &corev1.Secret{}
		w.must(w.Get(w.Context(), client.ObjectKeyFromObject(etcd), member))
		if got := string(member.Data["replicas"]); got != strconv.Itoa(int(replicas)) {
			w.Fatalf("it is ready, with %s replicas instead of %d", got, replicas)
		}
		w.pass(5 * time.Second)
	}
	w.settle()
}
