package fake_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/trace"
)

// noise executes a run with faults: ten updates of one object, optionally with requests of another client between them.
func noise(t *testing.T, o fake.Options, others bool) (codes string, srv *fake.Server) {
	t.Helper()
	o.Trace = 1000
	srv = fake.RunT(t, o)
	plan, err := fault.Parse("on update configmaps p=0.4 do fail Conflict\non get configmaps p=0.4 do fail ServiceUnavailable")
	if err != nil {
		t.Fatal(err)
	}
	srv.Faults.Add(plan...)
	c := client{t, srv}
	c.create("a")
	for i := range 10 {
		if others {
			res := ask(t, srv, "other/v1", "GET", mapsPath+"/a", "")
			res.Body.Close()
		}
		code, _ := c.do("PUT", mapsPath+"/a", fmt.Sprintf(`{"metadata":{"name":"a"},"data":{"k":"%d"}}`, i))
		codes += fmt.Sprint(code, " ")
		code, _ = c.do("GET", mapsPath+"/a", "")
		codes += fmt.Sprint(code, " ")
	}
	return codes, srv
}

// TestReplay checks that the trace of a run is sufficient to replay its faults, even with another seed and with
// requests of other clients between them.
func TestReplay(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	want, srv := noise(t, fake.Options{Seed: 5}, false)
	log, err := trace.Parse(srv.Trace().JSONL())
	is.NoErr(err)
	is.Equal(log.Hash, srv.Trace().Hash)
	is.Equal(fmt.Sprint(log.Seed, log.Versions, log.Level), "5 [v1.36.3]legal")
	decisions, err := fault.ParseDecisions(log.Decisions)
	is.NoErr(err)
	got, again := noise(t, fake.Options{Seed: log.Seed, Replay: decisions}, false)
	is.Equal(got, want)
	is.Equal(again.Trace().Hash, log.Hash) // the same run
	got, _ = noise(t, fake.Options{Seed: 6, Replay: decisions}, true)
	is.Equal(got, want)
	other, _ := noise(t, fake.Options{Seed: 6}, false)
	is.True(other != want) // without the replay, the run is different
}

// TestReplicaTransport checks that the transport of a replica sends requests to that replica, whatever the URL and the
// client are.
func TestReplicaTransport(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Replicas: []fake.ReplicaOptions{{}, {Version: "1.35"}}})
	for n, want := range []string{"v1.36.3", "v1.35.4"} {
		res, err := (&http.Client{Transport: srv.Replica(n + 1).Transport()}).Get(srv.URL() + "/version")
		is.NoErr(err)
		body := read(t, res.Body)
		res.Body.Close()
		is.Equal(client{t, srv}.parse(body).String("gitVersion"), want)
	}
}
