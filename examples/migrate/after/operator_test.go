package migrate

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/examples/migrate"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/ctrl"
)

func TestOperator(t *testing.T) { synctest.Test(t, testOperator) }

func testOperator(t *testing.T) {
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
	srv.Load("../../operator/config/crd.yaml")
	ctrl.Start(t, srv, migrate.Setup)
	c := ctrl.Client(t, srv, nil)
	from := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", Labels: map[string]string{"copy": "yes"}}}
	is.NoErr(c.Create(t.Context(), from))
	is.NoErr(wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(from), &corev1.Secret{})
		return err == nil, client.IgnoreNotFound(err)
	}))
}
