// Package fieldmanager maintains metadata.managedFields, which records which manager set which field, by which kind of request, and
// when. It also merges applied configurations into objects (API concepts, "Server-side apply"; KEP-555).
//
//	metadata.managedFields ─┬─ entry ─ manager "kubectl"  operation Apply   time …  ┐ sorted by operation, time,
//	                        └─ entry ─ manager "kubelet"  operation Update  time …  ┘ manager, apiVersion, subresource
//	                                     └─ fieldsV1, a set of paths:
//	                                          {"f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {".": {}, "f:image": {}}}}}
//
// The steps of an apply, from the request to the commit. ▲ marks the two calls back to a package above:
//
//	apiserver      patch              headers and options                                       apiserver/patch.go
//	  ▼
//	registry       Update             the current object; again if it has changed meanwhile     registry/update.go
//	  ▼ ▲ Change.Make
//	apiserver      patcher.apply      YAML → configuration                                      apiserver/apply.go
//	  ▼
//	fieldmanager   Manager.Apply      managedFields → entries; validates both objects           apply.go, entry.go, invalid.go
//	               overLastApplied    fields of kubectl's client-side apply do not conflict     lastapplied.go
//	               structuredMerge    entries → sets; sets → entries                            structuredmerge.go, set.go
//	  ▼
//	merge.Updater  Apply              merge, prune, conflicts, sets
//	  ▼ ▲ Convert                     the object in the version of another owner                structuredmerge.go, version.go
//	codec                             decodes the merged values as the kind
//	  ▼
//	registry       Update             admission, strategy, validation, commit: as for any write
//
// Only this package imports structured-merge-diff. The layers around its Updater correspond to k8s.io/apimachinery's managedfields:
//
//	versionCheck           patcher.configuration, in apiserver
//	lastAppliedUpdater     refreshLastApplied
//	lastAppliedManager     overLastApplied
//	skipNonApplied         Update does not track an object without entries; Apply adds an entry for before-first-apply
//	capManagers            capped
//	buildManagerInfo       id, By.updater
//	managedFieldsUpdater   entriesOf for an apply, gain for an update
//	stripMeta              stripSet for an apply, stripped for an update
//	structuredMerge        structuredMerge for an apply, track for an update
//
// An update needs only the changes: the two objects are compared along their shape (diff.go), and changed fields move from their
// owners to the manager of the request. The sets keep the form that they have in the object (fieldset.go), so an entry that loses
// nothing is not even copied. A new object has nothing to compare with: its set is encoded directly (all.go). The Updater also has
// an Update, but that needs all sets decoded and encoded again and traverses the whole object: with it, a PUT of a pod takes three
// times as long as its client does, instead of twice (BenchmarkUpdate of examples/bench).
//
//	schema.Type ──▶ shape ──▶ the changes of an update, the errors in a configuration
//	                  └─────▶ schema of structured-merge-diff (smd.go) ──▶ an apply
//
// Shapes are built once for each type and process. Shapes of custom resources belong to a Manager.
package fieldmanager

import (
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// By describes the writer of a change: its manager and subresource, and the time.
type By struct {
	Name        string // field manager
	Subresource string // "" for the main resource
	Time        time.Time

	Asker resource.Asker // waits for conversion webhooks; it may be nil
}

// Manager maintains managedFields for the resources of one API server. Objects are in the version of the request. A Manager is not
// safe for concurrent use: the Cluster's lock guards it.
type Manager struct {
	Options
	custom  map[*schema.Type]*model
	scratch []byte // buffer for encoding sets and merge results
}

// print returns v as JSON. The result is only valid until the next value or set is printed.
func (m *Manager) print(v map[string]any) []byte {
	m.scratch = object.AppendJSON(m.scratch[:0], v)
	return m.scratch
}

// Options describe the API server of a Manager.
type Options struct {
	// Versions finds the versions of resources. If it is nil, only the version of the request and that of the hub are known.
	Versions Versions
	// Keeps reports that an update keeps the previous managedFields if the new ones cannot be computed. Servers before 1.37 drop
	// them.
	Keeps bool
}

// Versions finds the versions of resources.
type Versions interface {
	// Version returns the definition of d's resource in another apiVersion, or nil. If a version of a built-in kind is no longer
	// served, its entries are dropped. For a custom resource, Version also finds versions that are not served.
	Version(d *resource.Definition, apiVersion string) *resource.Definition
}

// New returns a Manager for an API server.
func New(o Options) *Manager { return &Manager{Options: o, custom: map[*schema.Type]*model{}} }
