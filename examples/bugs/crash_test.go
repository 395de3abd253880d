package bugs

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// rabbit keeps a StatefulSet and its claim at a cluster's desired size. Because a StatefulSet's claim templates are immutable, it
// deletes the StatefulSet, enlarges the claim, and creates the StatefulSet again.
type rabbit struct {
	client.Client
	fixed bool
}

// Reconcile compares the desired with the actual state.
func (r *rabbit) Reconcile(ctx context.Context, request controllerruntime.Request) (controllerruntime.Result, error) {
	cluster := &corev1.ConfigMap{}
	if err := r.Get(ctx, request.NamespacedName, cluster); err != nil || cluster.Data["storage"] == "" {
		return controllerruntime.Result{}, client.IgnoreNotFound(err)
	}
	want := resource.MustParse(cluster.Data["storage"])
	if r.fixed { // the claim is checked each time, independently of the StatefulSet
		if err := r.grow(ctx, request, want); err != nil {
			return controllerruntime.Result{}, err
		}
	}
	set := &appsv1.StatefulSet{}
	err := r.Get(ctx, request.NamespacedName, set)
	if apierrors.IsNotFound(err) {
		return controllerruntime.Result{}, client.IgnoreAlreadyExists(r.Create(ctx, statefulSet(request.Name, want)))
	}
	if err != nil || set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage().Equal(want) {
		return controllerruntime.Result{}, err
	}
	if err := r.Delete(ctx, set, client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
		return controllerruntime.Result{}, err
	}
	if !r.fixed { // the size of the StatefulSet is mistaken for that of the claim
		if err := r.grow(ctx, request, want); err != nil {
			return controllerruntime.Result{}, err
		}
	}
	return controllerruntime.Result{RequeueAfter: time.Second}, nil
}

// grow requests more storage if the claim exists and has less.
func (r *rabbit) grow(ctx context.Context, request controllerruntime.Request, want resource.Quantity) error {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: object("data-" + request.Name + "-0")}
	if err := r.Get(ctx, client.ObjectKeyFromObject(claim), claim); err != nil {
		return client.IgnoreNotFound(err)
	}
	if claim.Spec.Resources.Requests.Storage().Cmp(want) >= 0 {
		return nil
	}
	claim.Spec.Resources.Requests["storage"] = want
	return r.Update(ctx, claim)
}

// claimOf returns a claim for storage.
func claimOf(name string, storage resource.Quantity) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: object(name), Spec: corev1.PersistentVolumeClaimSpec{
		StorageClassName: new("disk"), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": storage}}}}
}

func statefulSet(name string, storage resource.Quantity) *appsv1.StatefulSet {
	labels := map[string]string{"app": name}
	template := claimOf("data", storage)
	template.Namespace = ""
	return &appsv1.StatefulSet{ObjectMeta: object(name), Spec: appsv1.StatefulSetSpec{
		ServiceName: name, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "rabbit", Image: "rabbitmq"}}}},
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{*template},
	}}
}

// The operator crashes after it has deleted the StatefulSet and before it has enlarged the claim. Its successor finds no
// StatefulSet, creates one of the new size, and concludes that everything has the right size. The volume stays small forever,
// because the pending second write existed only in the memory of the process. See rabbitmq/cluster-operator#782; Sieve (OSDI 22)
// found ten more bugs of this kind.
//
// The fix is to derive each write from the observed state, and never from another write.
func TestCrashBetweenWrites(t *testing.T) {
	both(t, func(w world, fixed bool) {
		setup := func(m controllerruntime.Manager) error {
			return controllerruntime.NewControllerManagedBy(m).For(&corev1.ConfigMap{}).Owns(&appsv1.StatefulSet{}).
				Complete(&rabbit{m.GetClient(), fixed})
		}
		deleted := func(r *http.Request) bool {
			return r.Method == http.MethodDelete && strings.Contains(r.URL.Path, "/statefulsets/")
		}
		first := w.start(setup, deleted)
		w.must(w.Create(w.t.Context(), &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "disk"},
			Provisioner: "example.com/disk", AllowVolumeExpansion: new(true)}))
		cluster := owner("mq", map[string]string{"storage": "10Gi"})
		w.must(w.Create(w.t.Context(), cluster))
		settle(time.Second)
		claim := claimOf("data-mq-0", resource.MustParse("10Gi"))
		w.must(w.Create(w.t.Context(), claim)) // the controllers for StatefulSets and volumes would do this
		claim.Status.Phase = corev1.ClaimBound
		w.must(w.Status().Update(w.t.Context(), claim))
		settle(time.Second)

		cluster.Data["storage"] = "15Gi"
		w.must(w.Update(w.t.Context(), cluster))
		settle(time.Second)
		w.is.True(first.dead()) // after it has deleted the StatefulSet
		first.crash()
		set := &appsv1.StatefulSet{ObjectMeta: object("mq")}
		if err := w.Get(w.t.Context(), client.ObjectKeyFromObject(set), set); err == nil {
			w.is.True(set.DeletionTimestamp != nil)
			set.Finalizers = nil
			w.must(w.Update(w.t.Context(), set)) // the garbage collector would orphan it
		}

		w.start(setup, nil)
		settle(time.Hour)
		w.must(w.Get(w.t.Context(), client.ObjectKeyFromObject(set), set))
		w.is.Equal(set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage().String(), "15Gi")
		w.must(w.Get(w.t.Context(), client.ObjectKeyFromObject(claim), claim))
		want := "10Gi"
		if fixed {
			want = "15Gi"
		}
		w.is.Equal(claim.Spec.Resources.Requests.Storage().String(), want) // of the claim
	})
}
