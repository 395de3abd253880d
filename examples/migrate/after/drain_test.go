package migrate

import (
	"testing"

	"github.com/matryer/is"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/examples/migrate"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/fault"
)

func TestDrainRespectsBudgets(t *testing.T) {
	is := is.New(t)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "web", Image: "web:1"}}}}
	srv := fake.RunT(t)
	srv.Seed(pod)
	srv.Faults.Add(fault.On("create", "pods/eviction").Error(429, "TooManyRequests", "the budget forbids it"))
	client := kubernetes.NewForConfigOrDie(fake.Config[rest.Config](srv, "drain"))
	err := migrate.Drain(t.Context(), client, "node-1")
	is.True(apierrors.IsTooManyRequests(err))
	is.Equal(len(srv.Actions("drain")), 2) // a list and an eviction
	is.Equal(srv.Actions("drain")[1].Subresource, "eviction")
}
