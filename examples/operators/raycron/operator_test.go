package raycron

import (
	"errors"
	"testing"
	"time"

	api "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/ctrl"
	_ "github.com/kubesim/kubesim/fake/explore"
)

func TestMain(m *testing.M) { ctrl.Main(m) }

// setup adds the operator's controller of RayCronJobs to a manager, as the operator's main does.
func setup(mgr manager.Manager) error {
	return ray.NewRayCronJobReconciler(mgr).SetupWithManager(mgr, 1)
}

// Two RayCronJobs create a RayJob every ten minutes and every hour.
func TestOperator(t *testing.T) {
	fake.Explore(t, fake.ExploreOptions{
		Prepare: func(_ fake.T, srv *fake.Server) {
			srv.LoadModule("github.com/ray-project/kuberay/ray-operator", "config/crd/bases/ray.io_raycronjobs.yaml",
				"config/crd/bases/ray.io_rayjobs.yaml")
		},
	}, func(t fake.T, srv *fake.Server) {
		srv.Never("two RayJobs of a scheduled time", fake.OnePerOwner("rayjobs", "ray.io/cronjob-scheduled-timestamp"))
		ctrl.Start(t, srv, setup, ctrl.Options{Scheme: ctrl.Scheme(api.AddToScheme)})
		srv.Load("cron.yaml")
		time.Sleep(32 * time.Minute)
		srv.Heal()
		srv.Eventually("a RayJob of the last ten minutes", 30*time.Minute, func(view fake.View) error {
			for _, job := range fake.To[api.RayJob](view.List("rayjobs", "default")...) {
				if view.Now.Sub(job.CreationTimestamp.Time) < 10*time.Minute && job.Labels["ray.io/cronjob-name"] == "report" {
					return nil
				}
			}
			return errors.New("there is none")
		})
	})
}
