package conformance_test

import (
	"testing"
	"testing/synctest"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/conformance"
)

// TestLife plays the situations that were recorded with the real controllers, each on a new server in virtual time. The
// test harness binds the pods, unless the situation has a scheduler, and sets their status.
func TestLife(t *testing.T) {
	t.Parallel()
	cases, err := conformance.LifeCases()
	conformance.Check(t, func(t *testing.T, c conformance.Case) conformance.Target {
		controllers := []string{"*", "-volume-attacher"} // a recorded cluster has no CSI drivers
		if !c.Scheduled {
			controllers = append(controllers, "-kube-scheduler")
		}
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Auth: auth.RBAC, Controllers: controllers})
		return conformance.Target{URL: srv.URL(), Transport: srv.Transport(), Token: adminToken, Scheduled: c.Scheduled}
	}, conformance.Options[*testing.T]{Cases: played(t, cases, err), Known: conformance.LifeDifferences(), Play: conformance.RunLife,
		Isolate: synctest.Test})
}
