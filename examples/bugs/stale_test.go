package bugs

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/kubesim/kubesim/sim/fault"
)

// cassandra creates a claim for each data center, and deletes the claims of a deleted data center.
type cassandra struct {
	client.Client
	live  client.Reader // reads from the server instead of the cache
	fixed bool
}

const finalizer = "cassandra.example.com/claims"

// Reconcile reads the data center from the cache.
func (c *cassandra) Reconcile(ctx context.Context, request controllerruntime.Request) (controllerruntime.Result,
	error) {
	dc := &corev1.ConfigMap{}
	if err := c.Get(ctx, request.NamespacedName, dc); err != nil {
		return controllerruntime.Result{}, client.IgnoreNotFound(err)
	}
	if dc.DeletionTimestamp != nil {
		if err := c.clean(ctx, dc); err != nil {
			return controllerruntime.Result{}, err
		}
		controllerutil.RemoveFinalizer(dc, finalizer)
		return controllerruntime.Result{}, client.IgnoreNotFound(c.Update(ctx, dc))
	}
	if controllerutil.AddFinalizer(dc, finalizer) {
		return controllerruntime.Result{}, c.Update(ctx, dc)
	}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: object(dc.Name + "-0"), Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{
			Requests: corev1.ResourceList{"storage": resource.MustParse("1Gi")}}}}
	claim.Labels = map[string]string{"cluster": dc.Name}
	if err := controllerutil.SetControllerReference(dc, claim, c.Scheme()); err != nil {
		return controllerruntime.Result{}, err
	}
	return controllerruntime.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, claim))
}

// clean deletes the claims of a data center, either by name (the bug) or by UID.
func (c *cassandra) clean(ctx context.Context, dc *corev1.ConfigMap) error {
	if !c.fixed { // by name, including the claims of a new data center with the same name
		return c.DeleteAllOf(ctx, &corev1.PersistentVolumeClaim{}, client.InNamespace(dc.Namespace),
			client.MatchingLabels{"cluster": dc.Name})
	}
	claims := &corev1.PersistentVolumeClaimList{}
	if err := c.live.List(ctx, claims, client.InNamespace(dc.Namespace),
		client.MatchingLabels{"cluster": dc.Name}); err != nil {
		return err
	}
	for i := range claims.Items { // by uid: only the claims of this data center
		if claim := &claims.Items[i]; metav1.IsControlledBy(claim, dc) {
			if err := c.Delete(ctx, claim, client.Preconditions{UID: &claim.UID}); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	return nil
}

// A data center is deleted, and one with the same name is created. The operator restarts and connects to an API server whose cache
// lags: its first list contains the old data center, which is marked for deletion. It completes the deletion again, and deletes the
// volumes of the new data center: all data is lost. The API server works correctly: a list with resourceVersion=0, with which
// caches start, may be old. See k8ssandra/cass-operator#118 (K8SSAND-559) and similar bugs: instaclustr/cassandra-operator#402,
// pravega/zookeeper-operator#312, casskop#316.
//
// client-go 1.35 and newer start with a watch-list, which is never old. If that fails once, they list as before.
func TestStaleRestart(t *testing.T) {
	both(t, func(w world, fixed bool) {
		setup := func(m controllerruntime.Manager) error {
			return controllerruntime.NewControllerManagedBy(m).For(&corev1.ConfigMap{}).
				Complete(&cassandra{m.GetClient(), m.GetAPIReader(), fixed})
		}
		first := w.start(setup, nil)
		dc := owner("dc1", nil)
		w.must(w.Create(w.t.Context(), dc))
		settle(time.Second)
		old := w.claim()
		first.crash()

		w.must(w.Delete(w.t.Context(), dc)) // only marked: the finalizer keeps it
		w.srv.Replica(2).Lag()              // the second server receives no more commits
		second := w.start(setup, nil)
		settle(time.Second)
		w.is.True(w.claim().DeletionTimestamp != nil) // correctly
		w.release()
		w.must(w.Create(w.t.Context(), owner("dc1", nil)))
		settle(time.Second)
		w.is.True(w.claim().UID != old.UID) // a new one, with new data

		second.crash()
		w.srv.Route("operator", 2)
		w.srv.Faults.Add(fault.On("watch", "configmaps").Client("operator").Times(1).Internal())
		w.start(setup, nil)
		settle(time.Minute)
		w.is.Equal(w.claim().DeletionTimestamp == nil, fixed) // the claim in use
		w.srv.Replica(2).Resume()
		settle(time.Minute)
		w.is.Equal(w.claim().DeletionTimestamp == nil, fixed) // too late: a deletion cannot be undone
	})
}

// claim returns the claim of the data center.
func (w world) claim() *corev1.PersistentVolumeClaim {
	w.t.Helper()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: object("dc1-0")}
	w.must(w.Get(w.t.Context(), client.ObjectKeyFromObject(claim), claim))
	return claim
}

// release removes the finalizer of a claim, as the claim protection controller does if no pod uses the claim.
func (w world) release() {
	w.t.Helper()
	claim := w.claim()
	claim.Finalizers = nil
	w.must(w.Update(w.t.Context(), claim))
}
