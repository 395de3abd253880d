package fake_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/trace"
)

// test is a fake.TB that records whether it has failed, and its log.
type test struct {
	failed   bool
	log      strings.Builder
	cleanups []func()
}

func (t *test) Helper()                           {}
func (t *test) Errorf(format string, args ...any) { t.failed = true; t.Logf(format, args...) }
func (t *test) Fatalf(format string, args ...any) { t.Logf(format, args...) }
func (t *test) Logf(format string, args ...any)   { fmt.Fprintf(&t.log, format+"\n", args...) }
func (t *test) Cleanup(f func())                  { t.cleanups = append(t.cleanups, f) }
func (t *test) Failed() bool                      { return t.failed }
func (t *test) Name() string                      { return "TestOperator/scales_down" }

func (t *test) end() string {
	for _, f := range t.cleanups {
		f()
	}
	return t.log.String()
}

// TestFailureReport checks that a failing test prints the last steps, its faults and the command that replays it.
func TestFailureReport(t *testing.T) {
	is := is.New(t)
	good := &test{}
	(client{t, fake.RunT(good)}).create("a")
	is.Equal(good.end(), "") // it prints nothing

	bad := &test{failed: true}
	srv := fake.RunT(bad, fake.Options{Seed: 7})
	c := client{t, srv}
	srv.Faults.Add(fault.On("update", "configmaps").Conflict())
	for i := range 60 {
		c.create(fmt.Sprint("a", i))
	}
	log := bad.end()
	is.True(strings.Contains(log, "KUBESIM_SEED=7 go test -count=1 -run '^TestOperator$/^scales_down$'")) // the command that replays the test
	is.True(strings.Contains(log, "on update configmaps do fail Conflict"))
	is.True(strings.Contains(log, "create configmaps default/a59 → 201\n"))
	is.True(strings.Count(log, "\n") < 60) // only the end
}

// TestSeedFromEnvironment checks that a test without a seed uses the seed in the environment.
func TestSeedFromEnvironment(t *testing.T) {
	is := is.New(t)
	uid := func(o fake.Options) string { return (client{t, fake.RunT(t, o)}).create("a").UID() }
	one, seven := uid(fake.Options{}), uid(fake.Options{Seed: 7})
	t.Setenv("KUBESIM_SEED", "7")
	is.Equal(uid(fake.Options{}), seven)
	is.Equal(uid(fake.Options{Seed: 1}), one) // the test's own seed takes precedence
}

// work sends some writes and watches.
func work(t *testing.T, srv *fake.Server, names ...string) {
	t.Helper()
	c := client{t, srv}
	w := c.watch("")
	for _, name := range names {
		c.create(name)
		w.must("ADDED")
	}
	c.do("DELETE", mapsPath+"/"+names[0], "")
	w.must("DELETED")
	w.body.Close()
}

func TestTraceOfWrites(t *testing.T) {
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Trace: 1000})
	work(t, srv, "a")
	srv.Clock.Advance(time.Minute)
	code, _ := (client{t, srv}).do("GET", "/apis", "")
	is.Equal(code, http.StatusOK)
	log := srv.Trace()
	var sites []string
	for i, r := range log.Records {
		is.Equal(r.N, uint64(i+1)) // no gaps
		is.True(r.Cause < r.N)     // a cause precedes its effect
		line := strings.TrimSpace(fmt.Sprint(string(r.Site), " ", r.Verb, " ", r.What, " ", r.Key))
		if r.Cause > 0 {
			line += fmt.Sprint(" ◀ ", log.Records[r.Cause-1].Site, " ", log.Records[r.Cause-1].Verb)
		}
		sites = append(sites, line)
	}
	is.Equal(strings.Join(sites, "\n"), strings.TrimSpace(`
request.arrived watch configmaps default
request.decided watch configmaps default ◀ request.arrived watch
request.answered watch configmaps default ◀ request.arrived watch
request.arrived create configmaps default
request.decided create configmaps default ◀ request.arrived create
store.committed ADDED configmaps default/a ◀ request.arrived create
replica.applied ADDED configmaps default/a ◀ store.committed ADDED
watch.sent ADDED configmaps default/a ◀ store.committed ADDED
request.answered create configmaps default/a ◀ request.arrived create
request.arrived delete configmaps default/a
request.decided delete configmaps default/a ◀ request.arrived delete
store.committed DELETED configmaps default/a ◀ request.arrived delete
replica.applied DELETED configmaps default/a ◀ store.committed DELETED
watch.sent DELETED configmaps default/a ◀ store.committed DELETED
request.answered delete configmaps default/a ◀ request.arrived delete
clock
request.arrived get /apis
request.answered get /apis ◀ request.arrived get`))
	is.True(strings.Contains(log.Mermaid(), "sequenceDiagram\n"))
}

