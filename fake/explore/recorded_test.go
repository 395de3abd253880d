package explore_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/record"
)

// recordCopier records a copier, while another client creates a ConfigMap and changes it.
func recordCopier(t *testing.T, stable bool) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "copier.recording")
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		out, err := os.Create(file)
		is.NoErr(err)
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Bare: true})
		to := record.To(out)
		p := srv.Process("copier", func(ctx context.Context, c http.RoundTripper) error {
			return copier(srv, stable)(ctx, to.Wrap(c))
		})
		time.Sleep(3 * time.Second)
		_, err = send(srv.Transport(), srv, "POST", mapsPath, `{"metadata":{"name":"one"}}`, nil)
		is.NoErr(err)
		time.Sleep(3 * time.Second)
		p.Stop()
		is.NoErr(to.Err())
		is.NoErr(out.Close())
	})
	return file
}

// repeat returns the body of a test that repeats a recording with a copier.
func repeat(rec *fake.Recorded, stable bool) func(fake.T, *fake.Server) {
	return func(t fake.T, srv *fake.Server) {
		srv.Process(rec.Program, copier(srv, stable))
		rec.Play(t, srv, 10*time.Minute)
	}
}

// TestRecorded checks that a recorded client passes under all plans that begin with its recording.
func TestRecorded(t *testing.T) {
	t.Parallel()
	rec := fake.ReadRecording(t, recordCopier(t, true))
	fake.Explore(t, fake.ExploreOptions{Seeds: 10, Server: fake.Options{Bare: true},
		Prepare: func(t fake.T, srv *fake.Server) { rec.Begin(t, srv) }}, repeat(rec, true))
}

// TestRecordedBug checks that a plan finds the bug of a client, although its recording is correct.
func TestRecordedBug(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	rec := fake.ReadRecording(t, recordCopier(t, false))
	found := testUnderPlan(t, fake.ExploreOptions{Repeat: 1, Prepare: func(t fake.T, srv *fake.Server) { rec.Begin(t, srv) }}, repeat(rec, false))
	is.True(found != nil)
	is.True(strings.Contains(found.String(), "+ it is not in the recording")) // the second Secret
	is.True(len(found.Calm.Failures) == 0)
}
