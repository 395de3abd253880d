package sim_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/boot"
)

// link implements sim.Shared for Clusters of one goroutine, each of which may always write.
type link struct {
	all     *[]*link
	pending []sim.Change
}

func (l *link) Acquire() []sim.Change {
	changes := l.pending
	l.pending = nil
	return changes
}

func (l *link) Publish(c sim.Change) {
	for _, other := range *l.all {
		if other != l {
			other.pending = append(other.pending, c)
		}
	}
}

// pairOf returns two Clusters that share a store, and their clock.
func pairOf(t *testing.T) (a, b *sim.Cluster, now *clock.Manual) {
	t.Helper()
	now = clock.NewManual(clock.Epoch())
	a, err := sim.New(sim.Options{Clock: now, Number: 1})
	if err != nil {
		t.Fatal(err)
	}
	var links []*link
	links = append(links, &link{all: &links}, &link{all: &links})
	if err := a.Share(links[0], a.Revision()); err != nil {
		t.Fatal(err)
	}
	s := a.State()
	since := s.History.Store.Rev()
	b, err = sim.Resume(s, sim.Options{Clock: now, Number: 2, Peers: []sim.Peer{{Number: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Share(links[1], since); err != nil {
		t.Fatal(err)
	}
	if err := a.SetPeers([]sim.Peer{{Number: 2}}); err != nil {
		t.Fatal(err)
	}
	return a, b, now
}

const events = "/api/v1/namespaces/default/events"

// TestShare checks that two Clusters have the same revisions, that each applies the writes of the other before its own, and that leases
// and compactions are shared.
func TestShare(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	a, b, now := pairOf(t)
	since := a.Revision()
	is.Equal(since, b.Revision())
	_, there := b.TimeOf(since)
	is.True(there)
	ask(a, "POST", configMaps, `{"metadata":{"name":"a"}}`)
	ask(a, "POST", configMaps, `{"metadata":{"name":"b"}}`)
	waiting := ask(b, "DELETE", configMaps, "") // after both creates
	is.True(!strings.Contains(waiting, `"status":"Failure"`))
	is.True(!strings.Contains(ask(a, "GET", configMaps, ""), `"name":"a"`))
	is.Equal(a.Revision(), b.Revision())

	ask(b, "POST", events, `{"metadata":{"name":"e"},"involvedObject":{"namespace":"default"}}`)
	is.True(strings.Contains(ask(a, "GET", events+"/e", ""), `"name":"e"`))
	b.Close() // its timers have stopped
	now.Advance(2 * time.Hour)
	is.True(strings.Contains(ask(a, "GET", events+"/e", ""), "NotFound"))
	a.Compact()
	b.Revision() // it applies the compaction
	_, there = b.TimeOf(since)
	is.True(!there)
}

const configMaps = "/api/v1/namespaces/default/configmaps"

// TestSharedStoreIsNotReplaced checks that operations that replace a store are errors while another process has it.
func TestSharedStoreIsNotReplaced(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	a, _, _ := pairOf(t)
	is.Equal(a.Reset().Error(), "kubesim: reset: the store cannot be replaced while other API servers share it")
	is.Equal(a.Restore(a.Revision()-1).Error(), "restore: the store cannot be replaced while other API servers share it")
	is.Equal(a.LoadState(a.State()).Error(), "load state: the store cannot be replaced while other API servers share it")
	_, err := a.Import(nil, time.Time{})
	is.Equal(err.Error(), "kubesim: import: the store cannot be replaced while other API servers share it")
	is.NoErr(a.SetPeers(nil))
	is.NoErr(a.Reset())
}

// addresses returns the addresses in the Endpoints and in the EndpointSlice of the Service kubernetes.
func addresses(t *testing.T, c *sim.Cluster) string {
	t.Helper()
	var e struct {
		Subsets []struct{ Addresses []struct{ IP string } }
	}
	var s struct {
		Endpoints []struct{ Addresses []string }
	}
	for path, into := range map[string]any{"/api/v1/namespaces/default/endpoints/kubernetes": &e, // order does not matter
		"/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes": &s} {
		if err := json.Unmarshal([]byte(ask(c, "GET", path, "")), into); err != nil {
			t.Fatal(err)
		}
	}
	var all, slice []string
	for _, x := range e.Subsets {
		for _, a := range x.Addresses {
			all = append(all, a.IP)
		}
	}
	for _, x := range s.Endpoints {
		slice = append(slice, x.Addresses...)
	}
	if strings.Join(all, " ") != strings.Join(slice, " ") {
		t.Errorf("Endpoints %v, EndpointSlice %v", all, slice)
	}
	return strings.Join(all, " ")
}

// TestServiceKubernetes checks that the Service kubernetes and its endpoints are restored ten seconds after a change, and have the
// addresses of all API servers. Each server has an identity lease, which is restored at once.
func TestServiceKubernetes(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	a, b, now := pairOf(t)
	is.Equal(addresses(t, b), "192.0.2.1 192.0.2.2")
	const service = "/api/v1/namespaces/default/services/kubernetes"
	ask(a, "DELETE", service, "")
	ask(b, "DELETE", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes", "")
	now.Advance(9 * time.Second)
	is.True(strings.Contains(ask(a, "GET", service, ""), "NotFound"))
	now.Advance(time.Second)
	is.True(strings.Contains(ask(a, "GET", service, ""), `"clusterIP":"10.0.0.1"`))
	is.Equal(addresses(t, a), "192.0.2.1 192.0.2.2")
	is.NoErr(b.SetPeers(nil))
	is.Equal(addresses(t, b), "192.0.2.2")

	const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
	is.Equal(strings.Count(ask(b, "GET", leases, ""), `"holderIdentity":"apiserver-`), 2)
	ask(b, "DELETE", leases, "")
	a.Revision() // its controllers handle the changes
	is.Equal(strings.Count(ask(a, "GET", leases, ""), `"holderIdentity":"apiserver-`), 2)
	for _, path := range []string{service, "/api/v1/namespaces/default/endpoints/kubernetes", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes",
		leases + "/" + boot.LeaseName(boot.Host)} {
		is.True(strings.HasPrefix(ask(a, "GET", path, ""), `{"kind":`)) // what a controller has created has a kind
	}
}