// TestTraceHashes checks that the same requests produce the same trace. In another order they lead to the same outcome.
func TestTraceHashes(t *testing.T) {
	is := is.New(t)
	run := func(o fake.Options, names ...string) *trace.Log {
		srv := fake.RunT(t, o)
		work(t, srv, names...)
		return srv.Trace()
	}
	a, again := run(fake.Options{Trace: 10}, "a", "b", "c"), run(fake.Options{Trace: 10}, "a", "b", "c")
	is.Equal(len(a.Hash), 64)
	is.Equal(a.Hash, again.Hash)
	is.Equal(a.Semantic, again.Semantic)
	is.True(a.Dropped > 0)
	other := run(fake.Options{Trace: 10, Seed: 9}, "a", "c", "b")
	is.True(other.Hash != a.Hash)                                               // another order
	is.Equal(other.Semantic, a.Semantic)                                        // the same outcome
	is.True(run(fake.Options{Trace: 10}, "b", "a", "c").Semantic != a.Semantic) // another object was deleted
	is.Equal(run(fake.Options{}, "a").Hash, "")                                 // hashes are computed only on request
}

// TestTraceReset checks that after a reset, the trace of a server is equal to that of a new server.
func TestTraceReset(t *testing.T) {
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Trace: 100})
	is.NoErr(srv.Reset())
	work(t, srv, "a")
	want := srv.Trace()
	srv.Faults.Add(fault.On("*", "*").Compact())
	work(t, srv, "b")
	is.NoErr(srv.Reset())
	is.Equal(srv.Faults.String(), "") // the faults were removed
	work(t, srv, "a")
	is.Equal(srv.Trace().Hash, want.Hash)
}

func TestServeTrace(t *testing.T) {
	is := is.New(t)
	srv, err := fake.New(fake.Options{Trace: 100})
	is.NoErr(err)
	defer srv.Close()
	work(t, srv, "a")
	c := client{t, srv}
	code, text := c.do("GET", "/sim/v1/trace", "")
	is.Equal(code, http.StatusOK)
	is.Equal(text, string(srv.Trace().JSONL()))
	_, text = c.do("GET", "/sim/v1/trace?format=timeline", "")
	is.Equal(text, srv.Trace().Timeline())
	_, text = c.do("GET", "/sim/v1/trace?format=mermaid", "")
	is.Equal(text, srv.Trace().Mermaid())
	code, _ = c.do("GET", "/sim/v1/trace?format=pdf", "")
	is.Equal(code, http.StatusBadRequest)

	none, err := fake.New()
	is.NoErr(err)
	defer none.Close()
	code, text = client{t, none}.do("GET", "/sim/v1/trace?follow=1", "")
	is.Equal(code, http.StatusConflict)
	is.True(strings.Contains(text, "does not record a trace")) // it also explains how to change that
	is.Equal(len(none.Trace().Records), 0)
}

// TestFollowTrace checks that a follower gets past and future records, in process and over a socket, until the server
// is closed.
func TestFollowTrace(t *testing.T) {
	is := is.New(t)
	srv, err := fake.New(fake.Options{Trace: 100})
	is.NoErr(err)
	listener, err := srv.Listen(fake.ListenOptions{})
	is.NoErr(err)
	c := client{t, srv}
	c.create("a")
	want := len(srv.Trace().Records)
	for _, get := range []func() (*http.Response, error){
		func() (*http.Response, error) {
			return (&http.Client{Transport: srv.Transport()}).Get(srv.URL() + "/sim/v1/trace?follow=1")
		},
		func() (*http.Response, error) { return http.Get(listener.URL() + "/sim/v1/trace?follow=1") },
	} {
		res, err := get()
		is.NoErr(err)
		lines := bufio.NewScanner(res.Body)
		is.True(lines.Scan())
		is.True(strings.HasPrefix(lines.Text(), `{"trace":1,"seed":1,"versions":["v1.36.3"],"go":"go1.`)) // the run that the records belong to
		for n := 1; n <= want+3; n++ {                                                                    // a get has three records
			if n == want+1 {
				c.do("GET", mapsPath+"/a", "")
			}
			is.True(lines.Scan())
			var record struct{ N int }
			is.NoErr(json.Unmarshal(lines.Bytes(), &record))
			is.Equal(record.N, n)
		}
		want += 3
		defer res.Body.Close()
		defer func() {
			for lines.Scan() { // until the server is closed
			}
		}()
	}
	srv.Close()
}

