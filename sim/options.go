package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/aggregator"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/controller/manager"
	"github.com/kubesim/kubesim/sim/replica"
	"github.com/kubesim/kubesim/sim/schema"
)

// Options describe a Cluster. The zero value is one API server of the newest version on a clock that moves only by Advance.
type Options = config.Cluster

// ReplicaOptions describe one API server. The zero value is a server of schema.Default with all defaults.
type ReplicaOptions = config.Server

// check returns an error if a value of the options is none that it can have.
func check(o *Options) error {
	for _, name := range o.Plugins {
		if all := admission.Optional(); !slices.Contains(all, name) {
			return fmt.Errorf("there is no admission plugin %q to add: there are %s", name, strings.Join(all, ", "))
		}
	}
	for _, name := range o.WithoutPlugins {
		if all := admission.Names(); !slices.Contains(all, name) {
			return fmt.Errorf("there is no admission plugin %q to leave out: there are %s", name, strings.Join(all, ", "))
		}
	}
	if _, err := manager.New(o.Controllers, manager.Flags{}); err != nil {
		return err
	}
	return o.Check()
}

// authOptions returns the options that concern authentication and authorization.
func authOptions(o *Options) []any {
	return []any{o.Auth, o.Tokens, o.Authorizers, o.NoAnonymous, o.RequestHeader, o.ServiceAccounts}
}

// authentication returns the options of the API servers' authentication.
func authentication(o *Options, tokens *token.Authority) auth.Options {
	return auth.Options{Mode: o.Auth, Tokens: o.Tokens, Authorizers: o.Authorizers, NoAnonymous: o.NoAnonymous,
		RequestHeader: o.RequestHeader, Audiences: tokens.Audiences()}
}

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
