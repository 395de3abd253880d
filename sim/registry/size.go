package registry

import (
	"math/bits"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// The real server writes an object as an etcd transaction. Two limits apply to the size of the transaction, not of the object:
//
//	compare  the key has the revision
//	success  put key, value            1.5 MiB as etcd replicates it (--max-request-bytes)
//	failure  get key, but for a POST   2 MiB as a message to etcd (the client's own limit), checked first
const (
	requestMax = 1536 << 10
	messageMax = 2 << 20

	// replicated is the size that etcd adds to a transaction before it replicates it: a header with an ID.
	replicated = 14
	// small is the size of an encoded object below which neither limit can be reached.
	small = requestMax - 8<<10
)

// tooLarge returns the error of etcd or its client if an object is too large, and nil otherwise. stored is the object in its
// storage version. rev is the revision that it replaces, or 0 for a new object. get reports whether the transaction reads the
// object if it has changed.
func tooLarge(d *resource.Definition, it *resource.Item, stored object.Object, rev uint64, get bool) *status.Status {
	if len(it.Bytes()) <= small {
		return nil
	}
	size := transactionSize(d.ServerKey(it.Namespace, it.Name, false), valueSize(d, stored), rev, get)
	if size > messageMax {
		return status.Plain("rpc error: code = ResourceExhausted desc = trying to send message larger than max (%d vs. %d)", size, messageMax)
	}
	if fieldSize(size)+replicated > requestMax {
		return status.Plain("etcdserver: request is too large")
	}
	return nil
}

// tooLargeAt is tooLarge for an object that a request writes at a key. It looks up the key for large objects only.
func (r *Registry) tooLargeAt(q *Request, it *resource.Item, obj object.Object, key string) *status.Status {
	if len(it.Bytes()) <= small {
		return nil
	}
	before := modRevisionOf(r.Backend.Store(), key)
	return tooLarge(q.Definition, it, obj, before, q.applies || before != 0)
}

// valueSize returns the size of the value that the real server stores for an object, without resourceVersion: protobuf in an
// envelope (runtime.Unknown), or JSON with a newline.
func valueSize(d *resource.Definition, obj object.Object) int {
	obj = obj.Copy()
	obj.Remove("metadata", "resourceVersion")
	if t := d.Hub.Layout(); t != nil && !d.Hub.Custom && !codec.StoredAsJSON(t) {
		kind := fieldSize(fieldSize(len(d.Hub.GV())) + fieldSize(len(d.Hub.Kind)))
		return len("k8s\x00") + kind + fieldSize(len(codec.AppendProto(nil, obj, t))) + 2*fieldSize(0)
	}
	return len(codec.Append(nil, obj, d.Hub.Layout())) + 1
}

// transactionSize returns the size of the transaction that writes a value, encoded in protobuf.
func transactionSize(key string, value int, rev uint64, get bool) int {
	compare := 2 + fieldSize(len(key)) + 1 + varintSize(rev)
	size := fieldSize(compare) + fieldSize(fieldSize(fieldSize(len(key))+fieldSize(value)))
	if get {
		size += fieldSize(fieldSize(fieldSize(len(key))))
	}
	return size
}

// fieldSize returns the size of a protobuf field of n bytes whose number is at most 15.
func fieldSize(n int) int { return 1 + varintSize(uint64(n)) + n }

func varintSize(n uint64) int { return max(1, (bits.Len64(n)+6)/7) }
