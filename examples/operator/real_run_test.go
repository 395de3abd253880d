package operator

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
	"k8s.io/client-go/rest"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/explore"
	"github.com/kubesim/kubesim/fake/listen"
	"github.com/kubesim/kubesim/fake/record"
)

// TestRealRunReplays checks that the controller asks a server that replays the recording what it has asked the real server.
func TestRealRunReplays(t *testing.T) {
	is := is.New(t)
	file, err := os.Open(recording)
	is.NoErr(err)
	defer file.Close()
	entries, err := record.Read(file)
	is.NoErr(err)
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		replay, memory := record.NewReplay(entries, clock.System{}), listen.NewMemory()
		server := &http.Server{Handler: replay}
		go func() { _ = server.Serve(memory) }() // it ends with Close
		transport := &http.Transport{DialContext: memory.DialContext}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			ended <- operate(ctx, &rest.Config{Host: "http://replay.invalid", Transport: transport, QPS: -1}, correct)
		}()
		t.Cleanup(func() {
			stop()
			is.NoErr(<-ended)
			is.NoErr(server.Close())
			transport.CloseIdleConnections()
		})
		time.Sleep(10 * time.Minute)
		is.Equal(replay.Differences(), nil)
	})
}

// runRealRun starts the controller under test.
func runRealRun(ctx context.Context, transport http.RoundTripper, srv *fake.Server, of func(client.Client) reconcile.Reconciler) error {
	return operate(ctx, &rest.Config{Host: srv.URL(), Transport: transport, QPS: -1}, of)
}

// realRun repeats the recording with a controller, without faults and then under faults.
func realRun(t *testing.T, o fake.ExploreOptions, of func(client.Client) reconcile.Reconciler) {
	t.Helper()
	rec := fake.ReadRecording(t, recording)
	o.Prepare = func(t fake.T, srv *fake.Server) { rec.Begin(t, srv) }
	fake.Explore(t, o, func(t fake.T, srv *fake.Server) {
		srv.Process(rec.Program, func(ctx context.Context, transport http.RoundTripper) error {
			return runRealRun(ctx, transport, srv, of)
		})
		rec.Play(t, srv, 30*time.Minute)
	})
}

// TestRealRun repeats the recording, like the test that kubesim scenario-from --go writes: other clients repeat their writes, and the
// objects of the controller must reach the same state as with the real server.
func TestRealRun(t *testing.T) {
	realRun(t, fake.ExploreOptions{Seeds: 20, Server: fake.Options{Bare: true}}, correct)
}

// forgetful is a controller with a bug: it reports no errors, so nothing is retried.
type forgetful struct{ reconcile.Reconciler }

// Reconcile implements reconcile.Reconciler.
func (f forgetful) Reconcile(ctx context.Context, request controllerruntime.Request) (result controllerruntime.Result, err error) {
	_, _ = f.Reconciler.Reconcile(ctx, request)
	return result, nil
}

// TestRealRunFindsBug checks that faults find the bug, although the recording was made with a correct controller.
func TestRealRunFindsBug(t *testing.T) {
	is := is.New(t)
	var found *explore.Report
	o := fake.ExploreOptions{Seeds: 200, Repeat: 1, Server: fake.Options{Bare: true}, Found: func(r *explore.Report) { found = r }}
	realRun(t, o, func(c client.Client) reconcile.Reconciler { return forgetful{correct(c)} })
	is.True(found != nil) // within 200 seeds
	t.Log(found)
	is.True(strings.Contains(found.String(), "the objects differ from those at the end of the recording"))
	is.Equal(len(found.Calm.Failures), 0)
}
