package operator

import (
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/ctrl"
	"github.com/kubesim/kubesim/sim/fault"
)

func TestOperator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // time is virtual: a minute takes milliseconds
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
		srv.Load("config/crd.yaml", "config/webhooks.yaml")
		srv.Faults.Add(fault.On("create", "deployments").Times(1).CommitThenFail(fault.Timeout))
		ctrl.Start(t, srv, Setup, ctrl.Options{Scheme: Scheme()}) // Setup adds the controllers and webhooks to a manager
		srv.Load("config/sample.yaml")                            // a Site with the name blog
		time.Sleep(time.Minute)
		blog := client.ObjectKey{Namespace: "default", Name: "blog"}
		if err := ctrl.Client(t, srv, nil).Get(t.Context(), blog, &appsv1.Deployment{}); err != nil {
			t.Errorf("the Site has no Deployment: %v", err)
		}
		t.Log(srv.Actions("operator").Writes())
		checkReadme(t, srv)
	})
}
