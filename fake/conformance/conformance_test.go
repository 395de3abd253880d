package conformance_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/listen"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/conformance"
)

// adminToken is the token of the recordings' administrator.
const adminToken = "admintoken"

// TestInProcess compares the server's responses with the recorded responses of a real one. Each case runs on a separate server in a
// testing/synctest bubble, in which waiting takes no real time.
func TestInProcess(t *testing.T) {
	t.Parallel()
	cases, err := conformance.Cases()
	conformance.Check(t, func(t *testing.T, c conformance.Case) conformance.Target {
		srv := server(t, c)
		target := conformance.Target{URL: srv.URL(), Transport: srv.Transport(), Token: adminToken}
		if srv.Replicas() > 1 {
			target.URL = srv.ReplicaURL(1)
			target.Second = &conformance.Target{URL: srv.ReplicaURL(2), Transport: srv.Transport()}
		}
		return target
	}, conformance.Options[*testing.T]{Cases: played(t, cases, err), Isolate: synctest.Test})
}

// TestOverHTTP is like TestInProcess, but sends the requests through net/http, on connections in memory.
func TestOverHTTP(t *testing.T) {
	t.Parallel()
	cases, err := conformance.Cases()
	conformance.Check(t, func(t *testing.T, c conformance.Case) conformance.Target {
		srv := server(t, c)
		var targets []conformance.Target
		for n := range srv.Replicas() {
			socket := listen.NewMemory()
			l, err := srv.Listen(fake.ListenOptions{Socket: socket, Replica: n + 1})
			if err != nil {
				t.Fatal(err)
			}
			network := conformance.Network(false)
			network.DialContext = socket.DialContext
			t.Cleanup(network.CloseIdleConnections)
			targets = append(targets, conformance.Target{URL: l.URL(), Transport: network, Token: adminToken})
		}
		if len(targets) > 1 {
			targets[0].Second = &targets[1]
		}
		return targets[0]
	}, conformance.Options[*testing.T]{Cases: played(t, cases, err), Isolate: synctest.Test})
}

// server returns a server in virtual time with the replicas with which a case was recorded.
func server(t *testing.T, c conformance.Case) *fake.Server {
	return fake.RunT(t, fake.Options{Clock: clock.System{}, Auth: auth.RBAC, NoControllers: true, Replicas: replicasFor(c), ServiceCIDR: rangesFor(c)})
}

// rangesFor returns the ranges of services with which a case was recorded, or "" for the default.
func rangesFor(c conformance.Case) string {
	if c.Area == conformance.DualStack {
		return "10.0.0.0/24,fd00::/112"
	}
	return ""
}

// played returns the cases to play: all of them or, with -short, the first of each area and about a twelfth of the others, chosen by
// the lengths of their names, so that a new case does not change the choice. It fails the test if err is not nil.
func played(t *testing.T, cases []conformance.Case, err error) []conformance.Case {
	if err != nil {
		t.Fatal(err)
	}
	if !testing.Short() {
		return cases
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(cases, func(c conformance.Case) bool {
		first := !seen[c.Area]
		seen[c.Area] = true
		return !first && len(c.Name)%12 != 0
	})
}

// replicasFor returns the options of the API servers with which a case was recorded, or nil for a server with the defaults.
func replicasFor(c conformance.Case) []fake.ReplicaOptions {
	gate := map[string]bool{"VolumeLimitScaling": true}
	switch c.Area {
	case "skewed":
		return []fake.ReplicaOptions{{Version: "1.36", FeatureGates: gate}, {Version: "1.35"}}
	case "skewed-gates":
		return []fake.ReplicaOptions{{FeatureGates: gate}, {}}
	case conformance.AllVersions:
		return []fake.ReplicaOptions{{Serve: map[string]bool{"api/all": true}, FeatureGates: map[string]bool{
			"ClusterTrustBundle": true, "PodCertificateRequest": true, "StorageVersionMigrator": true}}}
	}
	if strings.HasPrefix(c.Area, conformance.Workloads) {
		return []fake.ReplicaOptions{{Version: c.Minor(), Serve: map[string]bool{"api/all": true}, FeatureGates: conformance.WorkloadGates(c.Minor())}}
	}
	if minor := c.Minor(); minor != "" {
		return []fake.ReplicaOptions{{Version: minor}}
	}
	return nil
}
