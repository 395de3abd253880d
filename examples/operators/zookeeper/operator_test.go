package zookeeper

import (
	"context"
	_ "embed"
	"net/http"
	"strings"
	"testing"
	"time"

	api "github.com/pravega/zookeeper-operator/api/v1beta1"
	"github.com/pravega/zookeeper-operator/controllers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kubesim/kubesim/fake"
	_ "github.com/kubesim/kubesim/fake/explore"
	"github.com/kubesim/kubesim/sim/controller"
)

//go:embed clusters.yaml
var clusters string

// A ZookeeperCluster loses a replica, and then gets two. A user deletes the other ZookeeperCluster.
func TestOperator(t *testing.T) {
	same := fake.Outcome{Counts: true, Without: []string{"members", "owner-rv", "internalClientEndpoint"}} // they are random
	fake.Explore(t, fake.ExploreOptions{
		Server: fake.Options{Controllers: controller.All, Nodes: 2},
		Prepare: func(_ fake.T, srv *fake.Server) {
			srv.LoadModule("github.com/pravega/zookeeper-operator", "config/crd/bases")
			srv.Load("storage.yaml")
		},
	}, func(t fake.T, srv *fake.Server) {
		znodes := &servers{nodes: map[string]int32{}}
		srv.Process("operator", func(ctx context.Context, transport http.RoundTripper) error {
			setup := func(mgr manager.Manager) error { // as the operator's main does
				return (&controllers.ZookeeperClusterReconciler{Client: mgr.GetClient(), Scheme: mgr.GetScheme(),
					ZkClient: &client{servers: znodes}}).SetupWithManager(mgr)
			}
			return start(ctx, &rest.Config{Host: srv.URL(), Transport: transport, QPS: -1, UserAgent: "operator"}, api.AddToScheme, setup)
		})
		user := kubernetes.NewForConfigOrDie(fake.Config[rest.Config](srv, "user")).RESTClient()
		for _, replicas := range []string{"replicas: 2", "replicas: 1", "replicas: 3"} {
			srv.LoadData([]byte(strings.Replace(clusters, "replicas: 2", replicas, 1)))
			time.Sleep(3 * time.Minute)
		}
		user.Delete().AbsPath("/apis/zookeeper.pravega.io/v1beta1/namespaces/default/zookeeperclusters/goes").Do(t.Context())
		time.Sleep(3 * time.Minute)
		srv.Heal()
		time.Sleep(20 * time.Minute) // a work queue retries after at most 17 minutes
		same.Compare(t, srv, "zookeeperclusters", "statefulsets", "persistentvolumeclaims")
	})
}
