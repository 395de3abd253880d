package crds

// project describes the published files of a project. Patterns are those of filepath.Match, relative to the module.
type project struct {
	name    string
	module  string   // path@version
	count   int      // number of CRDs
	crds    []string // files of CustomResourceDefinitions
	samples []string // YAML files, and Markdown files with fenced YAML
	invalid []string // YAML files in which all objects are rejected by the CRDs
	// refused lists samples that are not valid objects, by file:line, with a part of the server's error for each. Most of them are
	// fragments from a book, or were written for an older version. If one of them is accepted, the test fails.
	refused map[string]string
}

var projects = []project{
	{
		name:    "cert-manager",
		module:  "github.com/cert-manager/cert-manager@v1.21.2",
		count:   6,
		crds:    []string{"deploy/crds/*.yaml"},
		samples: []string{"test/fixtures/cert-manager-resources.yaml"},
	},
	{
		name:    "gateway-api",
		module:  gatewayAPI,
		count:   10,
		crds:    []string{"config/crd/standard/gateway*.yaml"},
		samples: []string{"examples/standard/*.yaml", "examples/standard/*/*.yaml"},
		invalid: []string{"hack/invalid-examples/standard/*/*.yaml"},
	},
	{
		name:    "gateway-api-experimental",
		module:  gatewayAPI,
		count:   13,
		crds:    []string{"config/crd/experimental/gateway*.yaml"},
		samples: []string{"examples/*/*.yaml", "examples/*/*/*.yaml", "examples/*/*/*/*.yaml"},
		invalid: []string{"hack/invalid-examples/*/*/*.yaml"},
	},
	{
		name:    "argo-workflows",
		module:  "github.com/argoproj/argo-workflows/v3@v3.7.0",
		count:   8,
		crds:    []string{"manifests/base/crds/full/*.yaml"},
		samples: []string{"examples/*.yaml", "examples/*/*.yaml", "test/e2e/*/*.yaml"},
		refused: argoRefused,
	},
	{
		name:    "prometheus-operator",
		module:  "github.com/prometheus-operator/prometheus-operator@v0.85.0",
		count:   10,
		crds:    []string{"example/prometheus-operator-crd-full/*.yaml"},
		samples: []string{"example/*/*.yaml", "example/*/*/*.yaml"},
		refused: map[string]string{
			"example/user-guides/scrapeclass/scrapeclass-example-definition.yaml:1":     "metadata.name: Required value",
			"example/user-guides/scrapeclass/scrapeclass-example-podmonitor.yaml:1":     "metadata.name: Required value",
			"example/user-guides/scrapeclass/scrapeclass-example-servicemonitor.yaml:1": "spec.selector: Required value",
		},
	},
	{
		name:   "cluster-api",
		module: "sigs.k8s.io/cluster-api@v1.14.2",
		count:  17,
		crds: []string{"core/config/crd/bases/*.yaml", "bootstrap/kubeadm/config/crd/bases/*.yaml",
			"controlplane/kubeadm/config/crd/bases/*.yaml"},
		samples: []string{"docs/book/src/*/*.md", "docs/book/src/*/*/*.md", "docs/book/src/*/*/*/*.md"},
		refused: clusterRefused,
	},
}

// gatewayAPI is the newest version that supports Go 1.26.
const gatewayAPI = "sigs.k8s.io/gateway-api@v1.6.3"

// argoRefused are invalid samples of Argo, whose controller is usually installed with CRDs that validate nothing.
var argoRefused = map[string]string{
	"examples/memoize-simple.yaml:1":                                             "spec.templates[0].memoize.cache.configMap.key: Required value",
	"examples/workflow-event-binding/github-path-filter-workflowtemplate.yaml:1": `value in body must be of type string: "array"`,
	"test/e2e/cron/cron-and-malformed-template.yaml:26":                          `unknown field "spec.entrypoints"`,
	"test/e2e/expectedfailures/dag-failFast-hang.yaml:1":                         "metadata.generateName: Invalid value",
	"test/e2e/functional/continue-on-failed.yaml:1":                              `unknown field "spec.templates[0].steps[1][0].dependencies"`,
	"test/e2e/functional/output-jqfilter-parameters.yaml:1":                      `unknown field "spec.templates[2].outputs.parameters[1].valueFrom.jqfilter"`,
	"test/e2e/lintfail/disallow-unknown.yaml:1":                                  `unknown field "spec.templates[0].container.someExtraField"`,
	"test/e2e/lintfail/malformed-spec.yaml:1":                                    `spec.entrypoint in body must be of type string: "array"`,
	"test/e2e/testdata/artifact-workflow-azure.yaml:1":                           "spec.templates[0].outputs.artifacts[0].azure.container: Required value",
	"test/e2e/testdata/data-transformation.yaml:1":                               "spec.templates[2].data.source.artifactPaths.name: Required value",
	"test/e2e/testdata/retry-workflow-with-continueon.yaml:1":                    `value in body must be of type string: "integer"`,
	"test/e2e/testdata/workflow-template-invalid-entrypoint.yaml:1":              "spec.templates[0].container.volumeMounts[0].mountPath: Required value",
	"test/e2e/testdata/workflow-template-invalid-onexit.yaml:1":                  "spec.templates[1].container.volumeMounts[0].mountPath: Required value",
}

// clusterRefused are invalid samples of Cluster API, whose book shows only the part of an object that a page describes.
var clusterRefused = map[string]string{
	"docs/book/src/tasks/bootstrap/kubeadm-bootstrap/index.md:49":                                   "spec.clusterName: Required value",
	"docs/book/src/tasks/bootstrap/microk8s-bootstrap.md:16":                                        "metadata.name: Required value",
	"docs/book/src/tasks/bootstrap/microk8s-bootstrap.md:44":                                        "spec.template.spec.infrastructureRef: Required value",
	"docs/book/src/tasks/certs/auto-rotate-certificates-in-kcp.md:13":                               `must be of type object: "string"`,
	"docs/book/src/tasks/experimental-features/cluster-class/operate-cluster.md:288":                "spec.controlPlane: Required value",
	"docs/book/src/tasks/experimental-features/cluster-class/operate-cluster.md:311":                "spec.controlPlane: Required value",
	"docs/book/src/tasks/experimental-features/cluster-class/operate-cluster.md:338":                "spec.controlPlane: Required value",
	"docs/book/src/tasks/experimental-features/cluster-class/write-clusterclass.md:131":             "spec.controlPlane: Required value",
	"docs/book/src/tasks/experimental-features/cluster-class/write-clusterclass.md:154":             `unknown field "spec.topology.workers.machinePools[0].failureDomain"`,
	"docs/book/src/tasks/experimental-features/cluster-class/write-clusterclass.md:1062":            `spec.template.spec in body must be of type object: "string"`,
	"docs/book/src/tasks/experimental-features/runtime-sdk/implement-topology-mutation-hook.md:94":  "metadata.name: Required value",
	"docs/book/src/tasks/experimental-features/runtime-sdk/implement-topology-mutation-hook.md:180": "metadata.name: Required value",
	"docs/book/src/tasks/using-kustomize.md:81":                                                     `unknown field "spec.nodeStartupTimeout"`,
	"docs/book/src/tasks/workload-bootstrap-gitops.md:17":                                           "spec: Required value",
}
