package sim

import (
	"fmt"
	"math"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller/server"
	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/history"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/observe"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
)

// Imported is the result of Cluster.Import.
type Imported struct {
	Objects    int       // the number of imported objects
	Refused    []Refused // the other ones, in their order
	Namespaces []string  // namespaces that were created because imported objects are in them
}

// Refused is an object that was not imported.
type Refused struct {
	Index  int // of the object in the argument of Import
	Reason error
}

// Import stores objects of another cluster, given as JSON in any order, and restarts the API servers and controllers over them, as
// if etcd had been restored from a backup: open watches end, and controllers reconcile what they find. Existing objects stay unless
// an imported one has the same name.
//
//	objects ─▶ a fork, which serves their definitions ─ decoded, validated ─▶ writes at their resourceVersions ─┐
//	store ─ other objects ──────────────────────────────────────────────────────────────────────────────────────┴▶ a new store
//
// An object keeps its resourceVersion. It gets a new one, above all others, if it has none or if an earlier object has the same; so
// does an existing object whose resourceVersion an imported one has. If an object is given several times, the one with the highest
// resourceVersion is imported. registry.Registry.Import describes the validation.
//
// A clock.Manual that is behind the given time advances to it. Objects that cannot be imported are in the result. An error means
// that the servers could not restart over the imported objects.
func (c *Cluster) Import(objects [][]byte, at time.Time) (*Imported, error) {
	if err := c.alone(); err != nil {
		return nil, fmt.Errorf("kubesim: import: %w", err)
	}
	done := &Imported{}
	f := c.Fork()
	defer f.Close()
	f.defineForeign(objects)
	all := under(f, func() []imported { return checkForeign(f.servers.At(1).API(), objects, done) })
	if m, ok := c.clock.(*clock.Manual); ok {
		m.AdvanceTo(at) // without the lock, which timers acquire
	}
	var err error
	c.do(func() {
		if err = c.loadStateLocked(c.importLocked(all)); err == nil {
			err = c.createNamespacesLocked(all, done)
		}
	})
	done.Objects = len(all)
	if err != nil {
		return nil, fmt.Errorf("kubesim: import: %w", err)
	}
	return done, nil
}

// imported is an object to import.
type imported struct {
	definition *resource.Definition
	object     object.Object
	rev        uint64 // its resourceVersion, or 0
}

// key returns the object's key in the store.
func (x *imported) key() string {
	return x.definition.Key(x.object.Namespace(), x.object.Name())
}

// defineForeign serves the CustomResourceDefinitions among the objects. Import reports their errors.
func (c *Cluster) defineForeign(objects [][]byte) {
	c.do(func() {
		api := c.servers.At(1).API()
		for _, data := range objects {
			kind, err := codec.KindOf(data)
			if d := api.Table.OfKind(kind); err != nil || d == nil || d.Storage != crd.Storage {
				continue
			}
			if d, obj, err := api.Import(data); err == nil {
				obj.Remove("metadata", "deletionTimestamp") // the objects of a terminating definition can be read
				_ = api.Seed(seeder(""), d, "", "", object.JSON(map[string]any(obj)))
			}
		}
	})
}

// revisionMax is the highest resourceVersion that Import accepts.
const revisionMax = math.MaxInt64

// checkForeign returns the objects that can be imported, at most one per key, and adds the other ones to done.Refused.
func checkForeign(api *apiserver.Server, objects [][]byte, done *Imported) []imported {
	var all []imported
	known := map[string]int{} // by key: the index in all
	for i, data := range objects {
		x := imported{}
		var err error
		if x.definition, x.object, err = api.Import(data); err == nil {
			var ok bool
			if x.rev, ok = registry.ParseRev(x.object.ResourceVersion()); !ok || x.rev > revisionMax {
				err = fmt.Errorf("metadata.resourceVersion %q is not a revision", x.object.ResourceVersion())
			}
		}
		if err != nil {
			done.Refused = append(done.Refused, Refused{i, err})
			continue
		}
		key := x.key()
		if j, ok := known[key]; !ok {
			known[key] = len(all)
			all = append(all, x)
		} else if x.rev > all[j].rev {
			all[j] = x
		}
	}
	return all
}

