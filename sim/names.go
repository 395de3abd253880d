package sim

import (
	"slices"

	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/aggregator"
	"github.com/kubesim/kubesim/sim/replica"
	"github.com/kubesim/kubesim/sim/schema"
)

// ReplicaState is the state of a replica and its current faults.
type ReplicaState = replica.Status

// Version is the default version of a simulated API server.
const Version = schema.DefaultVersion

// KnowsPlugin reports whether an admission plugin is simulated: others are an error of Options.WithoutPlugins.
func KnowsPlugin(name string) bool { return slices.Contains(admission.Names(), name) }

// OptionalPlugins returns the admission plugins that run only if Options.Plugins names them.
func OptionalPlugins() []string { return admission.Optional() }

// KnowsGate reports whether a feature gate decides something here: others are no error of ReplicaOptions.FeatureGates.
func KnowsGate(name string) bool { return replica.KnowsGate(name) }

// KnowsAPI reports whether a name may be one of ReplicaOptions.Serve for a server of a version: others are served by none.
func KnowsAPI(version, name string) bool { return replica.KnowsAPI(version, name) }

// APIService is an APIService whose API a service answers for: an aggregated API server.
type APIService = aggregator.APIService

// Aggregator reaches aggregated API servers. It is called without the Cluster's lock, but for Placed.
type Aggregator = aggregator.Proxy

// Within returns a context that ends after a time of the Cluster's clock, and what ends it before.
type Within = aggregator.Within
