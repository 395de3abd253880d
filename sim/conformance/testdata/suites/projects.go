package main

import "strings"

// project is a suite of tests: some packages of a module.
type project struct {
	name     string
	title    string   // in the table of a README, with %s for the version
	module   string   // path@version
	nested   []string // path@version => folder: modules that its go.mod replaces by a folder of its repository
	packages []string // patterns of the packages to run
	except   []string // patterns of packages among them that are left out
	tags     string   // build tags
	env      []string // more environment variables, NAME=value
	// crds are folders with CustomResourceDefinitions.  A suite that has them does not start a server by itself: it is given
	// a KUBECONFIG, and expects them to be there.
	crds []string
}

func (p project) version() string {
	_, version, _ := strings.Cut(p.module, "@")
	return version
}

// projects are the suites. Packages of a module are left out if they need containers or a network, or if they use no API server.
var projects = []project{
	{name: "controller-runtime-0.25", title: "controller-runtime %s, all packages", module: "sigs.k8s.io/controller-runtime@v0.25.2", packages: []string{"./..."}},
	{name: "controller-runtime-0.24", title: "controller-runtime %s, all packages", module: "sigs.k8s.io/controller-runtime@v0.24.1", packages: []string{"./..."}},
	{name: "controller-runtime-0.23", title: "controller-runtime %s, all packages", module: "sigs.k8s.io/controller-runtime@v0.23.3", packages: []string{"./..."}},
	{name: "controller-runtime-0.22", title: "controller-runtime %s, all packages", module: "sigs.k8s.io/controller-runtime@v0.22.5", packages: []string{"./..."}},
	{name: "controller-runtime-0.21", title: "controller-runtime %s, all packages", module: "sigs.k8s.io/controller-runtime@v0.21.0", packages: []string{"./..."}},
	{name: "controller-runtime-0.20", title: "controller-runtime %s, all packages", module: "sigs.k8s.io/controller-runtime@v0.20.4", packages: []string{"./..."}},
	{
		// Its suite downloads envtest's programs unless it is given a cluster.
		name: "gateway-api", title: "gateway-api %s, CEL, standard channel", module: "sigs.k8s.io/gateway-api@v1.4.1", packages: []string{"./pkg/test/cel"},
		env: []string{"CRD_CHANNEL=standard"}, crds: []string{"config/crd/standard"}, tags: "standard",
	},
	{
		name: "gateway-api-experimental", title: "gateway-api %s, CEL, experimental channel", module: "sigs.k8s.io/gateway-api@v1.4.1", packages: []string{"./pkg/test/cel"},
		env: []string{"CRD_CHANNEL=experimental"}, crds: []string{"config/crd/experimental"}, tags: "experimental",
	},
	{name: "fluxcd-ssa", title: "fluxcd/pkg ssa %s", module: "github.com/fluxcd/pkg/ssa@v0.76.2", packages: []string{"./..."}},
	{name: "jobset", title: "jobset %s, integration", module: "sigs.k8s.io/jobset@v0.10.1", packages: []string{"./test/integration/..."}},
	{name: "lws", title: "lws %s, integration", module: "sigs.k8s.io/lws@v0.7.0", packages: []string{"./test/integration/..."}},
	{
		name: "cluster-api", title: "cluster-api %s, patch, server-side apply, crdmigrator", module: "sigs.k8s.io/cluster-api@v1.14.2", nested: []string{"sigs.k8s.io/cluster-api/api@v1.14.2 => api"},
		packages: []string{"./util/patch/...", "./util/deprecated/v1beta1/patch/...", "./internal/util/ssa/...", "./controllers/crdmigrator/..."},
	},
	{name: "karpenter", title: "karpenter %s, all packages", module: "sigs.k8s.io/karpenter@v1.8.0", packages: []string{"./pkg/..."}},
	{name: "kro", title: "kro %s, integration", module: "github.com/kubernetes-sigs/kro@v0.9.4", packages: []string{"./test/integration/..."}},
}
