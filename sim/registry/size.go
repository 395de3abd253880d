package registry

import (
	"maps"
	"math/bits"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// A write is one transaction of etcd. Two limits apply to it, in bytes:
//
//	API server ─▶ etcd's client: a message of at most sendMax ─▶ etcd: a request of at most requestMax, with a header
const (
	sendMax    = 2 << 20
	requestMax = 1536 << 10
	headerSize = 18 // the request's ID, and the transaction's tag and length
)

// oversize returns what the real server answers when an item of a built-in kind does not fit into a request, nil if it does. The
// real server stores it as protobuf, which takes less room than JSON.
func (r *Registry) oversize(d *resource.Definition, it *resource.Item, obj object.Object) *status.Status {
	const small = 1024 // more than what is around a value
	if len(it.Bytes) <= requestMax-small {
		return nil
	}
	key := d.Hub.ServerKey(it.Namespace, it.Name, false)
	before := modified(r.Backend.Store(), d.Key(it.Namespace, it.Name))
	if d.Hub.Custom {
		return oversizeCustom(key, it.Bytes, before)
	}
	obj = maps.Clone(obj)
	meta := maps.Clone(obj.Map("metadata"))
	delete(meta, "resourceVersion") // etcd knows it
	obj["metadata"] = meta
	raw := codec.AppendProto(nil, obj, d.Hub.Type())
	return oversized(key, len(codec.AppendEnvelope(nil, d.Hub.GVK, raw)), before)
}

// oversizeCustom is oversize for what would be stored of a custom resource: JSON, with a newline and without the
// resourceVersion.
func oversizeCustom(key string, value []byte, before uint64) *status.Status {
	if len(value) <= requestMax-2048 {
		return nil
	}
	stored, err := object.Parse(value)
	if err != nil {
		return status.Plain("%s", err.Error())
	}
	stored.Remove("metadata", "resourceVersion")
	return oversized(key, len(codec.Append(nil, stored, nil))+len("\n"), before)
}

// oversized returns the error for a transaction that stores a value of n bytes, nil if it fits. before is the revision of the
// key's last write, 0 if it is new.
func oversized(key string, n int, before uint64) *status.Status {
	size := transactionSize(key, n, before)
	switch {
	case size > sendMax:
		return status.Plain("rpc error: code = ResourceExhausted desc = trying to send message larger than max (%d vs. %d)", size, sendMax)
	case size+headerSize > requestMax:
		return status.Plain("etcdserver: request is too large")
	}
	return nil
}

// transactionSize returns the size of the message by which the real server stores a value of n bytes:
//
//	TxnRequest { compare = 1 { target = 2: MOD, key = 3, mod_revision = 6 }
//	             success = 2 { request_put = 2 { key = 1, value = 2 } }
//	             failure = 3 { request_range = 1 { key = 1 } } }        only when the object is there
func transactionSize(key string, n int, before uint64) int {
	varint := func(n uint64) int { return (bits.Len64(n|1) + 6) / 7 }
	field := func(n int) int { return 1 + varint(uint64(n)) + n } // with its tag
	name := field(len(key))
	size := field(2+name+1+varint(before)) + field(field(name+field(n)))
	if before != 0 {
		size += field(field(name))
	}
	return size
}