// rootCA is the key of the object with the authority of an imported cluster. Controllers continue to publish it.
const rootCA = "/registry/configmaps/kube-system/kube-root-ca.crt"

// importLocked returns the current state with the objects in its store.
func (c *Cluster) importLocked(all []imported) *State {
	s := c.stateLocked()
	for _, x := range all {
		if x.key() == rootCA && s.Options.RootCA == "" {
			s.Options.RootCA = x.object.String("data", "ca.crt")
			c.options.RootCA = s.Options.RootCA
		}
	}
	store, leases := c.mergedStore(s.History.Store, all)
	rev, now := store.Rev(), s.History.Now
	s.History.Store, s.History.Marks = store, history.Marks{}
	s.History.Marks.Add(rev, now, nil)
	s.History.Compaction = history.Compaction{Next: s.History.Compaction.Next, Seen: rev}
	s.History.Leases = append(s.History.Leases, leases...)
	s.Servers.Servers, s.Observed = nil, observe.State{Faults: s.Observed.Faults}
	s.Controllers = server.Restarted(now, !c.options.Bare)
	s.Begins, s.Unread = true, true
	return s
}

// mergedStore returns a store without history that contains imported objects, and all existing ones that they do not replace. It
// also returns the leases of imported objects.
func (c *Cluster) mergedStore(existing *mvcc.Store, all []imported) (store *mvcc.Store, leases []history.Lease) {
	last, r := existing.Rev(), c.servers.At(1).API().Registry
	taken, keys := map[uint64]bool{}, map[string]bool{}
	var kvs []*mvcc.KV
	put := func(d *resource.Definition, obj object.Object, rev uint64) {
		kv := r.Record(d, obj, rev)
		kvs = append(kvs, kv)
		if ttl := d.Hub.Strategy.TTL; ttl > 0 {
			leases = append(leases, history.Lease{Key: kv.Key, Rev: rev, At: c.clock.Now().Add(ttl)})
		}
	}
	var later []imported
	for _, x := range all {
		keys[x.key()] = true
		if x.rev == 0 || taken[x.rev] {
			later = append(later, x)
			continue
		}
		taken[x.rev], last = true, max(last, x.rev)
		put(x.definition, x.object, x.rev)
	}
	newest, _ := existing.At(0) // the newest revision always exists
	newest.Range("", "", func(kv *mvcc.KV) bool {
		d := c.servers.At(1).Definition(commit.Storage(kv.Key))
		switch {
		case keys[kv.Key]:
		case taken[kv.ModRev] && d != nil:
			later = append(later, imported{definition: d, object: resource.ItemOf(d, kv).Object()})
		default:
			kvs = append(kvs, kv)
		}
		return true
	})
	for _, x := range later {
		last++
		put(x.definition, x.object, last)
	}
	store, _ = mvcc.Load(mvcc.NewView(last, kvs), nil, nil) // only commits can be wrong
	return store, leases
}

// createNamespacesLocked creates the missing namespaces of imported objects. It returns an error if a namespace cannot be created.
func (c *Cluster) createNamespacesLocked(all []imported, done *Imported) error {
	reader, checked := c.servers.First().Reader(), map[string]bool{"": true}
	for _, x := range all {
		name := x.object.Namespace()
		if checked[name] {
			continue
		}
		checked[name] = true
		if reader.Get("namespaces", "", name) != nil {
			continue
		}
		if s := c.createNamespace(name); s != nil {
			return fmt.Errorf("namespace %s: %w", name, s)
		}
		done.Namespaces = append(done.Namespaces, name)
	}
	return nil
}
