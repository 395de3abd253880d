package clients

import (
	"testing"

	"github.com/matryer/is"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
)

// In a server-side apply with a typed clientset, each manager applies the fields that it sets, and owns them.
func TestTypedClientApplies(t *testing.T) {
	is := is.New(t)
	_, client := start(t)
	configMaps := client.CoreV1().ConfigMaps("default")
	apply := func(manager string, force bool, data map[string]string) error {
		_, err := configMaps.Apply(t.Context(), corev1apply.ConfigMap("settings", "default").WithData(data),
			metav1.ApplyOptions{FieldManager: manager, Force: force})
		return err
	}
	is.NoErr(apply("a", false, map[string]string{"color": "red", "size": "1"})) // it is made
	is.NoErr(apply("b", false, map[string]string{"shape": "round"}))            // a field of one's own is no conflict

	err := apply("b", false, map[string]string{"shape": "round", "color": "blue"})
	is.True(apierrors.IsConflict(err)) // a field of another manager is
	cause, _ := apierrors.StatusCause(err, metav1.CauseTypeFieldManagerConflict)
	is.Equal(cause.Field, ".data.color")
	is.Equal(cause.Message, `conflict with "a"`)
	is.NoErr(apply("b", true, map[string]string{"shape": "round", "color": "blue"})) // unless it is taken by force

	is.NoErr(apply("a", false, map[string]string{"color": "blue"})) // to want the same is to share; size is given up
	got, err := configMaps.Get(t.Context(), "settings", metav1.GetOptions{})
	is.NoErr(err)
	is.Equal(got.Data, map[string]string{"color": "blue", "shape": "round"}) // a field without an owner is removed

	owned, err := corev1apply.ExtractConfigMap(got, "b")
	is.NoErr(err)
	is.Equal(owned.Data, map[string]string{"color": "blue", "shape": "round"}) // what b may send again
}
