// Package builtin holds what the schema data cannot say about Kubernetes' own kinds: defaults written in Go, validation,
// what happens to status and generation, field selectors, Table columns. A package per API group lists its kinds; here
// they come together.
//
//	schema.Set.Resources() ── names, scope, verbs, structure ─────────┐
//	core.Kinds, apps.Kinds, … ── strategy, defaults, gates, columns ──┴─▶ Definitions ─▶ resource.Table
//
// A resource without a kind is served all the same, without rules of its own.
package builtin

import (
	"slices"
	"sync"

	"github.com/kubesim/kubesim/sim/builtin/admissionregistration"
	"github.com/kubesim/kubesim/sim/builtin/apiextensions"
	"github.com/kubesim/kubesim/sim/builtin/apiregistration"
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

// kinds returns the kinds of all groups, made anew.
func kinds() []kind.Kind {
	return slices.Concat(core.Kinds(), apps.Kinds(), batch.Kinds(), autoscaling.Kinds(), policy.Kinds(), networking.Kinds(),
		discovery.Kinds(), storage.Kinds(), rbac.Kinds(), scheduling.Kinds(), coordination.Kinds(), node.Kinds(),
		admissionregistration.Kinds(), certificates.Kinds(), flowcontrol.Kinds(), devices.Kinds(), apiextensions.Kinds(),
		apiregistration.Kinds(), authentication.Kinds(), authorization.Kinds(), storagemigration.Kinds())
}

var cached sync.Map // *schema.Set → func() []*resource.Definition

// Definitions returns the definitions of all resources that an API server of the minor serves by default, in the order
// of discovery. They are made once per process and shared.
func Definitions(set *schema.Set) []*resource.Definition {
	made, _ := cached.LoadOrStore(set, sync.OnceValue(func() []*resource.Definition {
		server, err := kind.Server(set.Minor(), nil)
		if err != nil {
			panic(err) // the schema data names its minor
		}
		return DefinitionsFor(set, server)
	}))
	return made.(func() []*resource.Definition)()
}

// DefinitionsFor is Definitions for a server that may have other feature gates. They are made anew with each call.
func DefinitionsFor(set *schema.Set, server resource.Server) []*resource.Definition {
	return kind.Define(set, server, kinds())
}
