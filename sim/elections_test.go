package sim_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim"
)

const (
	candidates  = "/apis/coordination.k8s.io/v1beta1/namespaces/default/leasecandidates"
	someLeases  = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
	leaderLease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/leader-election-controller"
)

// electing returns a Cluster with coordinated leader election, and its clock.
func electing(t *testing.T) (*sim.Cluster, *clock.Manual) {
	t.Helper()
	now := clock.NewManual(clock.Epoch())
	c, err := sim.New(sim.Options{Clock: now, Replicas: []sim.ReplicaOptions{{FeatureGates: map[string]bool{"CoordinatedLeaderElection": true},
		Serve: map[string]bool{"coordination.k8s.io/v1beta1": true}}}})
	if err != nil {
		t.Fatal(err)
	}
	return c, now
}

// candidate creates a LeaseCandidate for the Lease l, which was renewed now.
func candidate(c *sim.Cluster, name, binary, emulation, strategy string) string {
	at := c.Clock().Now().UTC().Format("2006-01-02T15:04:05.000000Z")
	return ask(c, "POST", candidates, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"leaseName":"l","binaryVersion":%q,"emulationVersion":%q,"strategy":%q,"renewTime":%q}}`,
		name, binary, emulation, strategy, at))
}

// leaseSpec returns the spec of a Lease.
func leaseSpec(t *testing.T, c *sim.Cluster, path string) (spec struct{ HolderIdentity, PreferredHolder, Strategy string }) {
	t.Helper()
	obj := struct{ Spec any }{&spec}
	if err := json.Unmarshal([]byte(ask(c, "GET", path, "")), &obj); err != nil {
		t.Fatal(err)
	}
	return spec
}

// TestElection checks that the candidate with the oldest versions is elected, that a better one becomes the preferred holder, and that a
// Lease with another strategy gets no holder.
func TestElection(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, now := electing(t)
	is.True(strings.HasPrefix(leaseSpec(t, c, leaderLease).HolderIdentity, "kubesim_"))
	is.True(strings.Contains(candidate(c, "a", "1.20.0", "1.20.0", "OldestEmulationVersion"), `"name":"a"`))
	is.Equal(leaseSpec(t, c, someLeases+"/l").HolderIdentity, "a")
	now.Advance(time.Second)
	candidate(c, "b", "1.20.0", "1.19.0", "OldestEmulationVersion")
	spec := leaseSpec(t, c, someLeases+"/l")
	is.Equal([]string{spec.HolderIdentity, spec.PreferredHolder, spec.Strategy}, []string{"a", "b", "OldestEmulationVersion"})

	now.Advance(6 * time.Second)
	is.True(strings.Contains(ask(c, "GET", candidates+"/a", ""), `"pingTime"`)) // its last renewal is too old for another election
	at := now.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
	renewed := fmt.Sprintf(`{"apiVersion":"coordination.k8s.io/v1beta1","kind":"LeaseCandidate","spec":{"leaseName":"l","binaryVersion":"1.20.0","emulationVersion":"1.19.0",
		"strategy":"OldestEmulationVersion","renewTime":%q},"metadata":{"name":"b","resourceVersion":%q}}`, at, resourceVersion(t, c, candidates+"/b"))
	is.True(!strings.Contains(ask(c, "PUT", candidates+"/b", renewed), "Failure"))
	now.Advance(4 * time.Second) // a has not answered, and its Lease has expired
	is.Equal(leaseSpec(t, c, someLeases+"/l").HolderIdentity, "b")

	third, _ := electing(t)
	candidate(third, "a", "1.20.0", "1.20.0", "example.com/own")
	spec = leaseSpec(t, third, someLeases+"/l")
	is.Equal([]string{spec.HolderIdentity, spec.Strategy}, []string{"", "example.com/own"})
}

func resourceVersion(t *testing.T, c *sim.Cluster, path string) string {
	t.Helper()
	var obj struct {
		Metadata struct{ ResourceVersion string }
	}
	if err := json.Unmarshal([]byte(ask(c, "GET", path, "")), &obj); err != nil {
		t.Fatal(err)
	}
	return obj.Metadata.ResourceVersion
}

// TestCandidateExpires checks that a LeaseCandidate is deleted by the first check after its expiry.
func TestCandidateExpires(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, now := electing(t)
	candidate(c, "a", "1.20.0", "1.20.0", "OldestEmulationVersion")
	now.Advance(30 * time.Minute)
	is.True(strings.Contains(ask(c, "GET", candidates+"/a", ""), `"name":"a"`))
	now.Advance(30*time.Minute + time.Second)
	is.True(strings.Contains(ask(c, "GET", candidates+"/a", ""), "NotFound"))
}

// TestLeaderOfElections checks that the leader renews its Lease, and that another API server over the store takes over when the first one
// cannot.
func TestLeaderOfElections(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, now := electing(t)
	before := resourceVersion(t, c, leaderLease)
	now.Advance(2 * time.Second)
	is.True(resourceVersion(t, c, leaderLease) != before)
	first := leaseSpec(t, c, leaderLease).HolderIdentity
	s := c.State()
	c.Close()
	o := s.Options
	o.Clock, o.Number = now, 2
	other, err := sim.Resume(s, o)
	is.NoErr(err)
	now.Advance(14 * time.Second)
	is.Equal(leaseSpec(t, other, leaderLease).HolderIdentity, first)
	now.Advance(3 * time.Second)
	is.True(strings.HasPrefix(leaseSpec(t, other, leaderLease).HolderIdentity, "kubesim-2_"))
	other.Leave()
	is.Equal(leaseSpec(t, other, leaderLease).HolderIdentity, "")
}
