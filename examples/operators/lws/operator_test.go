package lws

import (
	_ "embed"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	api "sigs.k8s.io/lws/api/leaderworkerset/v1"
	"sigs.k8s.io/lws/pkg/controllers"
	"sigs.k8s.io/lws/pkg/webhooks"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/ctrl"
	_ "github.com/kubesim/kubesim/fake/explore"
	"github.com/kubesim/kubesim/sim/controller"
)

func TestMain(m *testing.M) { ctrl.Main(m) }

//go:embed lws.yaml
var lws string
var manifests = []string{"config/crd/bases", "config/webhook/manifests.yaml", "config/rbac/role.yaml", "config/rbac/role_binding.yaml"}

// setup adds the operator's indexes, controllers and webhooks to a manager, as the operator's main does.
func setup(mgr manager.Manager) error {
	c, s, events := mgr.GetClient(), mgr.GetScheme(), recorder(mgr, "leaderworkerset")
	return errors.Join(controllers.SetupIndexes(mgr.GetFieldIndexer()), webhooks.SetupLeaderWorkerSetWebhook(mgr), setupPods(mgr),
		controllers.NewLeaderWorkerSetReconciler(c, s, events).SetupWithManager(mgr))
}

// A LeaderWorkerSet of two groups is created, gets a third group, and is deleted in the foreground.
func TestOperator(t *testing.T) {
	same := fake.Outcome{Counts: true}
	fake.Explore(t, fake.ExploreOptions{
		Server:  fake.Options{Controllers: controller.All, Nodes: 2},
		Prepare: func(_ fake.T, srv *fake.Server) { srv.LoadModule("sigs.k8s.io/lws", manifests...) },
	}, func(t fake.T, srv *fake.Server) {
		scheme, account := ctrl.Scheme(api.AddToScheme), "system:serviceaccount:system:controller-manager"
		srv.WithinRBAC(account)
		ctrl.Start(t, srv, setup, ctrl.Options{Scheme: scheme, User: account})
		for _, replicas := range []string{"replicas: 2", "replicas: 3"} {
			for srv.LoadData([]byte(strings.Replace(lws, "replicas: 2", replicas, 1))) != nil { // its webhooks may be down
				time.Sleep(time.Second)
			}
			time.Sleep(5 * time.Minute)
		}
		serving := &api.LeaderWorkerSet{ObjectMeta: metav1.ObjectMeta{Name: "serving", Namespace: "default"}}
		_ = ctrl.Client(t, srv, scheme).Delete(t.Context(), serving, client.PropagationPolicy(metav1.DeletePropagationForeground))
		time.Sleep(5 * time.Minute)
		srv.Heal()
		time.Sleep(20 * time.Minute) // a work queue retries after at most 17 minutes
		srv.AtRest(t, time.Hour)
		same.Compare(t, srv, "leaderworkersets", "statefulsets", "controllerrevisions", "pods", "services")
	})
}
