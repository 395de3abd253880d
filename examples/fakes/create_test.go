package fakes

import (
	"testing"

	"github.com/matryer/is"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/clock"
)

func TestClientGoCreate(t *testing.T) {
	each(t, []probe{
		// The pod is stored with uid "", resourceVersion "", no creationTimestamp, generation 0, no defaults and phase "".
		{"create a pod", func(is *is.I, s *server) {
			p := s.mustCreatePod("a")
			is.True(p.UID != "")
			is.True(p.ResourceVersion != "")
			is.True(p.CreationTimestamp.Time.Equal(clock.Epoch())) // the server's time
			is.Equal(p.Generation, int64(1))
			is.Equal(p.Spec.RestartPolicy, corev1.RestartPolicyAlways) // a default
			is.Equal(p.Status.Phase, corev1.PodPending)                // what the server sets
			is.Equal(p.Status.QOSClass, corev1.PodQOSBestEffort)
		}},
		// Accepted.
		{"create in a namespace that does not exist", func(is *is.I, s *server) {
			_, err := s.client.CoreV1().Pods("missing").Create(s.ctx, pod("a"), metav1.CreateOptions{})
			is.True(apierrors.IsNotFound(err))
			is.Equal(err.Error(), `namespaces "missing" not found`)
		}},
		// Accepted.
		{"create with an invalid name", func(is *is.I, s *server) {
			_, err := s.pods().Create(s.ctx, pod("Not_A_Name"), metav1.CreateOptions{})
			is.True(apierrors.IsInvalid(err))
			is.True(apierrors.HasStatusCause(err, metav1.CauseTypeFieldValueInvalid)) // metadata.name
		}},
		// Accepted by both fakes.
		{"create an invalid object", func(is *is.I, s *server) {
			p := pod("a")
			p.Spec.Containers = nil
			_, err := s.pods().Create(s.ctx, p, metav1.CreateOptions{})
			is.True(apierrors.IsInvalid(err))
			is.Equal(err.Error(), `Pod "a" is invalid: spec.containers: Required value`)
		}},
		// The object is stored.
		{"create with dryRun", func(is *is.I, s *server) {
			p, err := s.pods().Create(s.ctx, pod("a"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			is.NoErr(err)
			is.True(p.UID != "")                                       // the answer is what would have been stored
			is.Equal(p.Spec.RestartPolicy, corev1.RestartPolicyAlways) // with defaults
			_, err = s.pods().Get(s.ctx, "a", metav1.GetOptions{})
			is.True(apierrors.IsNotFound(err)) // but nothing was
		}},
		// The first object is stored with the name "", and the second create fails with AlreadyExists.
		{"create with generateName twice", func(is *is.I, s *server) {
			p := pod("")
			p.GenerateName = "web-"
			first, err := s.pods().Create(s.ctx, p, metav1.CreateOptions{})
			is.NoErr(err)
			second, err := s.pods().Create(s.ctx, p, metav1.CreateOptions{})
			is.NoErr(err)
			is.Equal(len(first.Name), len("web-abcde"))
			is.True(first.Name != second.Name)
		}},
		// Each resource has its own counter, which deletions do not increment.
		{"resourceVersions of different resources", func(is *is.I, s *server) {
			before := s.Revision()
			s.mustCreate("a")
			s.mustCreatePod("a")
			is.NoErr(s.configMaps().Delete(s.ctx, "a", metav1.DeleteOptions{}))
			is.Equal(s.Revision(), before+3) // there is one history
		}},
		// v1 and v2 have separate stores.
		{"one object in two versions of its API", func(is *is.I, s *server) {
			hpa := &autoscalingv1.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
			hpa.Spec = autoscalingv1.HorizontalPodAutoscalerSpec{
				ScaleTargetRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}, MaxReplicas: 4,
			}
			_, err := s.client.AutoscalingV1().HorizontalPodAutoscalers("default").Create(s.ctx, hpa, metav1.CreateOptions{})
			is.NoErr(err)
			got, err := s.client.AutoscalingV2().HorizontalPodAutoscalers("default").Get(s.ctx, "web", metav1.GetOptions{})
			is.NoErr(err)
			is.Equal(got.Spec.MaxReplicas, int32(4)) // the server converts
		}},
	})
}
