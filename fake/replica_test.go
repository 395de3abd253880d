package fake_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

const collection = "/api/v1/namespaces/default/configmaps"

// guest is a client with a name. It sends requests to replica n, or to the replica that it is routed to if n is 0.
type guest struct {
	t     *testing.T
	srv   *fake.Server
	n     int
	agent string
}

// url returns the guest's base URL.
func (g guest) url() string {
	if g.n > 0 {
		return g.srv.ReplicaURL(g.n)
	}
	return g.srv.URL()
}

func (g guest) send(method, path, body string) *http.Response {
	g.t.Helper()
	url := g.url()
	r, err := http.NewRequestWithContext(context.Background(), method, url+path, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	r.Header.Set("User-Agent", g.agent)
	r.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	res, err := g.srv.Transport().RoundTrip(r)
	if err != nil {
		g.t.Fatal(err)
	}
	return res
}

func (g guest) do(method, path, body string) (int, object.Object) {
	g.t.Helper()
	res := g.send(method, path, body)
	defer res.Body.Close()
	obj, err := object.Parse([]byte(read(g.t, res.Body)))
	if err != nil {
		g.t.Fatal(err)
	}
	return res.StatusCode, obj
}

// create creates a ConfigMap and returns its revision.
func (g guest) create(name string) string {
	g.t.Helper()
	code, obj := g.do("POST", collection, `{"metadata":{"name":"`+name+`"}}`)
	if code != http.StatusCreated {
		g.t.Fatalf("create %s: %d %v", name, code, obj)
	}
	return obj.ResourceVersion()
}

// names returns the names of the ConfigMaps in a list, such as "a b", or the code and the reason of an error.
func (g guest) names(query string) string {
	g.t.Helper()
	code, obj := g.do("GET", collection+query, "")
	if code != http.StatusOK {
		return fmt.Sprint(code, " ", obj.String("reason"))
	}
	var names []string
	for _, item := range obj.List("items") {
		names = append(names, object.Object(item.(map[string]any)).Name())
	}
	return strings.Join(names, " ")
}

func (g guest) watch(path string) *stream {
	g.t.Helper()
	res := g.send("GET", path+"&allowWatchBookmarks=true", "")
	scan := bufio.NewScanner(res.Body)
	scan.Buffer(nil, 1<<20)
	return &stream{g.t, res.Body, scan}
}

// pair runs a test in a bubble with two replicas and a client for each.
func pair(t *testing.T, options []fake.ReplicaOptions, f func(t *testing.T, srv *fake.Server, a, b guest)) {
	synctest.Test(t, func(t *testing.T) {
		if options == nil {
			options = make([]fake.ReplicaOptions, 2)
		}
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Replicas: options})
		f(t, srv, guest{t, srv, 1, "a"}, guest{t, srv, 2, "b"})
	})
}

