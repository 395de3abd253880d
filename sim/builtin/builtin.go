// Package builtin holds what the schema data cannot say about Kubernetes' own kinds: defaults written in Go, validation,
// what happens to status and generation, field selectors, Table columns. A file per API group or kind; rules read like
// a table.
//
//	schema.Set.Resources() ── names, scope, verbs, structure ───────┐
//	kinds (pods.go, services.go, …) ── strategy, defaults, columns ─┴─▶ Definitions ─▶ resource.Table
//
// A resource without an entry here is served all the same, as a kind without rules of its own.
package builtin

import (
	"sync"

	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// kinds returns the kinds of all groups, made anew.
func kinds() []kind {
	var all []kind
	for _, group := range [][]kind{
		coreKinds(), workloadKinds(), batchKinds(), autoscalingKinds(), policyKinds(), networkingKinds(), endpointSliceKinds(),
		storageKinds(), rbacKinds(), schedulingKinds(), coordinationKinds(), nodeKinds(), admissionKinds(), certificateKinds(),
		flowcontrolKinds(), deviceKinds(), extensionKinds(), registrationKinds(), authenticationKinds(), reviewKinds(),
	} {
		all = append(all, group...)
	}
	return all
}

var (
	cached   sync.Map // *schema.Set → []*resource.Definition
	building sync.Mutex
)

// Definitions returns the definitions of all resources that an API server of the minor serves by default, in the order
// of discovery. They are made once per process and shared.
func Definitions(set *schema.Set) []*resource.Definition {
	if defs, ok := cached.Load(set); ok {
		return defs.([]*resource.Definition)
	}
	building.Lock()
	defer building.Unlock()
	if defs, ok := cached.Load(set); ok {
		return defs.([]*resource.Definition)
	}
	server, err := Server(set.Minor(), nil)
	if err != nil {
		panic(err) // the schema data names its minor
	}
	defs := DefinitionsFor(set, server)
	cached.Store(set, defs)
	return defs
}

// DefinitionsFor is Definitions for a server that may have other feature gates. They are made anew with each call.
func DefinitionsFor(set *schema.Set, server resource.Server) []*resource.Definition {
	return define(set, server, kinds())
}
