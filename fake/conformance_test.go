package fake_test

import (
	"os"
	"testing"
	"testing/synctest"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/conformance"
)

// adminToken is the token of the recordings' administrator.
const adminToken = "admintoken"

// TestConformanceInProcess compares the server with the recorded answers of a real one: each case on a server of its own, in a bubble
// in which waiting takes no real time.
func TestConformanceInProcess(t *testing.T) {
	t.Parallel()
	conformance.Check(t, func(t *testing.T, c conformance.Case) conformance.Target {
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Auth: auth.RBAC, NoControllers: true, Replicas: replicasFor(c)})
		target := conformance.Target{URL: srv.URL(), Transport: srv.Transport(), Token: adminToken}
		if srv.Replicas() > 1 {
			target.URL = srv.ReplicaURL(1)
			target.Second = &conformance.Target{URL: srv.ReplicaURL(2), Transport: srv.Transport()}
		}
		return target
	}, conformance.Options[*testing.T]{Isolate: synctest.Test})
}

// TestConformanceOverHTTP does the same over a socket, in real time.
func TestConformanceOverHTTP(t *testing.T) {
	targets := map[string]conformance.Target{}
	cases, err := conformance.Cases()
	if err != nil {
		t.Fatal(err)
	}
	server := func(c conformance.Case) string {
		if replicasFor(c) == nil && !c.RunsAlone() {
			return "" // all of these share a server
		}
		return c.Area
	}
	for _, c := range cases {
		if _, made := targets[server(c)]; !made {
			targets[server(c)] = listening(t, replicasFor(c))
		}
	}
	conformance.Check(t, func(_ *testing.T, c conformance.Case) conformance.Target { return targets[server(c)] },
		conformance.Options[*testing.T]{Workers: 32, Cases: cases, Again: true})
}

// listening returns a server with replicas that listen.
func listening(t *testing.T, replicas []fake.ReplicaOptions) conformance.Target {
	t.Helper()
	srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Auth: auth.RBAC, NoControllers: true, Replicas: replicas})
	var targets []conformance.Target
	for n := range srv.Replicas() {
		l, err := srv.Listen(fake.ListenOptions{Replica: n + 1})
		if err != nil {
			t.Fatal(err)
		}
		targets = append(targets, conformance.Target{URL: l.URL(), Token: adminToken})
	}
	if len(targets) > 1 {
		targets[0].Second = &targets[1]
	}
	return targets[0]
}

// replicasFor are the servers that the cases of an area were recorded with.
func replicasFor(c conformance.Case) []fake.ReplicaOptions {
	gate := map[string]bool{"VolumeLimitScaling": true}
	switch c.Area {
	case "skewed":
		return []fake.ReplicaOptions{{Version: "1.36", FeatureGates: gate}, {Version: "1.35"}}
	case "skewed-gates":
		return []fake.ReplicaOptions{{FeatureGates: gate}, {}}
	}
	if minor := c.Minor(); minor != "" {
		return []fake.ReplicaOptions{{Version: minor}}
	}
	return nil
}

// TestConformanceReal runs the cases against a real API server at KUBESIM_TARGET, with the administrator's token in
// KUBESIM_TOKEN. KUBESIM_INSECURE=true skips the check of its certificate.
func TestConformanceReal(t *testing.T) {
	url := os.Getenv("KUBESIM_TARGET")
	if url == "" {
		t.Skip("KUBESIM_TARGET is not set: there is no real API server to compare the recordings with")
	}
	target := conformance.Target{URL: url, Token: os.Getenv("KUBESIM_TOKEN"), NoControl: true,
		Transport: conformance.Network(os.Getenv("KUBESIM_INSECURE") == "true")}
	conformance.Check(t, func(*testing.T, conformance.Case) conformance.Target { return target },
		conformance.Options[*testing.T]{Workers: 16})
}
