// Package builtin defines the behaviour of Kubernetes' own kinds that the schema data does not contain: defaults written
// in Go, validation, handling of status and generation, field selectors, and Table columns. One package per API group
// lists its kinds. Package builtin combines them.
//
//	schema.Set.Resources() ── names, scope, verbs, structure ─────────┐
//	core.Kinds, apps.Kinds, … ── strategy, defaults, gates, columns ──┴─▶ Definitions ─▶ resource.Table
//
// A resource without a Kind is also served, but has no specific rules.
package builtin

import (
	"slices"
	"sync"

	"github.com/kubesim/kubesim/sim/builtin/admissionregistration"
	"github.com/kubesim/kubesim/sim/builtin/apiextensions"
	"github.com/kubesim/kubesim/sim/builtin/apiregistration"
	"github.com/kubesim/kubesim/sim/builtin/apiserverinternal"
	"github.com/kubesim/kubesim/sim/builtin/apps"
	"github.com/kubesim/kubesim/sim/builtin/authentication"
	"github.com/kubesim/kubesim/sim/builtin/authorization"
	"github.com/kubesim/kubesim/sim/builtin/autoscaling"
	"github.com/kubesim/kubesim/sim/builtin/batch"
	"github.com/kubesim/kubesim/sim/builtin/certificates"
	"github.com/kubesim/kubesim/sim/builtin/coordination"
	"github.com/kubesim/kubesim/sim/builtin/core"
	"github.com/kubesim/kubesim/sim/builtin/discovery"
	"github.com/kubesim/kubesim/sim/builtin/flowcontrol"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/networking"
	"github.com/kubesim/kubesim/sim/builtin/node"
	"github.com/kubesim/kubesim/sim/builtin/policy"
	"github.com/kubesim/kubesim/sim/builtin/rbac"
	devices "github.com/kubesim/kubesim/sim/builtin/resource"
	"github.com/kubesim/kubesim/sim/builtin/scheduling"
	"github.com/kubesim/kubesim/sim/builtin/storage"
	"github.com/kubesim/kubesim/sim/builtin/storagemigration"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// kinds returns new Kinds of all groups.
func kinds() []kind.Kind {
	return slices.Concat(core.Kinds(), apps.Kinds(), batch.Kinds(), autoscaling.Kinds(), policy.Kinds(), networking.Kinds(),
		discovery.Kinds(), storage.Kinds(), rbac.Kinds(), scheduling.Kinds(), coordination.Kinds(), node.Kinds(),
		admissionregistration.Kinds(), certificates.Kinds(), flowcontrol.Kinds(), devices.Kinds(), apiextensions.Kinds(),
		apiregistration.Kinds(), authentication.Kinds(), authorization.Kinds(), storagemigration.Kinds(),
		apiserverinternal.Kinds())
}

var cached sync.Map // *schema.Set → func() []*resource.Definition

// Definitions returns the definitions of all resources that an API server of the set's minor version serves by default, in the
// order of discovery. They are created once per process and shared.
func Definitions(set *schema.Set) []*resource.Definition {
	made, _ := cached.LoadOrStore(set, sync.OnceValue(func() []*resource.Definition {
		server, err := kind.Server(set.Minor(), nil)
		if err != nil {
			panic(err) // the schema data contains its minor
		}
		return DefinitionsFor(set, server)
	}))
	return made.(func() []*resource.Definition)()
}

// DefinitionsFor is like Definitions, but for a server that may have other feature gates. Each call creates new definitions.
func DefinitionsFor(set *schema.Set, server resource.Server) []*resource.Definition {
	return kind.Define(set, server, kinds())
}
