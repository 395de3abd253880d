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

// TestConformanceInProcess compares the server with the recorded answers of a real one: each case on a server of its
// own, in a bubble where waiting costs nothing.
func TestConformanceInProcess(t *testing.T) {
	conformance.Check(t, func(t *testing.T, _ conformance.Case) conformance.Target {
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Auth: auth.RBAC})
		return conformance.Target{URL: srv.URL(), Transport: srv.Transport(), Token: adminToken}
	}, conformance.Options[*testing.T]{Isolate: synctest.Test})
}

// TestConformanceOverHTTP does the same over a socket, in real time.
func TestConformanceOverHTTP(t *testing.T) {
	srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Auth: auth.RBAC})
	l, err := srv.Listen(fake.ListenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	target := conformance.Target{URL: l.URL(), Token: adminToken}
	conformance.Check(t, func(*testing.T, conformance.Case) conformance.Target { return target },
		conformance.Options[*testing.T]{Workers: 16})
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
