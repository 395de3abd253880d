package etcd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kubesim/kubesim/fake/grpc"
	"github.com/kubesim/kubesim/fake/stored"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// DefaultPrefix is the default of kube-apiserver's --etcd-prefix.
const DefaultPrefix = "/registry"

// Objects is the Store of a simulated cluster:
//
//	key in kubesim's store                 key in etcd
//	/registry/deployments.apps/shop/web    PREFIX/deployments/shop/web
//	/registry/services/shop/web            PREFIX/services/specs/shop/web
//	/registry/roses.flowers.io/shop/red    PREFIX/flowers.io/roses/shop/red
type Objects struct {
	storage sim.Storage
	prefix  string
	cbor    codec.CBORCodec
	values  Values // nil if values are not encrypted

	mu      sync.Mutex
	changed chan struct{}
}

// Values encrypts and decrypts the values of keys. resource is a storage name such as deployments.apps.
type Values interface {
	// Encrypt returns the value of a key at a revision. value is the encoded object.
	Encrypt(resource, key string, rev uint64, value []byte) ([]byte, error)
	// Decrypt returns the encoded object in a value that a client writes. stale reports whether Encrypt would use another key.
	Decrypt(resource, key string, value []byte) (plain []byte, stale bool, err error)
	// Stored is called before such a value is stored at a revision. err is the error of Decrypt, or that of decoding the object.
	Stored(rev uint64, value []byte, stale bool, err error)
	// Corrupt returns the error of requests that read a value which Decrypt or the decoder cannot read.
	Corrupt(decrypted bool, err error) error
}

// NewObjects returns the Store of a cluster with a prefix like that of --etcd-prefix. If the cluster stores custom resources as CBOR,
// cbor encodes them. It may be nil.
func NewObjects(s sim.Storage, prefix string, cbor codec.CBORCodec) *Objects {
	o := &Objects{storage: s, prefix: "/" + strings.Trim(prefix, "/"), cbor: cbor, changed: make(chan struct{})}
	s.OnCommit(func(sim.Commit) {
		o.mu.Lock()
		defer o.mu.Unlock()
		close(o.changed)
		o.changed = make(chan struct{})
	})
	return o
}

// Encrypted makes o encrypt and decrypt values.
func (o *Objects) Encrypted(values Values) { o.values = values }

// Do implements Store.
func (o *Objects) Do(f func(Tx) error) (err error) {
	o.storage.Do(func(s sim.StorageLocked) { err = f(&objectsTx{StorageLocked: s, Objects: o}) })
	return err
}

// Changed implements Store.
func (o *Objects) Changed() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.changed
}

// Replay repeats writes of another Store below the prefix. It returns the keys that it cannot store, each with its reason.
func (o *Objects) Replay(writes []Write) (refused []error) {
	for _, w := range writes {
		err := o.Do(func(tx Tx) error {
			if w.Compacted {
				if err := tx.Compact(tx.Rev()); err != nil {
					return err
				}
			}
			if w.Deleted {
				return tx.Delete(w.Key)
			}
			return tx.Put(w.Key, w.Value)
		})
		if err != nil {
			refused = append(refused, fmt.Errorf("%s: %w", w.Key, err))
		}
	}
	return refused
}

// objectsTx implements Tx.
type objectsTx struct {
	sim.StorageLocked
	*Objects
}

func (tx *objectsTx) Rev() uint64       { return tx.Store().Rev() }
func (tx *objectsTx) Compacted() uint64 { return tx.Store().Compacted() }

// inner returns the resource and the key in kubesim's store of a key in etcd. It returns an error if no resource is stored there.
func (tx *objectsTx) inner(key string) (*resource.Definition, string, error) {
	rest, ok := strings.CutPrefix(key, tx.prefix+"/")
	if !ok {
		return nil, "", grpc.NewError(invalidArgument, fmt.Sprintf("kubesim's etcd cannot store %s: it is not below the prefix %s", key, tx.prefix))
	}
	for _, d := range tx.BuiltIn() {
		if path, ok := strings.CutPrefix("/registry/"+rest, d.ServerKey("", "", false)); ok && !d.Strategy.Virtual {
			return d, d.Key("", "") + path, nil
		}
	}
	if parts := strings.SplitN(rest, "/", 3); len(parts) == 3 {
		if d := tx.Definition(parts[1] + "." + parts[0]); d != nil {
			return d, d.Key("", "") + parts[2], nil
		}
	}
	return nil, "", grpc.NewError(invalidArgument, fmt.Sprintf("kubesim's etcd cannot store %s: no resource of its API server has such keys", key))
}