// took returns the duration of a call of f.
func took(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

// TestLag checks that a replica that lags responds from its stale cache, waits 3 s for consistent reads, and catches up
// without a gap.
func TestLag(t *testing.T) {
	pair(t, nil, func(t *testing.T, srv *fake.Server, a, b guest) {
		is := is.New(t)
		a.create("old")
		w := b.watch(collection + "?watch=1")
		w.must("ADDED")
		w.must("BOOKMARK")
		secrets := b.watch("/api/v1/secrets?watch=1")
		secrets.must("BOOKMARK")
		srv.Replica(2).Lag("configmaps")
		rev := a.create("new")
		is.Equal(a.names("?resourceVersion=0"), "new old") // the other replica is not affected
		is.Equal(b.names("?resourceVersion=0"), "old")     // the objects in the cache
		code, _ := b.do("GET", collection+"/new", "")
		is.Equal(code, http.StatusOK) // a get reads from the store
		code, _ = b.do("GET", collection+"/new?resourceVersion=0", "")
		is.Equal(code, http.StatusNotFound) // unless the client accepts old data
		is.Equal(took(func() { is.Equal(b.names(""), "new old") }), 3*time.Second)
		is.Equal(took(func() { is.Equal(b.names("?resourceVersion="+rev), "504 Timeout") }), 3*time.Second)
		is.Equal(took(func() { // a watch-list needs the newest state
			failed := b.watch(collection + "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan").must("ERROR")
			is.Equal(failed.String("message"), "Timeout: Too large resource version: "+rev+", current: "+strconv.Itoa(number(t, rev)-1))
		}), 3*time.Second)
		a.do("POST", "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"s"}}`)
		is.Equal(secrets.must("ADDED").Name(), "s") // other resources do not lag
		a.do("DELETE", collection+"/old", "")
		srv.Replica(2).Resume()
		is.Equal(w.must("ADDED").Name(), "new")
		is.Equal(w.must("DELETED").Name(), "old") // in order, each event once
		is.Equal(b.names("?resourceVersion=0"), "new")
	})
}

func number(t *testing.T, rev string) int {
	t.Helper()
	n, err := strconv.Atoi(rev)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestLagEnds checks that a read that waits gets its response as soon as the replica has caught up.
func TestLagEnds(t *testing.T) {
	pair(t, nil, func(t *testing.T, srv *fake.Server, a, b guest) {
		is := is.New(t)
		srv.Replica(2).Lag()
		rev := a.create("a")
		time.AfterFunc(time.Second, func() { srv.Replica(2).Resume() })
		is.Equal(took(func() { is.Equal(b.names("?resourceVersion="+rev), "a") }), time.Second)
	})
}

// TestLagOfDefinitions checks that a replica that lags does not know new custom resources either.
func TestLagOfDefinitions(t *testing.T) {
	pair(t, nil, func(t *testing.T, srv *fake.Server, a, b guest) {
		is := is.New(t)
		srv.Replica(2).Lag()
		code, _ := a.do("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{"metadata":{"name":"widgets.example.com"},
			"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[
			{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`)
		is.Equal(code, http.StatusCreated)
		const widgets = "/apis/example.com/v1/namespaces/default/widgets"
		code, _ = a.do("POST", widgets, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"x":1}}`)
		is.Equal(code, http.StatusCreated)
		res := b.send("GET", widgets, "")
		is.Equal(res.StatusCode, http.StatusNotFound) // not served by this replica yet
		srv.Replica(2).Resume()
		code, list := b.do("GET", widgets+"?resourceVersion=0", "")
		is.Equal(code, http.StatusOK)
		is.Equal(len(list.List("items")), 1)
		code, _ = b.do("PATCH", widgets+"/w", `{"spec":{"y":2}}`)
		is.Equal(code, http.StatusOK)
		code, obj := a.do("GET", widgets+"/w", "")
		is.Equal(code, http.StatusOK)
		is.Equal(len(obj.Map("spec")), 2) // both replicas read and write it
	})
}

// TestCut checks that a replica that cannot reach the store serves only its caches.
func TestCut(t *testing.T) {
	pair(t, nil, func(t *testing.T, srv *fake.Server, a, b guest) {
		is := is.New(t)
		a.create("old")
		w := b.watch(collection + "?watch=1")
		w.must("ADDED")
		w.must("BOOKMARK")
		srv.Replica(2).Cut()
		rev := a.create("new")
		code, failed := b.do("POST", collection, `{"metadata":{"name":"x"}}`)
		is.Equal(code, http.StatusInternalServerError)
		is.Equal(failed.String("message"), "The create operation against configmaps could not be completed at this time, please try again.")
		seconds, _ := failed.Int("details", "retryAfterSeconds")
		is.Equal(seconds, int64(2))
		for _, r := range [][3]string{{"PATCH", "/old", `{"data":{"a":"b"}}`}, {"DELETE", "/old", ""}, {"DELETE", "/new", ""}, {"GET", "/old", ""}, {"GET", "", ""}} {
			code, failed := b.do(r[0], collection+r[1], r[2])
			is.Equal(code, http.StatusInternalServerError)
			is.Equal(failed.String("reason"), "ServerTimeout") // nothing works that needs the store
		}
		code, _ = b.do("POST", collection, `{"metadata":{"name":"X"}}`)
		is.Equal(code, http.StatusUnprocessableEntity)            // an invalid object is rejected as always
		is.Equal(b.names("?resourceVersion=0"), "old")            // reads from the cache still work
		is.Equal(b.names("?resourceVersion="+rev), "504 Timeout") // but do not get newer data
		is.Equal(b.watch(collection+"?watch=1").must("ERROR").String("message"), "Internal error occurred: etcdserver: request timed out")
		srv.Replica(2).Resume()
		is.Equal(w.must("ADDED").Name(), "new") // the watch has continued
		is.Equal(b.names(""), "new old")
		code, _ = b.do("DELETE", collection+"/old", "")
		is.Equal(code, http.StatusOK)
	})
}

// TestRestart checks that Restart ends watches and refills all caches.
func TestRestart(t *testing.T) {
	pair(t, nil, func(t *testing.T, srv *fake.Server, a, b guest) {
		is := is.New(t)
		before := a.create("a")
		w := b.watch(collection + "?watch=1&resourceVersion=" + before)
		srv.Replica(2).Lag()
		a.create("b")
		srv.Replica(2).Restart()
		_, ok := w.next()
		is.True(!ok)
		is.Equal(b.names("?resourceVersion=0"), "a b")
		is.Equal(b.watch(collection+"?watch=1&resourceVersion="+before).must("ERROR").String("reason"), "Expired") // the new cache has no history
		is.Equal(a.watch(collection+"?watch=1&resourceVersion="+before).must("ADDED").Name(), "b")
	})
}

// TestResumeAfterCompaction checks that a replica that missed compacted revisions starts again with empty caches, and
// that its watches end.
func TestResumeAfterCompaction(t *testing.T) {
	for _, resources := range [][]string{nil, {"configmaps"}} {
		pair(t, nil, func(t *testing.T, srv *fake.Server, a, b guest) {
			is := is.New(t)
			a.create("a")
			w := b.watch(collection + "?watch=1&resourceVersion=0")
			w.must("ADDED")
			w.must("BOOKMARK")
			srv.Replica(2).Lag(resources...)
			a.create("b")
			a.create("c")
			srv.Compact()
			srv.Replica(2).Resume()
			_, ok := w.next()
			is.True(!ok)
			is.Equal(b.names("?resourceVersion=0"), "a b c")
		})
	}
}

// TestRoute checks that requests are routed by the prefix of their User-Agent.
func TestRoute(t *testing.T) {
	pair(t, nil, func(t *testing.T, srv *fake.Server, a, _ guest) {
		is := is.New(t)
		srv.Replica(2).Cut()
		client := guest{t, srv, 0, "operator/v1 (linux)"}
		srv.Route("operator", 2)
		srv.Route("operator/v2", 1)
		is.Equal(client.names(""), "500 ServerTimeout")
		client.agent = "operator/v2"
		is.Equal(client.names(""), "")
		client.agent = "other"
		is.Equal(client.names(""), "") // sent to replica 1
	})
}

// TestHold checks that held events are delivered all at once and only to the held client, including those of watches
// that were opened in the meantime.
func TestHold(t *testing.T) {
	pair(t, nil, func(t *testing.T, srv *fake.Server, a, b guest) {
		is := is.New(t)
		early, other := b.watch(collection+"?watch=1&resourceVersion=0"), a.watch(collection+"?watch=1&resourceVersion=0")
		early.must("BOOKMARK")
		other.must("BOOKMARK")
		srv.Hold("b")
		late := b.watch(collection + "?watch=1&resourceVersion=0")
		a.create("a")
		a.create("b")
		is.Equal(other.must("ADDED").Name(), "a")
		time.AfterFunc(time.Minute/2, func() { srv.Release("b") })
		is.Equal(took(func() { early.must("ADDED") }), time.Minute/2)
		early.must("ADDED")
		late.must("BOOKMARK")
		late.must("ADDED")
	})
}

// TestStall checks that a stalled watch delivers nothing until its connection breaks, while CloseWatches ends a watch
// gracefully.
func TestStall(t *testing.T) {
	pair(t, nil, func(t *testing.T, srv *fake.Server, a, b guest) {
		is := is.New(t)
		w := b.watch(collection + "?watch=1&resourceVersion=0")
		w.must("BOOKMARK")
		srv.Replica(2).Stall(45 * time.Second)
		a.create("a")
		is.Equal(took(func() {
			_, err := w.body.Read(make([]byte, 100))
			is.True(errors.Is(err, io.ErrUnexpectedEOF))
		}), 45*time.Second)
		w = b.watch(collection + "?watch=1&resourceVersion=0")
		w.must("ADDED")
		w.must("BOOKMARK")
		srv.Replica(2).CloseWatches()
		_, err := w.body.Read(make([]byte, 100))
		is.Equal(err, io.EOF)
	})
}

// TestRestore checks that a restored store assigns revisions again that it has already used.
func TestRestore(t *testing.T) {
	pair(t, nil, func(t *testing.T, srv *fake.Server, a, b guest) {
		is := is.New(t)
		a.create("a")
		backup := srv.Revision()
		lost := a.create("b")
		is.NoErr(srv.Restore(backup))
		is.Equal(b.names(""), "a")
		is.Equal(b.create("c"), lost) // the revision is now that of another write
		is.True(srv.Restore(backup+100) != nil)
	})
}
