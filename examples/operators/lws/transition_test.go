package lws

import (
	"testing"

	api "sigs.k8s.io/lws/api/leaderworkerset/v1"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/ctrl"
	"github.com/kubesim/kubesim/sim/controller"
)

// A LeaderWorkerSet is created with a drawn spec, and gets another one.
func TestTransition(t *testing.T) {
	fake.Explore(t, fake.ExploreOptions{
		Faults:  -1,
		Server:  fake.Options{Controllers: controller.All, Nodes: 2},
		Prepare: func(_ fake.T, srv *fake.Server) { srv.LoadModule("sigs.k8s.io/lws", manifests...) },
	}, func(t fake.T, srv *fake.Server) {
		start := func(srv *fake.Server) { ctrl.Start(t, srv, setup, ctrl.Options{Scheme: ctrl.Scheme(api.AddToScheme)}) }
		// A condition remains when it is no longer True, and a partition keeps pods of the first spec.
		edits := fake.Transition{Manifest: lws, Without: []string{"conditions"}, Keep: []string{"partition"}}
		edits.Check(t, srv, start, "leaderworkersets", "statefulsets", "pods", "services")
	})
}