// outer returns the key in etcd of a key in kubesim's store, and the definition of its resource, which is nil if its
// CustomResourceDefinition was deleted.
func (tx *objectsTx) outer(key string) (string, *resource.Definition) {
	storage, path, _ := strings.Cut(strings.TrimPrefix(key, "/registry/"), "/")
	if d := tx.Definition(storage); d != nil {
		return tx.prefix + strings.TrimPrefix(d.ServerKey("", path, false), "/registry"), d
	}
	name, group, _ := strings.Cut(storage, ".")
	return tx.prefix + "/" + group + "/" + name + "/" + path, nil
}

// kv returns the KV in etcd of one in kubesim's store.
func (tx *objectsTx) kv(kv *mvcc.KV) *KV {
	if kv == nil {
		return nil
	}
	key, d := tx.outer(kv.Key)
	return newKV(key, kv, objectValue{kv, tx, d, key})
}

// objectValue implements value.
type objectValue struct {
	*mvcc.KV
	tx         *objectsTx
	definition *resource.Definition // nil if the CustomResourceDefinition was deleted
	key        string               // in etcd
}

func (v objectValue) bytes() ([]byte, error) {
	d := v.definition
	if d == nil {
		d = &resource.Definition{Custom: true}
		d.Hub = d
	}
	var binary codec.CBORCodec
	if v.tx.Gate(config.GateCBOR) {
		binary = v.tx.cbor
	}
	value, err := stored.Encode(v.Value(), d, v.tx.Minor(), binary)
	if err != nil || v.tx.values == nil {
		return value, err
	}
	storage, _, _ := strings.Cut(strings.TrimPrefix(v.KV.Key, "/registry/"), "/")
	return v.tx.values.Encrypt(storage, v.key, v.ModRev, value)
}

// Range implements Tx.
func (tx *objectsTx) Range(r Range, rev uint64) ([]KV, error) {
	view, err := tx.Store().At(rev)
	if err != nil {
		return nil, err
	}
	if r.End == "" {
		_, key, err := tx.inner(r.Key)
		if err != nil {
			return nil, nil //nolint:nilerr // there is no such key
		}
		if kv := view.Get(key); kv != nil {
			return []KV{*tx.kv(kv)}, nil
		}
		return nil, nil
	}
	var all []KV
	view.Range("", "", func(kv *mvcc.KV) bool {
		if key, _ := tx.outer(kv.Key); r.contains(key) {
			all = append(all, *tx.kv(kv))
		}
		return true
	})
	slices.SortFunc(all, func(a, b KV) int { return cmp.Compare(a.Key, b.Key) })
	return all, nil
}

// Events implements Tx.
func (tx *objectsTx) Events(r Range, from uint64, yield func(Event) bool) error {
	return eventsFrom(tx.Store(), from, func(e *mvcc.Event) bool {
		if key, _ := tx.outer(e.Key); !r.contains(key) {
			return true
		}
		return yield(Event{e.Rev, tx.kv(e.KV), tx.kv(e.Prev)})
	})
}

// Put implements Tx.
func (tx *objectsTx) Put(key string, value []byte) error {
	d, inner, err := tx.inner(key)
	if err != nil {
		return err
	}
	if tx.values != nil {
		tx.putEncrypted(d, key, inner, value)
		return nil
	}
	obj, err := stored.Decode(value)
	if err == nil {
		err = tx.StorageLocked.Put(d, inner, obj)
	}
	if err != nil {
		return grpc.NewError(invalidArgument, fmt.Sprintf("kubesim's etcd cannot store %s: %v", key, err))
	}
	return nil
}

// putEncrypted stores a value that a client has encrypted, or that is plain. A value that cannot be read becomes a corrupt object.
func (tx *objectsTx) putEncrypted(d *resource.Definition, key, inner string, value []byte) {
	rev := tx.Rev() + 1
	plain, stale, err := tx.values.Decrypt(d.Storage, key, value)
	decrypted := err == nil
	if err == nil {
		var obj object.Object
		if obj, err = stored.Decode(plain); err == nil {
			tx.values.Stored(rev, value, stale, nil)
			err = tx.StorageLocked.Put(d, inner, obj)
		}
	}
	if err != nil {
		err = tx.values.Corrupt(decrypted, err)
		tx.values.Stored(rev, value, stale, err)
		tx.PutCorrupt(d, inner, err)
	}
}

// Delete implements Tx.
func (tx *objectsTx) Delete(key string) error {
	_, inner, err := tx.inner(key)
	if err != nil {
		return err
	}
	tx.StorageLocked.Delete(inner)
	return nil
}
