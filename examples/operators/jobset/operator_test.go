package jobset

import (
	"context"
	_ "embed"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	api "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/ctrl"
	_ "github.com/kubesim/kubesim/fake/explore"
	"github.com/kubesim/kubesim/sim/controller"
)

func TestMain(m *testing.M) { ctrl.Main(m) }

//go:embed jobset.yaml
var jobset string
var manifests = []string{"config/components/crd/bases", "config/components/rbac/role.yaml", "config/components/rbac/role_binding.yaml"}

// setup adds the operator's indexes and controllers to a manager, as the operator's main does.
func setup(mgr manager.Manager) error {
	c, s, fields := mgr.GetClient(), mgr.GetScheme(), mgr.GetFieldIndexer()
	return errors.Join(controllers.SetupJobSetIndexes(context.Background(), fields), controllers.SetupPodIndexes(context.Background(), fields),
		controllers.NewJobSetReconciler(c, s, recorder(mgr, "jobset")).SetupWithManager(mgr),
		controllers.NewPodReconciler(c, s, recorder(mgr, "pod")).SetupWithManager(mgr))
}

// Three JobSets with three jobs each run and finish. A user deletes one of them, and creates it again.
func TestOperator(t *testing.T) {
	same := fake.Outcome{Counts: true}
	fake.Explore(t, fake.ExploreOptions{
		Server:  fake.Options{Controllers: controller.All, Nodes: 2},
		Prepare: func(_ fake.T, srv *fake.Server) { srv.LoadModule("sigs.k8s.io/jobset", manifests...) },
	}, func(t fake.T, srv *fake.Server) {
		scheme, account := ctrl.Scheme(api.AddToScheme), "system:serviceaccount:system:controller-manager"
		srv.WithinRBAC(account)
		ctrl.Start(t, srv, setup, ctrl.Options{Scheme: scheme, User: account})
		for _, name := range []string{"a", "b", "c"} {
			_ = srv.LoadData([]byte(strings.Replace(jobset, "name: training", "name: "+name, 1)))
		}
		time.Sleep(5 * time.Minute)
		_ = ctrl.Client(t, srv, scheme).Delete(t.Context(), &api.JobSet{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "default"}})
		time.Sleep(time.Second)
		_ = srv.LoadData([]byte(strings.Replace(jobset, "name: training", "name: c", 1)))
		time.Sleep(5 * time.Minute)
		srv.Heal()
		time.Sleep(20 * time.Minute) // a work queue retries after at most 17 minutes
		srv.AtRest(t, time.Hour)
		same.Compare(t, srv, "jobsets", "jobs", "services")
	})
}
