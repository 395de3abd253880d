// Package manager represents kube-controller-manager. It lists the controllers, each of which has a file here or in the package
// of its API group, and provides some of their dependencies.
package manager

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/account"
	"github.com/kubesim/kubesim/sim/controller/apps"
	"github.com/kubesim/kubesim/sim/controller/autoscaling"
	"github.com/kubesim/kubesim/sim/controller/batch"
	"github.com/kubesim/kubesim/sim/controller/certificates"
	"github.com/kubesim/kubesim/sim/controller/network"
	nodes "github.com/kubesim/kubesim/sim/controller/node"
	"github.com/kubesim/kubesim/sim/controller/policy"
	"github.com/kubesim/kubesim/sim/controller/volume"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/scheduler"
)

// all lists the controllers in the order in which they are notified of a commit.
var all = []func() controller.Controller{
	RoleAggregation,
	Namespace,
	GarbageCollector,
	apps.ReplicaSet,
	apps.ReplicationController,
	apps.Deployment,
	nodes.Lifecycle,
	nodes.TaintEviction,
	nodes.TTL,
	volume.Binder,
	volume.ClaimProtection,
	volume.VolumeProtection,
	volume.ClassProtection,
	volume.Ephemeral,
	volume.Expander,
	volume.Provisioner,
	apps.StatefulSet,
	apps.DaemonSet,
	batch.Job,
	batch.CronJob,
	batch.TTLAfterFinished,
	network.Endpoints,
	network.EndpointSlices,
	network.Mirroring,
	network.ServiceCIDR,
	network.LoadBalancer,
	network.Ingress,
	account.Default,
	policy.Quota,
	policy.Disruption,
	certificates.Cleaner,
	certificates.PodRequestCleaner,
	nodes.PodGC,
	account.LegacyTokens,
	scheduler.New,
	StorageVersionMigrator,
}

// Flags contains the inputs of controllers that do not come from the API: kube-controller-manager's flags.
type Flags struct {
	RootCA *string          // PEM certificates that clients of the API server must trust (--root-ca-file)
	Tokens *token.Authority // signs the tokens in Secrets (--service-account-private-key-file)
	Seed   *uint64          // seed of the key that signs certificates (--cluster-signing-key-file)

	Families []string // IP families of the ranges of nodes (--cluster-cidr)

	Kubelets autoscaling.Kubelets // source of pod metrics, or nil
}

// controllers returns the controllers that need a flag.
func (f Flags) controllers() []func() controller.Controller {
	return append([]func() controller.Controller{
		func() controller.Controller { return account.RootCA(f.RootCA) },
		func() controller.Controller { return account.Tokens(f.RootCA, f.Tokens) },
		func() controller.Controller { return autoscaling.HorizontalPodAutoscaler(f.Kubelets) },
	}, append(f.signers(), checkers()...)...)
}

// every is the name that selects all controllers, except those in byName.
const every = "*"

// byName are the controllers that run only if their name is given. They simulate what a cloud provider or an add-on does, or are
// disabled by default in kube-controller-manager, too.
var byName = []string{network.LoadBalancers, network.Ingresses, "bootstrap-signer-controller", "token-cleaner-controller", "node-ipam-controller"}

// aliases maps the names of controllers before Kubernetes 1.28, which kube-controller-manager accepts, to their present names.
var aliases = map[string]string{
	"bootstrapsigner": "bootstrap-signer-controller", "tokencleaner": "token-cleaner-controller",
	"attachdetach": "persistentvolume-attach-detach-controller", "resource-claim-controller": "resourceclaim-controller",
	"clusterrole-aggregation": "clusterrole-aggregation-controller", "cronjob": "cronjob-controller", "csrapproving": "certificatesigningrequest-approving-controller",
	"csrcleaner": "certificatesigningrequest-cleaner-controller", "csrsigning": "certificatesigningrequest-signing-controller",
	"daemonset": "daemonset-controller", "deployment": "deployment-controller", "disruption": "disruption-controller", "endpoint": "endpoints-controller",
	"endpointslice": "endpointslice-controller", "endpointslicemirroring": "endpointslice-mirroring-controller", "ephemeral-volume": "ephemeral-volume-controller",
	"garbagecollector": "garbage-collector-controller", "horizontalpodautoscaling": "horizontal-pod-autoscaler-controller", "job": "job-controller",
	"legacy-service-account-token-cleaner": "legacy-serviceaccount-token-cleaner-controller", "namespace": "namespace-controller",
	"nodeipam": "node-ipam-controller", "nodelifecycle": "node-lifecycle-controller", "persistentvolume-binder": "persistentvolume-binder-controller",
	"persistentvolume-expander": "persistentvolume-expander-controller", "podgc": "pod-garbage-collector-controller",
	"pv-protection": "persistentvolume-protection-controller", "pvc-protection": "persistentvolumeclaim-protection-controller",
	"replicaset": "replicaset-controller", "replicationcontroller": "replicationcontroller-controller", "resourcequota": "resourcequota-controller",
	"root-ca-cert-publisher": "root-ca-certificate-publisher-controller", "service": "service-lb-controller", "serviceaccount": "serviceaccount-controller",
	"serviceaccount-token": "serviceaccount-token-controller", "statefulset": "statefulset-controller", "taint-eviction": "taint-eviction-controller",
	"ttl": "ttl-controller", "ttl-after-finished": "ttl-after-finished-controller",
}

// canonical replaces aliases in names.
func canonical(names []string) (present []string) {
	for _, name := range names {
		word, off := strings.CutPrefix(name, "-")
		if now, ok := aliases[word]; ok {
			name = now
			if off {
				name = "-" + now
			}
		}
		present = append(present, name)
	}
	return present
}

// New returns controllers by name, as in kube-controller-manager's flag --controllers: * selects all of its controllers, and -NAME
// disables one. Names before Kubernetes 1.28 are accepted, too. If names is nil, New returns only the controllers that every cluster needs. An unknown name is an error.
func New(names []string, f Flags) (run []controller.Controller, err error) {
	if names == nil {
		return []controller.Controller{RoleAggregation()}, nil
	}
	names = canonical(names)
	known := map[string]bool{every: true}
	for _, make := range slices.Concat(all, f.controllers()) {
		c := make()
		known[c.Name] = true
		if (slices.Contains(names, every) && !slices.Contains(byName, c.Name) || slices.Contains(names, c.Name)) && !slices.Contains(names, "-"+c.Name) {
			run = append(run, c)
		}
	}
	for _, name := range names {
		if !known[strings.TrimPrefix(name, "-")] {
			return nil, fmt.Errorf("there is no controller %q: there are %s", name, strings.Join(object.SortedKeys(known), ", "))
		}
	}
	return run, nil
}
