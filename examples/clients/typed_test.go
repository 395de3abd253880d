package clients

import (
	"testing"

	"github.com/matryer/is"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/kubesim/kubesim/clock"
)

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}},
			},
		},
	}
}

// The server sets the same fields as a real one, from its own clock and seed.
func TestTypedClientCreatesADeployment(t *testing.T) {
	is := is.New(t)
	_, client := start(t)
	deployments := client.AppsV1().Deployments("default")

	created, err := deployments.Create(t.Context(), deployment("web"), metav1.CreateOptions{})
	is.NoErr(err)
	is.True(created.UID != "")                                                       // it has a uid
	is.True(created.ResourceVersion != "")                                           // and a resourceVersion
	is.Equal(created.Generation, int64(1))                                           // the first generation of its spec
	is.True(created.CreationTimestamp.Time.Equal(clock.Epoch()))                     // made at the server's time, which stands still
	is.Equal(*created.Spec.Replicas, int32(1))                                       // defaults are applied
	is.Equal(created.Spec.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType) // in depth

	got, err := deployments.Get(t.Context(), "web", metav1.GetOptions{})
	is.NoErr(err)
	is.Equal(got, created) // a get returns what the create answered

	_, err = deployments.Create(t.Context(), deployment("web"), metav1.CreateOptions{})
	is.True(apierrors.IsAlreadyExists(err)) // there can be one only
}

// The second of two concurrent writers gets a conflict, reads again and succeeds. This is the purpose of
// retry.RetryOnConflict.
func TestTypedClientRetriesAConflict(t *testing.T) {
	is := is.New(t)
	_, client := start(t)
	deployments := client.AppsV1().Deployments("default")
	stale, err := deployments.Create(t.Context(), deployment("web"), metav1.CreateOptions{})
	is.NoErr(err)

	_, err = deployments.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"paused":true}}`), metav1.PatchOptions{})
	is.NoErr(err) // another writer was faster

	attempts := 0
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		attempts++
		d := stale
		if attempts > 1 {
			if d, err = deployments.Get(t.Context(), "web", metav1.GetOptions{}); err != nil {
				return err
			}
		}
		replicas := int32(3)
		d.Spec.Replicas = &replicas
		_, err = deployments.Update(t.Context(), d, metav1.UpdateOptions{})
		return err
	})
	is.NoErr(err)
	is.Equal(attempts, 2) // the stale object was refused

	got, err := deployments.Get(t.Context(), "web", metav1.GetOptions{})
	is.NoErr(err)
	is.True(got.Spec.Paused)               // the other writer's change is still there
	is.Equal(*got.Spec.Replicas, int32(3)) // and so is ours
	is.Equal(got.Generation, int64(3))     // the spec changed twice
}

// A list is a snapshot: its pages show one revision, whatever changes between them.
func TestTypedClientListsInPages(t *testing.T) {
	is := is.New(t)
	_, client := start(t)
	for _, name := range []string{"a", "b", "c"} {
		mustCreate(t, client, name)
	}
	configMaps := client.CoreV1().ConfigMaps("default")

	first, err := configMaps.List(t.Context(), metav1.ListOptions{Limit: 2})
	is.NoErr(err)
	is.Equal(len(first.Items), 2)                 // as many as asked for
	is.Equal(*first.RemainingItemCount, int64(1)) // and one is left

	is.NoErr(configMaps.Delete(t.Context(), "c", metav1.DeleteOptions{}))
	second, err := configMaps.List(t.Context(), metav1.ListOptions{Limit: 2, Continue: first.Continue})
	is.NoErr(err)
	is.Equal(len(second.Items), 1)                          // the next page still has the object that was deleted meanwhile
	is.Equal(second.ResourceVersion, first.ResourceVersion) // it is the same snapshot
}
