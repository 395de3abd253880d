package fakes

import (
	"testing"

	"github.com/matryer/is"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
)

func TestClientGoUpdateAndDelete(t *testing.T) {
	each(t, []probe{
		// Accepted: there are no conflicts.
		{"update with an old resourceVersion", func(is *is.I, s *server) {
			old := s.mustCreate("a")
			changed := old.DeepCopy()
			changed.Data["key"] = "2"
			_, err := s.configMaps().Update(s.ctx, changed, metav1.UpdateOptions{})
			is.NoErr(err)
			old.Data["key"] = "3"
			_, err = s.configMaps().Update(s.ctx, old, metav1.UpdateOptions{})
			is.True(apierrors.IsConflict(err))
		}},
		// The object is removed at once.
		{"delete with finalizers", func(is *is.I, s *server) {
			s.mustCreate("a", func(c *corev1.ConfigMap) { c.Finalizers = []string{"example.com/hold"} })
			is.NoErr(s.configMaps().Delete(s.ctx, "a", metav1.DeleteOptions{}))
			c, err := s.configMaps().Get(s.ctx, "a", metav1.GetOptions{})
			is.NoErr(err)
			is.True(c.DeletionTimestamp != nil) // it waits for its finalizer
			c.Finalizers = nil
			_, err = s.configMaps().Update(s.ctx, c, metav1.UpdateOptions{})
			is.NoErr(err)
			_, err = s.configMaps().Get(s.ctx, "a", metav1.GetOptions{})
			is.True(apierrors.IsNotFound(err)) // and goes with it
		}},
		// The object is deleted.
		{"delete with the uid of another object", func(is *is.I, s *server) {
			s.mustCreate("a")
			uid := types.UID("00000000-0000-0000-0000-000000000000")
			err := s.configMaps().Delete(s.ctx, "a", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
			is.True(apierrors.IsConflict(err))
			_, err = s.configMaps().Get(s.ctx, "a", metav1.GetOptions{})
			is.NoErr(err) // it stays
		}},
		// Nothing is deleted, and there is no error.
		{"deletecollection", func(is *is.I, s *server) {
			s.mustCreate("a", labelled("red"))
			s.mustCreate("b", labelled("blue"))
			is.NoErr(s.configMaps().DeleteCollection(s.ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "color=red"}))
			left, err := s.configMaps().List(s.ctx, metav1.ListOptions{})
			is.NoErr(err)
			is.Equal(len(left.Items), 1) // the red one is gone
		}},
	})
}

func TestClientGoSubresources(t *testing.T) {
	each(t, []probe{
		// The spec is also written.
		{"update of the status", func(is *is.I, s *server) {
			p := s.mustCreatePod("a")
			p.Status.Message, p.Spec.Containers[0].Image = "new", "new"
			p, err := s.pods().UpdateStatus(s.ctx, p, metav1.UpdateOptions{})
			is.NoErr(err)
			is.Equal(p.Status.Message, "new")
			is.Equal(p.Spec.Containers[0].Image, "nginx") // the spec stays
			is.Equal(p.Generation, int64(1))              // and so its generation
		}},
		// The status is also written.
		{"update beside the status", func(is *is.I, s *server) {
			p := s.mustCreatePod("a")
			p.Status.Message, p.Labels = "new", map[string]string{"a": "b"}
			p, err := s.pods().Update(s.ctx, p, metav1.UpdateOptions{})
			is.NoErr(err)
			is.Equal(p.Labels["a"], "b")
			is.Equal(p.Status.Message, "") // the status stays
		}},
		// There is no error, and the pod remains.
		{"evict a pod", func(is *is.I, s *server) {
			s.mustCreatePod("a")
			is.NoErr(s.pods().EvictV1(s.ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "a"}}))
			_, err := s.pods().Get(s.ctx, "a", metav1.GetOptions{})
			is.True(apierrors.IsNotFound(err))
		}},
		// There is no error, and nodeName stays empty. (controller-runtime: "does not support create for binding")
		{"bind a pod", func(is *is.I, s *server) {
			s.mustCreatePod("a")
			binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Target: corev1.ObjectReference{Kind: "Node", Name: "node-1"}}
			is.NoErr(s.pods().Bind(s.ctx, binding, metav1.CreateOptions{}))
			p, err := s.pods().Get(s.ctx, "a", metav1.GetOptions{})
			is.NoErr(err)
			is.Equal(p.Spec.NodeName, "node-1")
		}},
		// Fails with "v1.Scale is not suitable for converting …".
		{"update of the scale", func(is *is.I, s *server) {
			deployments := s.client.AppsV1().Deployments("default")
			_, err := deployments.Create(s.ctx, deployment("web"), metav1.CreateOptions{})
			is.NoErr(err)
			scale, err := deployments.GetScale(s.ctx, "web", metav1.GetOptions{})
			is.NoErr(err)
			is.Equal(scale.Status.Selector, "app=web")
			scale.Spec.Replicas = 5
			_, err = deployments.UpdateScale(s.ctx, "web", scale, metav1.UpdateOptions{})
			is.NoErr(err)
			d, err := deployments.Get(s.ctx, "web", metav1.GetOptions{})
			is.NoErr(err)
			is.Equal(*d.Spec.Replicas, int32(5))
		}},
	})
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod("").Spec},
		},
	}
}

func TestClientGoApply(t *testing.T) {
	color := func(c string) *corev1apply.ConfigMapApplyConfiguration {
		return corev1apply.ConfigMap("a", "default").WithData(map[string]string{"color": c})
	}
	each(t, []probe{
		// NewSimpleClientset: NotFound.
		{"apply an object that does not exist", func(is *is.I, s *server) {
			c, err := s.configMaps().Apply(s.ctx, color("red"), metav1.ApplyOptions{FieldManager: "first"})
			is.NoErr(err)
			is.Equal(c.Data["color"], "red")
			is.Equal(c.ManagedFields[0].Manager, "first") // the owner of the field
		}},
		// NewClientset behaves correctly.
		{"apply what another manager owns", func(is *is.I, s *server) {
			_, err := s.configMaps().Apply(s.ctx, color("red"), metav1.ApplyOptions{FieldManager: "first"})
			is.NoErr(err)
			_, err = s.configMaps().Apply(s.ctx, color("blue"), metav1.ApplyOptions{FieldManager: "second"})
			is.True(apierrors.IsConflict(err))
			_, err = s.configMaps().Apply(s.ctx, color("blue"), metav1.ApplyOptions{FieldManager: "second", Force: true})
			is.NoErr(err)
		}},
		// Accepted.
		{"apply without a field manager", func(is *is.I, s *server) {
			_, err := s.configMaps().Apply(s.ctx, color("red"), metav1.ApplyOptions{})
			is.True(apierrors.IsBadRequest(err) || apierrors.IsInvalid(err))
		}},
		// The dynamic fake: NotFound, and "unable to find api field in struct Unstructured" for an existing one.
		{"apply with a dynamic client", func(is *is.I, s *server) {
			object := unstructuredConfigMap("a", "red")
			configMaps := s.dynamic.Resource(configMapResource).Namespace("default")
			_, err := configMaps.Apply(s.ctx, "a", object, metav1.ApplyOptions{FieldManager: "first"})
			is.NoErr(err) // it creates
			_, err = configMaps.Apply(s.ctx, "a", unstructuredConfigMap("a", "blue"), metav1.ApplyOptions{FieldManager: "first"})
			is.NoErr(err) // and changes
			c, err := s.configMaps().Get(s.ctx, "a", metav1.GetOptions{})
			is.NoErr(err)
			is.Equal(c.Data["key"], "blue")
		}},
	})
}
