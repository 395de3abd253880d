package migrate

import (
	"testing"

	"github.com/matryer/is"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kubesim/kubesim/examples/migrate"
)

func TestDrainRespectsBudgets(t *testing.T) {
	is := is.New(t)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "web", Image: "web:1"}}}}
	client := fake.NewClientset(pod)
	client.PrependReactor("create", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		return a.GetSubresource() == "eviction", nil, apierrors.NewTooManyRequests("the budget forbids it", 0)
	})
	err := migrate.Drain(t.Context(), client, "node-1")
	is.True(apierrors.IsTooManyRequests(err))
	is.Equal(len(client.Actions()), 2) // a list and an eviction
	is.Equal(client.Actions()[1].GetSubresource(), "eviction")
}
