package main

import (
	_ "embed"
	"testing"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/controller"
)

//go:embed one.yaml
var foo string

// prepare loads the definition.
func prepare(_ fake.T, srv *fake.Server) {
	srv.LoadModule("k8s.io/sample-controller", "artifacts/examples/crd-status-subresource.yaml")
}

// A Foo is created with a drawn spec, and gets another one.
func TestTransition(t *testing.T) {
	o := fake.ExploreOptions{Faults: -1, Prepare: prepare, Server: fake.Options{Controllers: controller.All, Nodes: 2}}
	fake.Explore(t, o, func(t fake.T, srv *fake.Server) {
		fake.Transition{Manifest: foo}.Check(t, srv, start, "foos", "deployments", "pods")
	})
}
