// Package boot creates the objects that a kube-apiserver creates when it starts with an empty store: namespaces, RBAC roles and
// bindings, priority classes, flow schemas and priority levels, APIServices, the Service kubernetes with its endpoints and its
// address, the ServiceCIDR, the server's identity lease, and ConfigMaps.
//
//	data/1.36.jsonl      objects of a real server, recorded by make boot-data. The text is not compressed: an engine of the page
//	      │              is, and then the second minor version takes almost no space
//	      │ Servers, Authentication                once per process and Options
//	      ▼
//	template             JSON of the objects, with uids and revisions, and the positions of timestamps in it
//	      │ At                                     once per second at which a Cluster starts
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
	"github.com/kubesim/kubesim/sim/schema"
)

// Options describe the servers that start.
type Options struct {
	// Minor is the Kubernetes minor version of the server that starts first, such as "1.36". It is one of schema.Known.
	Minor string
	// At is the start time. Timestamps in objects have a precision of seconds.
	At time.Time
	// Servers are the API servers that start together.
	Servers []Server
	// Port is the port on which the servers listen.
	Port int
	// Aggregate sets the rules of aggregated ClusterRoles, as a controller does shortly after the start of a real cluster.
	Aggregate bool
	// ServiceCIDRs are the ranges of Service addresses: one, or one of each IP family. The Service kubernetes has the first address
	// of the first one. If empty, the range is that in the data, 10.0.0.0/24.
	ServiceCIDRs []netip.Prefix
	// Authentication is the data of the ConfigMap extension-apiserver-authentication (auth.Signers.Publish). If it is empty, the
	// ConfigMap is not created.
	Authentication map[string]string
	// Served lists the group versions that the servers serve, if these are not those of a default server. Each has an APIService.
	Served []schema.GVK
	// Gates are the enabled feature gates that add rules to the default roles (ChangesRoles).
	Gates []string
	// Last is the revision of the last object. The other objects have the revisions before it.
	Last uint64
}

// Server is the published location of an API server.
type Server struct {
	Host    string // name of the machine
	Address string // IP address
}

// The defaults of Server and of Options.Port: an address for documentation (RFC 5737, RFC 3849), and kube-apiserver's --secure-port.
const (
	Host         = "kubesim"
	AddressBase  = "192.0.2."
	AddressBase6 = "2001:db8::"
	Port         = 6443
)

// HostName returns the name of the machine of server n, counted from 1.
func HostName(n int) string {
	if n == 1 {
		return Host
	}
	return fmt.Sprint(Host, "-", n)
}

// Address returns the default address of server i, in the family of the first of the ServiceCIDRs.
func Address(cidrs []netip.Prefix, i int) string {
	base := AddressBase
	if len(cidrs) > 0 && cidrs[0].Addr().Is6() {
		base = AddressBase6
	}
	return fmt.Sprint(base, i+1)
}

// made caches the most recent results, newest first, because tests often create many Clusters with the same Options.
var made struct {
	sync.Mutex
	templates memo[*template]
	stores    memo[*mvcc.Store]
	policies  memo[[]Policy]
}

// madeMax is the maximum number of cached results of each kind.
const madeMax = 4

// Store returns a new store in which the servers have just started. Later writes to it do not affect other stores.
func Store(o Options) (*mvcc.Store, error) {
	made.Lock()
	defer made.Unlock()
	key := fmt.Sprintf("%s %v %d %q %v %q %v %q %d", o.Minor, o.Aggregate, o.Port, o.Servers, o.ServiceCIDRs, o.Authentication, o.Served, o.Gates, o.Last)
	store := made.stores.get(fmt.Sprint(o.At.Unix(), " ", key), func() *mvcc.Store {
		return made.templates.get(key, func() *template { return newTemplate(o) }).store(o.At)
	})
	return store.Fork(0)
}

// memo is a small cache, most recently used entry first.
type memo[V any] []memoEntry[V]

type memoEntry[V any] struct {
	key   string
	value V
}

// get returns the cached value of a key. If there is none, it calls create and caches the result.
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
