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

// Options configure a Cluster. The zero value is one API server of the newest version, with a clock that only Advance moves.
type Options = config.Cluster

// ReplicaOptions configure one API server. The zero value is a server of version schema.Default with default settings.
type ReplicaOptions = config.Server

// check returns an error if an option has an invalid value.
func check(o *Options) error {
	for _, name := range o.Plugins {
		if all := admission.Optional(); !slices.Contains(all, name) {
			return fmt.Errorf("there is no admission plugin %q: those that can be enabled are %s", name, strings.Join(all, ", "))
		}
	}
	for _, name := range o.WithoutPlugins {
		if all := admission.Names(); !slices.Contains(all, name) {
			return fmt.Errorf("there is no admission plugin %q: those that can be disabled are %s", name, strings.Join(all, ", "))
		}
	}
	if _, err := manager.New(o.Controllers, manager.Flags{}); err != nil {
		return err
	}
	return o.Check()
}

// authOptions returns the values of the authentication and authorization options, so that they can be compared.
func authOptions(o *Options) []any {
	return []any{o.Auth, o.Tokens, o.Authorizers, o.NoAnonymous, o.AnonymousPaths, o.RequestHeader, o.ServiceAccounts}
}

// authentication returns the options for the API servers' auth.Auth.
func authentication(o *Options, tokens *token.Authority) auth.Options {
	return auth.Options{Mode: o.Auth, Tokens: o.Tokens, Authorizers: o.Authorizers, NoAnonymous: o.NoAnonymous, AnonymousPaths: o.AnonymousPaths,
		RequestHeader: o.RequestHeader, Audiences: tokens.Audiences(), Chain: o.Authorization.Chain}
}

// ReplicaState is the state of a replica and its current disturbances.
type ReplicaState = replica.Status

// Version is the default version of a simulated API server.
const Version = schema.DefaultVersion

// APIService is an APIService that refers to a service: an aggregated API server provides its API.
type APIService = aggregator.APIService

// Aggregator sends requests to aggregated API servers. It is called without the Cluster's lock, except for Placed.
type Aggregator = aggregator.Proxy

// Within returns a context with a timeout on the Cluster's clock, and a function that cancels it.
type Within = aggregator.Within
