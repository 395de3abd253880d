package migrate

import (
	"context"
	"testing"
	"time"

	"github.com/matryer/is"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubesim/kubesim/examples/migrate"
)

func TestOperator(t *testing.T) {
	is := is.New(t)
	env := &envtest.Environment{CRDDirectoryPaths: []string{"../../operator/config/crd.yaml"}}
	cfg, err := env.Start()
	is.NoErr(err)
	t.Cleanup(func() { is.NoErr(env.Stop()) })
	mgr, err := controllerruntime.NewManager(cfg, controllerruntime.Options{Metrics: metricsserver.Options{BindAddress: "0"}})
	is.NoErr(err)
	is.NoErr(migrate.Setup(mgr))
	go func() { _ = mgr.Start(t.Context()) }()
	c, err := client.New(cfg, client.Options{})
	is.NoErr(err)
	from := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", Labels: map[string]string{"copy": "yes"}}}
	is.NoErr(c.Create(t.Context(), from))
	is.NoErr(wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(from), &corev1.Secret{})
		return err == nil, client.IgnoreNotFound(err)
	}))
}
