// Package registry reads and writes objects, with a file for each verb. It is generic: the resource.Definition provides the
// behaviour that is specific to a resource.
//
//	Create: system fields ─▶ managed fields ─▶ admission ─▶ names, uid, time ─▶ strategy ─▶ validation ─▶ admission ─▶ put
//	Update: read ─▶ change ─▶ managed fields ─▶ admission ─▶ resourceVersion ─▶ strategy ─▶ validation ─▶ admission ─▶ put
//	Delete: read ─▶ preconditions ─▶ admission ─▶ grace period, finalizers ─▶ put or delete
//	List:   which revision? ─▶ wait for the cache ─▶ view ─▶ selectors, page
//	Watch:  which revision? ─▶ wait for the cache ─▶ state, then events
//
// The order of the steps is that of kube-apiserver, because it decides which of two errors a client sees. Every function runs under
// the Cluster's lock and never blocks. List and Watch may have to wait until a replica's cache is fresh enough. They call back when
// it is, or when 3 s of the Cluster's time have passed.
package registry

import (
	"bytes"
	"strconv"
	"time"

	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/fieldmanager"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/pack"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// Backend is the environment of a registry: the Cluster from the point of view of one replica.
type Backend interface {
	// Store returns the store that all replicas share.
	Store() *mvcc.Store
	// Reachable reports whether this replica can reach the store. While it cannot, only its watch caches serve requests.
	Reachable() bool
	// Committed notifies all listeners of a commit and its author.
	Committed(by resource.Author, e *mvcc.Event)
	// Cache returns this replica's cache of a resource.
	Cache(d *resource.Definition) *watchcache.Cache
	// Unready reports whether the cache of a resource is being filled, and for how long it has been unavailable.
	Unready(d *resource.Definition) (downtime time.Duration, unready bool)
	// Await calls done(true) as soon as the cache has reached the revision, which may be at once. It calls done(false) if that takes
	// longer than FreshnessTimeout.
	Await(c *watchcache.Cache, rev uint64, done func(fresh bool))
	// After calls f under the Cluster's lock when d of the Cluster's time has passed. stop cancels the call.
	After(d time.Duration, f func()) (stop func())
	// Pause waits as long as the store takes between two writes of one request. Other requests may write meanwhile.
	Pause()
	// Grant deletes the object at a key after its time to live, unless it was written again after the revision.
	Grant(ttl time.Duration, key string, rev uint64)
	// Now returns the Cluster's time.
	Now() time.Time
	// Random returns a number in [0, n) from the random stream of a purpose.
	Random(purpose string, n int) int
	// RandomID returns 16 random bytes from the random stream of a purpose.
	RandomID(purpose string) [16]byte
	// Definition returns the hub definition of a storage name, or nil.
	Definition(storage string) *resource.Definition
}

// Authorizer decides what the sender of a request may do in addition to the request itself. objects reads the stored objects.
type Authorizer interface {
	// Escalation rejects a write that would grant more rights than its sender has. For a create, old is nil.
	Escalation(q *Request, obj, old object.Object, objects resource.Reader) *status.Status
	// May returns an error if the sender of a request lacks an additional right.
	May(q *Request, what resource.Access, objects resource.Reader) *status.Status
	// Review fills in the status of a review of a user's rights or token.
	Review(kind string, ctx *resource.Context, obj object.Object) *status.Status
}

// FreshnessTimeout is the time that a read waits for a cache to catch up (blockTimeout of kube-apiserver's watch cache).
const FreshnessTimeout = 3 * time.Second

// Registry serves the objects of one replica.
type Registry struct {
	Backend   Backend
	Config    *config.Cluster
	Admission admission.Chain
	Fields    *fieldmanager.Manager

	// Authorizer, if it is not nil, authorizes additional rights.
	Authorizer Authorizer

	// Tokens signs the tokens of service accounts.
	Tokens *token.Authority

	// Server describes the simulated server (resource.Context).
	Server resource.Server
	// NoPrivileged rejects privileged containers (resource.Context).
	NoPrivileged bool

	scratch []byte // buffer for encoding objects
}

// decode converts the object of a request to the hub version, with the defaults of the request's version.
func decode(d *resource.Definition, obj object.Object) (object.Object, *status.Status) {
	if d.ToHub == nil {
		if d.Hub != d {
			obj["apiVersion"] = d.Hub.GV()
		}
		return obj, nil
	}
	hub, err := d.ToHub(obj)
	switch {
	case err != nil && d.Hub == d:
		return nil, misfit(d, err)
	case err != nil:
		return nil, status.Internal(err)
	}
	return hub, nil
}

// Hold converts an object of a request, in the version of the request, as decoding it into a Go type would: strings in numeric
// fields are parsed. It changes obj. It does nothing if the version is not the hub version.
func Hold(d *resource.Definition, obj object.Object) error {
	if d.ToHub == nil || d.Hub != d {
		return nil
	}
	_, err := d.ToHub(obj)
	return err
}

// Decoded calls Hold for the body of a request, and returns the error of a body that does not fit the Go type. The real server finds
// it before it reads the stored object.
func Decoded(d *resource.Definition, obj object.Object) *status.Status {
	if err := Hold(d, obj); err != nil {
		return misfit(d, err)
	}
	return nil
}

func misfit(d *resource.Definition, err error) *status.Status {
	return status.BadRequest("%s in version %q cannot be handled as a %s: %v", d.Kind, d.Version, d.Kind, err)
}

// Convert converts an object of the hub version to the version of d and sets its defaults. It may change obj.
func Convert(d *resource.Definition, obj object.Object) object.Object { return d.FromStored(obj) }

// encode encodes obj, which is in the hub version, as an item at revision rev. If rev is 0, the item has no resourceVersion.
func (r *Registry) encode(d *resource.Definition, obj object.Object, rev uint64) *resource.Item {
	it, _ := r.encodeForm(d, obj, rev)
	return it
}

// encodeForm is encode, and also returns the form of obj, or nil.
func (r *Registry) encodeForm(d *resource.Definition, obj object.Object, rev uint64) (*resource.Item, resource.Form) {
	text, form := r.print(d, obj, rev, nil)
	return written(d, obj, resource.NewItem(d.Hub, obj, rev, bytes.Clone(text))), form
}

// encodeUnstored encodes an object that is not stored, such as the result of a dry run. It keeps the resourceVersion that was sent.
func (r *Registry) encodeUnstored(d *resource.Definition, obj object.Object) *resource.Item {
	return written(d, obj, resource.NewItem(d.Hub, obj, 0, codec.Append(nil, obj, d.Hub.Layout())))
}

// encodeSent encodes an object that an update removes from the store. The response has its fields as they were sent, not as they
// would have been stored.
func (r *Registry) encodeSent(d *resource.Definition, obj object.Object) *resource.Item {
	it := resource.NewItem(d.Hub, obj, 0, codec.AppendSent(nil, obj, d.Hub.Layout()))
	it.Decorated = false
	return it
}

// written sets it.Stored if the JSON to store differs from the JSON that clients see, for example because raw values keep their
// spaces, and returns it.
func written(d *resource.Definition, obj object.Object, it *resource.Item) *resource.Item {
	if d.Hub.Places() != nil || d.NilBytes(obj) {
		if text := codec.AppendStored(nil, obj, d.Hub.Layout()); !bytes.Equal(text, it.Bytes()) {
			it.SetStored(text)
		}
	}
	return it
}

// print encodes obj into r.scratch, and returns its Form, too (codec.AppendForm). before is the previous parsed state, or nil if it is not
// known.
func (r *Registry) print(d *resource.Definition, obj object.Object, rev uint64, before *resource.Parsed) ([]byte, resource.Form) {
	if rev == 0 {
		obj.Remove("metadata", "resourceVersion")
	} else {
		obj.Set(FormatRev(rev), "metadata", "resourceVersion")
	}
	var form resource.Form
	r.scratch, form = codec.AppendForm(r.scratch[:0], obj, d.Hub.Layout(), before)
	return r.scratch, form
}

// put stores obj and returns its item. If obj is too large for the store, put tries again without managedFields, like the real
// server.
func (r *Registry) put(q *Request, obj object.Object) (*resource.Item, *status.Status) {
	return r.putAt(q, obj, q.Definition.Key(obj.Namespace(), obj.Name()))
}

// putAt is put with an explicit key. An apply keeps its managedFields: it fails if the object is too large with them.
func (r *Registry) putAt(q *Request, obj object.Object, key string) (*resource.Item, *status.Status) {
	d := q.Definition
	if d.StorageCodec != nil {
		return r.putCustom(q, obj, key)
	}
	rev := r.Backend.Store().Rev() + 1
	it, form := r.encodeForm(d, obj, rev)
	if s := r.tooLargeAt(q, it, obj, key); s != nil {
		if q.applies {
			return nil, s
		}
		obj.Remove("metadata", "managedFields")
		it, form = r.encodeForm(d, obj, rev)
		if s = r.tooLargeAt(q, it, obj, key); s != nil {
			return nil, s
		}
	}
	it.SetForm(form)
	r.store(q, it, key)
	return it, nil
}

// store writes an item at its revision, which must be the store's next one.
func (r *Registry) store(q *Request, it *resource.Item, key string) {
	d := q.Definition
	it.StoredAt(key)
	text := it.Text()
	if value := d.Value(it); !bytes.Equal(value, it.Bytes()) {
		it.SetStored(value)
		text = pack.New(value)
	}
	r.Backend.Committed(q.By, r.Backend.Store().Put(key, text, it))
	it.SetForm(nil)
	if ttl := d.Hub.Strategy.TTL; ttl > 0 {
		r.Backend.Grant(ttl, key, it.Rev)
	}
}

// remove deletes the object from the store and returns its last state with the revision of the deletion.
func (r *Registry) remove(by resource.Author, d *resource.Definition, it *resource.Item) *resource.Item {
	event, ok := r.Backend.Store().Delete(d.KeyOf(it))
	if !ok {
		return it
	}
	r.Backend.Committed(by, event)
	if with := r.Backend.Definition(d.Hub.Strategy.DeletesWith); with != nil {
		if other := r.stored(nil, with, it.Namespace, it.Name); other != nil {
			r.remove(by, with, other)
		}
	}
	if released := d.Hub.Strategy.AfterDelete; released != nil {
		r.release(by, released(r.Reader(), it.Object()))
	}
	return it.At(event.Rev)
}

// stored returns the item that is currently in the store, or nil. If the replica cannot reach the store, stored returns the item in
// its cache.
func (r *Registry) stored(by resource.Asker, d *resource.Definition, namespace, name string) *resource.Item {
	if !r.Backend.Reachable() {
		if kv := r.Backend.Cache(d.Hub).View().Get(d.Key(namespace, name)); kv != nil {
			return resource.ItemFor(by, d.Hub, kv)
		}
		return nil
	}
	kv, err := r.Backend.Store().Get(d.Key(namespace, name), 0)
	if err != nil || kv == nil {
		return nil
	}
	return r.decrypted(d, kv, resource.ItemFor(by, d.Hub, kv))
}

// storedForGet is like stored, but if a webhook converts the object, it always calls the webhook, as a get does.
func (r *Registry) storedForGet(by resource.Asker, d *resource.Definition, namespace, name string) *resource.Item {
	if d.StorageCodec == nil || d.StorageCodec.Ask == nil || !r.Backend.Reachable() {
		return r.stored(by, d, namespace, name)
	}
	kv, err := r.Backend.Store().Get(d.Key(namespace, name), 0)
	if err != nil || kv == nil {
		return nil
	}
	return r.decrypted(d, kv, resource.AskedItem(by, d, kv))
}

// WithoutAdmission returns a registry that stores objects without admission.
func (r *Registry) WithoutAdmission() *Registry {
	made := *r
	made.Admission = nil
	return &made
}

// FormatRev formats a revision as a resourceVersion.
func FormatRev(rev uint64) string { return strconv.FormatUint(rev, 10) }

// ParseRev parses a resourceVersion and reports whether it is valid. It returns revision 0 and true for "".
func ParseRev(rv string) (uint64, bool) {
	if rv == "" {
		return 0, true
	}
	rev, err := strconv.ParseUint(rv, 10, 64)
	return rev, err == nil
}

// Reader returns a reader of the currently stored objects.
func (r *Registry) Reader() Reader { return Reader{registry: r} }

// NewAuditID returns an audit ID for a request that specifies none.
func (r *Registry) NewAuditID() string { return r.newID("audit ids") }

// Reader reads stored objects for strategies and admission plugins.
type Reader struct {
	registry *Registry
	asker    resource.Asker // the request that it reads for, or nil
}

// Get returns a copy of the object, or nil if it does not exist.
func (r Reader) Get(storage, namespace, name string) object.Object {
	if it := r.Item(storage, namespace, name); it != nil {
		return it.Object()
	}
	return nil
}

// Field returns the value of the object's field label, and whether the object exists.
func (r Reader) Field(storage, namespace, name, label string) (value string, exists bool) {
	if it := r.Item(storage, namespace, name); it != nil {
		return it.Field(label), true
	}
	return "", false
}

// Item returns the stored item, or nil if the object does not exist.
func (r Reader) Item(storage, namespace, name string) *resource.Item {
	backend := r.registry.Backend
	d := backend.Definition(storage)
	if d == nil {
		return nil
	}
	kv, err := backend.Store().Get(d.Key(namespace, name), 0)
	if err != nil || kv == nil {
		return nil
	}
	return resource.ItemFor(r.asker, d, kv)
}

// All returns copies of the objects, sorted by key.
func (r Reader) All(storage, namespace string) []object.Object {
	d, kvs := r.list(storage, namespace)
	if len(kvs) == 0 {
		return nil
	}
	objects := make([]object.Object, len(kvs))
	for i, kv := range kvs {
		objects[i] = resource.ItemFor(r.asker, d, kv).Object()
	}
	return objects
}

// Items calls yield with each stored item, sorted by key, until it returns false.
func (r Reader) Items(storage, namespace string, yield func(*resource.Item) bool) {
	d, kvs := r.list(storage, namespace)
	for _, kv := range kvs {
		if !yield(resource.ItemFor(r.asker, d, kv)) {
			return
		}
	}
}

func (r Reader) list(storage, namespace string) (*resource.Definition, []*mvcc.KV) {
	backend := r.registry.Backend
	d := backend.Definition(storage)
	if d == nil {
		return nil, nil
	}
	var room [128]byte
	return d, backend.Store().List(d.AppendKey(room[:0], namespace, ""))
}
