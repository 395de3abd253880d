package rabbitmq

import (
	"context"
	_ "embed"
	"net/http"
	"strings"
	"testing"
	"time"

	api "github.com/rabbitmq/cluster-operator/api/v1beta1"
	"github.com/rabbitmq/cluster-operator/controllers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kubesim/kubesim/fake"
	_ "github.com/kubesim/kubesim/fake/explore"
	"github.com/kubesim/kubesim/sim/controller"
)

//go:embed cluster.yaml
var cluster string

// setup adds the operator's controller to a manager, as the operator's main does.
func setup(mgr manager.Manager) error {
	return (&controllers.RabbitmqClusterReconciler{Client: mgr.GetClient(), Scheme: mgr.GetScheme(), Namespace: "rabbitmq-system",
		Recorder: mgr.GetEventRecorderFor("rabbitmq"), Clientset: kubernetes.NewForConfigOrDie(mgr.GetConfig()),
		PodExecutor: executor{}}).SetupWithManager(mgr)
}

// A RabbitmqCluster gets a larger disk. A user deletes it, and creates it again.
func TestOperator(t *testing.T) {
	same := fake.Outcome{Counts: true}
	fake.Explore(t, fake.ExploreOptions{
		Server: fake.Options{Controllers: controller.All, Nodes: 1},
		Prepare: func(_ fake.T, srv *fake.Server) {
			srv.LoadModule("github.com/rabbitmq/cluster-operator", "config/crd/bases")
			srv.Load("storage.yaml")
		},
	}, func(t fake.T, srv *fake.Server) {
		srv.Process("operator", func(ctx context.Context, transport http.RoundTripper) error {
			return start(ctx, &rest.Config{Host: srv.URL(), Transport: transport, QPS: -1, UserAgent: "operator"}, api.AddToScheme, setup)
		})
		for _, size := range []string{"10Gi", "15Gi", "20Gi"} {
			if size == "20Gi" {
				user := kubernetes.NewForConfigOrDie(fake.Config[rest.Config](srv, "user")).RESTClient()
				user.Delete().AbsPath("/apis/rabbitmq.com/v1beta1/namespaces/default/rabbitmqclusters/rabbit").Do(t.Context())
				time.Sleep(time.Minute)
			}
			srv.LoadData([]byte(strings.Replace(cluster, "10Gi", size, 1)))
			time.Sleep(5 * time.Minute)
		}
		srv.Heal()
		time.Sleep(20 * time.Minute) // a work queue retries after at most 17 minutes
		same.Compare(t, srv, "statefulsets", "persistentvolumeclaims")
	})
}
