// Package boot creates the objects that a kube-apiserver creates when it starts with an empty store: namespaces, RBAC's roles and
// bindings, priority classes, flow schemas and priority levels, APIServices, the Service kubernetes with its endpoints and its
// address, the ServiceCIDR, the lease of its identity, and ConfigMaps.
//
//	data/1.36.jsonl.gz   as a real server has them, recorded by make boot-data
//	      │ Servers, Authentication                once per process and Options
//	      ▼
//	template             printed objects with uids and revisions; it is known where times stand in them
//	      │ At                                     once per second that a Cluster begins at
//	      ▼
//	mvcc.Store           a commit per object; every Cluster gets a fork, which shares its memory
//
// The uids are the same in every simulation, whatever its seed.
package boot

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/kubesim/kubesim/sim/mvcc"
)

// Options describe the servers that start.
type Options struct {
	// Minor is the Kubernetes minor of the server that starts first, one of schema.Known: "1.36".
	Minor string
	// At is the time of the start. Objects show seconds of it.
	At time.Time
	// Servers are the API servers that start together.
	Servers []Server
	// Port is where they listen, on their addresses.
	Port int
	// Aggregate fills ClusterRoles that aggregate others, which in a real cluster a controller does soon.
	Aggregate bool
	// ServiceCIDR is the range of addresses of services, of which the Service kubernetes has the first. The zero value is
	// that of the data, 10.0.0.0/24.
	ServiceCIDR netip.Prefix
	// Authentication is the data of the ConfigMap extension-apiserver-authentication (auth.Signers.Publish). If it is empty, there
	// is no such ConfigMap.
	Authentication map[string]string
	// Last is the revision of the last object; the first has one that is so much lower.
	Last uint64
}

// Server is one API server as others find it.
type Server struct {
	Host    string // name of its machine
	Address string // IP address
}

// Defaults of a Server and of Options.Port: an address for documentation (RFC 5737) and kube-apiserver's --secure-port.
const (
	Host        = "kubesim"
	AddressBase = "192.0.2."
	Port        = 6443
)

// made caches the last results, newest first. Tests make one Cluster after the other with the same Options.
var made struct {
	sync.Mutex
	templates memo[*template]
	stores    memo[*mvcc.Store]
}

// madeMax is the largest number of cached results of each kind.
const madeMax = 4

// Store returns a store of its own in which the servers have just started.
func Store(o Options) (*mvcc.Store, error) {
	made.Lock()
	defer made.Unlock()
	key := fmt.Sprintf("%s %v %d %q %v %q %d", o.Minor, o.Aggregate, o.Port, o.Servers, o.ServiceCIDR, o.Authentication, o.Last)
	store := made.stores.get(fmt.Sprint(o.At.Unix(), " ", key), func() *mvcc.Store {
		return made.templates.get(key, func() *template { return newTemplate(o) }).store(o.At)
	})
	return store.Fork(0)
}

// memo is a few values by their keys.
type memo[V any] []memoEntry[V]

type memoEntry[V any] struct {
	key   string
	value V
}

// get returns the value of a key, which create makes if it is not there.
func (m *memo[V]) get(key string, create func() V) V {
	var e memoEntry[V]
	if i := slices.IndexFunc(*m, func(e memoEntry[V]) bool { return e.key == key }); i >= 0 {
		e = (*m)[i]
		*m = slices.Delete(*m, i, i+1)
	} else {
		e = memoEntry[V]{key, create()}
	}
	*m = slices.Insert((*m)[:min(len(*m), madeMax-1)], 0, e)
	return e.value
}
