package sim

import (
	"strings"

	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/pack"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// Storage reads and writes the Cluster's store without an API server, like a client of etcd: no request is authorized, admitted or
// validated.
type Storage struct{ c *Cluster }

// Storage returns the Storage of the Cluster.
func (c *Cluster) Storage() Storage { return Storage{c} }

// Do calls f with the store. The Cluster's lock is held: f must not send requests to the Cluster, and must not keep its argument.
func (s Storage) Do(f func(StorageLocked)) { s.c.do(func() { f(StorageLocked(s)) }) }

// OnCommit calls f after every future commit. The Cluster's lock is held.
func (s Storage) OnCommit(f func(Commit)) { s.c.OnCommit(f) }

// StorageLocked is a Storage for a caller that holds the Cluster's lock.
type StorageLocked struct{ c *Cluster }

// Store returns the store, for reading.
func (s StorageLocked) Store() *mvcc.Store { return s.c.log.Store }

// BuiltIn returns the hub definitions of all built-in resources, sorted by storage name.
func (s StorageLocked) BuiltIn() []*resource.Definition { return s.c.servers.At(1).Hubs() }

// Definition returns the hub definition of a storage name, or nil.
func (s StorageLocked) Definition(storage string) *resource.Definition {
	return s.c.servers.Definition(storage)
}

// Minor returns the minor version of API server 1.
func (s StorageLocked) Minor() string { return s.c.servers.At(1).Minor() }

// Gate reports whether a feature gate is enabled on API server 1.
func (s StorageLocked) Gate(name string) bool {
	return s.c.servers.At(1).API().Registry.Server.Gates[name]
}

// storageClient is the author of the writes of a Storage.
const storageClient = seeder("etcd")

// Put stores an object of a resource at a key in one commit. A built-in object may be in any version that API server 1 can
// decode. It gets its defaults, as the real server sets them when it reads the object. A custom resource is stored as it is.
func (s StorageLocked) Put(d *resource.Definition, key string, obj object.Object) error {
	rev := s.c.log.Store.Rev() + 1
	var value []byte
	if d.Custom {
		obj.Set(registry.FormatRev(rev), "metadata", "resourceVersion")
		value = object.JSON(map[string]any(obj))
	} else {
		obj, err := s.decode(d, obj)
		if err != nil {
			return err
		}
		value = s.c.servers.At(1).API().Registry.Record(d, obj, rev).Value()
	}
	s.c.log.Committed(storageClient, s.c.log.Store.Put(key, pack.New(value), nil))
	return nil
}

// PutCorrupt stores, in one commit, a value at a key that cannot be read. Requests that read it fail with err. The store keeps the object
// that was there before, or one with nothing but its name, so that the value is lost when the server restarts.
func (s StorageLocked) PutCorrupt(d *resource.Definition, key string, err error) {
	store := s.c.log.Store
	rev := store.Rev() + 1
	obj := object.Object{"apiVersion": d.GV(), "kind": d.Kind}
	if before, wrong := store.Get(key, 0); wrong == nil && before != nil {
		obj = resource.ItemOf(d, before).Object()
	} else {
		path := strings.TrimPrefix(key, d.Key("", ""))
		namespace, name, ok := strings.Cut(path, "/")
		if !ok {
			namespace, name = "", path
		}
		obj.Set(name, "metadata", "name")
		if namespace != "" {
			obj.Set(namespace, "metadata", "namespace")
		}
	}
	obj.Set(registry.FormatRev(rev), "metadata", "resourceVersion")
	kv := s.c.servers.At(1).API().Registry.Record(d, obj, rev)
	kv.Key = key
	s.c.log.Committed(storageClient, store.Put(key, kv.Text, resource.ItemOf(d, kv).Failed(err)))
}

// decode returns a built-in object in its hub version, with defaults.
func (s StorageLocked) decode(d *resource.Definition, obj object.Object) (object.Object, error) {
	api := s.c.servers.At(1).API()
	as := api.Table.OfKind(schema.ParseGVK(obj.APIVersion(), obj.Kind()))
	if as == nil || as.Hub != d {
		as = d // a version that is no longer served; its fields are those of the served one
		obj["apiVersion"] = d.GV()
	}
	obj, _, err := api.Decoder.Decode(object.JSON(map[string]any(obj)), as.GVK, as.Layout())
	if err != nil {
		return nil, err
	}
	if as.Default != nil && d.Storage != crd.Storage {
		as.Default(obj)
	}
	if as != d && as.ToHub != nil {
		return as.ToHub(obj)
	}
	obj["apiVersion"] = d.GV()
	return obj, nil
}

// Delete removes a key in one commit. If the key does not exist, Delete does nothing.
func (s StorageLocked) Delete(key string) {
	if e, ok := s.c.log.Store.Delete(key); ok {
		s.c.log.Committed(storageClient, e)
	}
}

// Compact discards the history before a revision. It returns an error if the revision is already compacted or is in the future.
func (s StorageLocked) Compact(rev uint64) error { return s.c.history.CompactTo(rev) }
