// Package etcd serves the gRPC API of etcd v3 over the store of a simulated cluster, for etcdctl and for programs that read
// the bytes of an API server.
//
//	etcdctl ─ HTTP/2, gRPC ─▶ Service ─┬─ kv.go, txn.go    Range, Put, DeleteRange, Txn, Compact ─┐
//	                                   ├─ watch.go         Watch                                  ├─▶ Store ─┬─ Objects  a sim.Storage: one store, one history
//	                                   ├─ lease.go         leases, which delete keys              │          └─ Memory   keys of other clients
//	                                   └─ cluster.go       members, status                        ┘
//
// Objects has no copy of the data: a value is encoded when it is read, and decoded when it is written (package stored).
package etcd

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake/grpc"
)

// Version is the version of etcd whose API the Service has.
const Version = "3.6.8"

// Service implements http.Handler for the requests of etcd clients. The server must support HTTP/2, without TLS too.
type Service struct {
	store  Store
	clock  clock.Clock
	leases leases

	mu sync.Mutex // serializes writes and the leases of keys
}

// New returns a Service over a store. Leases expire on the clock.
func New(s Store, c clock.Clock) *Service {
	return &Service{store: s, clock: c, leases: leases{byID: map[int64]*lease{}, byKey: map[string]int64{}}}
}

// IsGRPC reports whether a request is one of gRPC. Browsers cannot send such a request: they do not use HTTP/2 without TLS.
func IsGRPC(r *http.Request) bool {
	return r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc")
}

// unary are the methods with one request and one response. Watch and LeaseKeepAlive are streams.
var unary = map[string]func(*Service, message) (*builder, error){
	"/etcdserverpb.KV/Range":              (*Service).serveRange,
	"/etcdserverpb.KV/Put":                (*Service).servePut,
	"/etcdserverpb.KV/DeleteRange":        (*Service).serveDelete,
	"/etcdserverpb.KV/Txn":                (*Service).serveTxn,
	"/etcdserverpb.KV/Compact":            (*Service).serveCompact,
	"/etcdserverpb.Lease/LeaseGrant":      (*Service).grant,
	"/etcdserverpb.Lease/LeaseRevoke":     (*Service).revoke,
	"/etcdserverpb.Lease/LeaseTimeToLive": (*Service).timeToLive,
	"/etcdserverpb.Lease/LeaseLeases":     (*Service).listLeases,
	"/etcdserverpb.Cluster/MemberList":    (*Service).memberList,
	"/etcdserverpb.Maintenance/Status":    (*Service).status,
	"/etcdserverpb.Maintenance/Alarm":     (*Service).alarm,
}

// ServeHTTP implements http.Handler.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !IsGRPC(r) {
		http.Error(w, "this is the API of etcd v3, for clients of gRPC over HTTP/2", http.StatusNotImplemented)
		return
	}
	c := grpc.NewCall(w, r)
	c.End(s.serve(r.Context(), c, r.URL.Path))
}

func (s *Service) serve(ctx context.Context, c *grpc.Call, path string) error {
	switch path {
	case "/etcdserverpb.Watch/Watch":
		return s.watch(ctx, c)
	case "/etcdserverpb.Lease/LeaseKeepAlive":
		return s.keepAlive(c)
	}
	method := unary[path]
	if method == nil {
		return grpc.NewError(unimplemented, "kubesim's etcd does not implement "+path)
	}
	request, err := requestOf(c)
	if err != nil {
		return err
	}
	answer, err := method(s, request)
	if err != nil {
		return err
	}
	return c.Send(answer.Bytes)
}

// KeysOf returns the first range of keys that a call concerns, given its first message. The range is empty if the call concerns no keys.
func KeysOf(path string, first []byte) (Range, error) {
	m, err := grpc.Parse(first)
	if err != nil {
		return Range{}, err
	}
	switch service, method := splitPath(path); {
	case service == "Watch":
		if m, err = m.Inner(1); err != nil {
			return Range{}, err
		}
	case service != "KV" || method == "Compact":
		return Range{}, nil
	case method == "Txn":
		return keysOfTxn(m)
	case method == "Put":
		return Range{Key: m.Text(1)}, nil
	}
	return Range{cmp.Or(m.Text(1), "\x00"), m.Text(2)}, nil
}

// keysOfTxn returns the first key of the comparisons and operations of a transaction, to which all its keys must belong.
func keysOfTxn(m message) (Range, error) {
	if compare, err := m.Inner(1); err != nil || compare.Text(3) != "" {
		return Range{Key: compare.Text(3)}, err
	}
	for _, branch := range []fieldNumber{2, 3} {
		op, err := m.Inner(branch)
		if err != nil {
			return Range{}, err
		}
		for kind := range fieldNumber(3) {
			if q, err := op.Inner(1 + kind); err != nil || q.Text(1) != "" {
				return Range{Key: q.Text(1)}, err
			}
		}
	}
	return Range{}, nil
}

// splitPath returns the service and the method of a path such as /etcdserverpb.KV/Range.
func splitPath(path string) (service, method string) {
	service, method, _ = strings.Cut(strings.TrimPrefix(path, "/etcdserverpb."), "/")
	return service, method
}
