package kuberay

import (
	_ "embed"
	"fmt"
	"strings"
	"testing"
	"time"

	api "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/ctrl"
	_ "github.com/kubesim/kubesim/fake/explore"
	"github.com/kubesim/kubesim/sim/controller"
)

func TestMain(m *testing.M) { ctrl.Main(m) }

//go:embed cluster.yaml
var cluster string

// setup adds the operator's controller of RayClusters to a manager, as the operator's main does.
func setup(mgr manager.Manager) error {
	return reconciler(mgr).SetupWithManager(mgr, 1)
}

// A RayCluster of two workers is created, gets three more, and loses four.
func TestOperator(t *testing.T) {
	t.Setenv("USE_INGRESS_ON_OPENSHIFT", "true") // it does not look for OpenShift
	// The order of a command's arguments, also in a variable, is random; a scale-down deletes any of the workers.
	same := fake.Outcome{Without: []string{"args", "value", "ray.io/worker-group-replica-index"}}
	fake.Explore(t, fake.ExploreOptions{
		Server: fake.Options{Controllers: controller.All, Nodes: 2},
		Prepare: func(_ fake.T, srv *fake.Server) {
			srv.LoadModule("github.com/ray-project/kuberay/ray-operator", "config/crd/bases/ray.io_rayclusters.yaml")
		},
		// By design, a pod is created again if its creation is not answered, or if it is not seen for 30 seconds.
		LegalOnly: true, Without: []string{"commit-then-fail", "hold", "lag", "stall"},
	}, func(t fake.T, srv *fake.Server) {
		srv.Never("more than a head and five workers", func(view fake.View) (err error) {
			if n := len(view.List("pods", "default")); n > 6 {
				err = fmt.Errorf("%d pods", n)
			}
			return err
		})
		ctrl.Start(t, srv, setup, ctrl.Options{Scheme: ctrl.Scheme(api.AddToScheme)})
		for _, replicas := range []string{"replicas: 2", "replicas: 5", "replicas: 1"} {
			srv.LoadData([]byte(strings.Replace(cluster, "replicas: 2", replicas, 1)))
			time.Sleep(5 * time.Minute)
		}
		srv.Heal()
		time.Sleep(20 * time.Minute) // a work queue retries after at most 17 minutes
		same.Compare(t, srv, "pods", "services")
	})
}
