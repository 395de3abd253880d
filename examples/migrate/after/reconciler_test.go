package migrate

import (
	"testing"

	"github.com/matryer/is"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubesim/kubesim/examples/migrate"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/ctrl"
)

func TestReconciler(t *testing.T) {
	is := is.New(t)
	from := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", UID: "1", Labels: map[string]string{"copy": "yes"}}}
	srv := fake.RunT(t)
	c := ctrl.Client(t, srv, scheme.Scheme, from)
	r := &migrate.Copier{Client: c}
	_, err := r.Reconcile(t.Context(), controllerruntime.Request{NamespacedName: client.ObjectKeyFromObject(from)})
	is.NoErr(err)
	to := &corev1.Secret{}
	is.NoErr(c.Get(t.Context(), client.ObjectKeyFromObject(from), to))
	is.Equal(string(to.OwnerReferences[0].UID), "1")
}
