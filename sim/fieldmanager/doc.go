// Package fieldmanager keeps metadata.managedFields: which manager set which field, by which kind of request, when. It merges
// applied configurations into objects (API concepts, "Server-side apply"; KEP-555).
//
//	metadata.managedFields ─┬─ entry ─ manager "kubectl"  operation Apply   time …  ┐ sorted by operation, time,
//	                        └─ entry ─ manager "kubelet"  operation Update  time …  ┘ manager, apiVersion, subresource
//	                                     └─ fieldsV1, a set of paths:
//	                                          {"f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {".": {}, "f:image": {}}}}}
//
// An apply, from the request to the commit. Two calls return to a package that is further up: ▲.
//
//	apiserver      patch              headers and options                                       apiserver/patch.go
//	  ▼
//	registry       Update             the current object, and once more if that has changed     registry/update.go
//	  ▼ ▲ Change.Make
//	apiserver      patcher.apply      YAML → configuration                                      apiserver/apply.go
//	  ▼
//	fieldmanager   Manager.Apply      managedFields → entries; both objects fit the schema      apply.go, entry.go, invalid.go
//	               overLastApplied    fields that kubectl applied at the client do not conflict         lastapplied.go
//	               structuredMerge    entries → sets; sets → entries                            structuredmerge.go, set.go
//	  ▼
//	merge.Updater  Apply              merge, prune, conflicts, sets
//	  ▼ ▲ Convert                     the object in the version of another owner                structuredmerge.go, version.go
//	codec                             the merged values as the kind reads them
//	  ▼
//	registry       Update             admission, strategy, validation, commit: as for any write
//
// Only this package imports structured-merge-diff. The layers around its Updater are those of k8s.io/apimachinery's managedfields:
//
//	versionCheck           patcher.configuration, in apiserver
//	lastAppliedUpdater     refreshLastApplied
//	lastAppliedManager     overLastApplied
//	skipNonApplied         Update does not track an object without entries; Apply gives it one of before-first-apply
//	capManagers            capped
//	buildManagerInfo       id, By.updater
//	managedFieldsUpdater   entriesOf for an apply, gain for an update
//	stripMeta              stripSet for an apply, stripped for an update
//	structuredMerge        structuredMerge for an apply, track for an update
//
// An update needs only the changes: two objects are compared along their shape (diff.go), and changed fields move from their owners
// to the manager of the request. The sets stay in the form they have in the object (fieldset.go), so an entry that loses nothing is
// not even copied. A new object has nothing to compare with: its set is printed (all.go). The Updater has an Update, too, but it
// needs all sets read and printed again and walks over all of the object: with it, a PUT of a pod takes 3 times as long as its
// client does, in place of twice (BenchmarkUpdate of examples/bench).
//
//	schema.Type ──▶ shape ──▶ the changes of an update, the errors in a configuration
//	                  └─────▶ schema of structured-merge-diff (smd.go) ──▶ an apply
//
// Shapes are made once per type and process; those of custom resources belong to a Manager.
package fieldmanager

import (
	"time"

	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// By is the manager that changes an object, the subresource, and the time.
type By struct {
	Name        string // field manager
	Subresource string // "" for the main resource
	Time        time.Time

	Asker resource.Asker // waits for conversion webhooks; it may be nil
}

// Manager keeps managedFields for the resources of one API server. Objects are in the version of the request. It is
// not safe for concurrent use: the Cluster's lock guards it.
type Manager struct {
	Options
	custom  map[*schema.Type]*model
	scratch []byte // where a set is printed before it gets memory of its own
}

// Options describe the API server of a Manager.
type Options struct {
	// Versions finds the versions of resources. If it is nil, a resource is known in the version of the request and its hub.
	Versions Versions
	// Keeps reports that an update leaves managedFields that cannot be computed as they were. Servers before 1.37 drop them.
	Keeps bool
}

// Versions finds the versions of resources.
type Versions interface {
	// Version returns the definition of d's resource in another apiVersion, or nil. Entries of a version of a built-in kind that is
	// not served any more are dropped. For a custom resource it finds the versions that are not served, too.
	Version(d *resource.Definition, apiVersion string) *resource.Definition
}

// New returns a Manager for an API server.
func New(o Options) *Manager { return &Manager{Options: o, custom: map[*schema.Type]*model{}} }