// TestTruncateOverSocket checks that a truncated body also breaks the connection over a socket.
func TestTruncateOverSocket(t *testing.T) {
	is := is.New(t)
	srv, err := fake.New()
	is.NoErr(err)
	defer srv.Close()
	for _, tls := range []bool{false, true} {
		l, err := srv.Listen(fake.ListenOptions{TLS: tls})
		is.NoErr(err)
		srv.Faults.Add(fault.On("list", "*").Times(1).Truncate(10))
		res, err := trusting(t, l).Get(l.URL() + mapsPath)
		is.NoErr(err)
		data, err := io.ReadAll(res.Body)
		is.Equal(len(data), 10)
		is.True(err != nil) // the body is incomplete
		res.Body.Close()
	}
}

// trusting returns a client that trusts the certificate of a listener.
func trusting(t *testing.T, l *fake.Listener) *http.Client {
	t.Helper()
	network := &http.Transport{ForceAttemptHTTP2: true}
	t.Cleanup(network.CloseIdleConnections)
	if ca := l.CA(); ca != nil {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(ca)
		network.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	return &http.Client{Transport: network}
}

// TestReportMarksWhatWentWrong checks that a violation that makes a test fail is marked, with the steps that led to it,
// even if it is far back.
func TestReportMarksWhatWentWrong(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	bad, srv, c := watched(t, fake.Options{Controllers: []string{"replicaset-controller"}})
	srv.Never("red", func(view fake.View) error {
		if view.Get("configmaps", "default", "a").String("data", "color") == "red" {
			return errors.New("it is")
		}
		return nil
	})
	is.NoErr(srv.LoadData([]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"color":"blue"}}`)))
	c.as("painter/v1 (linux)", "GET", mapsPath+"/a", "", "")
	c.as("painter/v1 (linux)", "PATCH", mapsPath+"/a", mergePatch, `{"data":{"color":"red"}}`)
	for i := range 50 {
		c.create(fmt.Sprint("b", i))
	}
	c.do("POST", "/apis/apps/v1/namespaces/default/replicasets", `{"metadata":{"name":"r"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	log := bad.end()
	is.True(strings.Contains(log, "✗"))
	is.True(strings.Contains(log, "painter/v1 patch configmaps default/a → 200"))
	is.True(strings.Contains(log, `data.color: "blue" → "red"`))
	is.True(strings.Contains(log, "»"))
	is.True(strings.Contains(log, "painter/v1 get configmaps default/a → 200"))
	is.True(!strings.Contains(log, "default/b0")) // only the end of the other steps
	is.True(strings.Contains(log, "default/b49"))
	is.True(strings.Contains(log, "replicaset-controller (system:serviceaccount:kube-system:replicaset-controller) writes"))
	is.True(strings.Contains(srv.Report(0, false), "kubesim-load (admin) create configmaps default/a → 201")) // the client of LoadData has a name
	is.True(strings.Contains(srv.Report(0, true), "\nconfigmaps default/b7\n"))
}

// TestReportSaysWhatIsMissing checks that the report of a rejected request names the missing definition or rule.
func TestReportSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	_, srv, c := watched(t, fake.Options{Auth: auth.RBAC})
	jane := srv.As("jane")
	sendThrough(t, jane.Transport(), jane.URL(), "op", "PATCH", "/apis/apps/v1/namespaces/default/deployments/web/status", mergePatch, `{}`)
	root := srv.As("root", "system:masters")
	for _, path := range []string{"/apis/web.example.com/v1/namespaces/default/sites/blog", "/apis/web.example.com/v1", mapsPath + "/none"} {
		code, _ := sendThrough(t, root.Transport(), root.URL(), "op", "GET", path, "", "")
		is.Equal(code, 404)
	}
	_, _ = c.do("GET", mapsPath, "")
	text := srv.Report(0, false)
	is.True(strings.Contains(text, `op (jane) patch deployments.apps/status default/web → 403: deployments.apps "web" is forbidden: User "jane" cannot patch`))
	is.True(strings.Contains(text, `the missing rule: {APIGroups:["apps"], Resources:["deployments/status"], Verbs:["patch"]}`))
	is.Equal(strings.Count(text, "no CustomResourceDefinition that is loaded serves"), 2)
	is.True(strings.Contains(text, "no CustomResourceDefinition that is loaded serves sites.web.example.com in version v1\n"))
	is.True(strings.Contains(text, "no CustomResourceDefinition that is loaded serves web.example.com/v1\n"))
}
