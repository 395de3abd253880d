package dropin

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake/grpc"
)

// etcdctl is a client of an etcd at a URL.
type etcdctl struct {
	t    *testing.T
	url  string
	http *http.Client
}

func newEtcdctl(t *testing.T, url string) etcdctl {
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	return etcdctl{t, url, &http.Client{Transport: transport}}
}

// call returns the response, or the text of the status if the call fails. The fields of the request are numbered from 1.
func (c etcdctl) call(method string, fields ...string) string {
	c.t.Helper()
	request := ""
	for i, value := range fields {
		request += string([]byte{byte(i+1)<<3 | 2, byte(len(value))}) + value // protobuf; values are short
	}
	res, err := c.http.Post(c.url+"/etcdserverpb.KV/"+method, "application/grpc", strings.NewReader(string(grpc.Frame([]byte(request)))))
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if status := res.Trailer.Get("Grpc-Status"); status != "0" {
		text, err := url.PathUnescape(res.Trailer.Get("Grpc-Message"))
		if err != nil {
			c.t.Fatal(err)
		}
		return status + " " + text
	}
	return string(body)
}

// TestEtcdClients checks that clients of etcd read and write the data of two API servers with different prefixes, and that an API
// server continues with earlier writes.
func TestEtcdClients(t *testing.T) {
	is := is.New(t)
	etcd, start := pair(t)
	c := newEtcdctl(t, etcd.url())
	const object = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default"}}`
	get(t, c.url+"/health")
	c.call("Put", "/abc/configmaps/default/a", object)
	c.call("Put", "/foo", "bar")
	is.True(strings.Contains(c.call("Range", "/abc/configmaps/default/a"), object)) // as it was written

	first, firstURL := start()
	second, secondURL := start("--etcd-prefix=abc")
	code, _ := get(t, firstURL+"/api/v1/namespaces/default/configmaps/a")
	is.Equal(code, 404)
	code, _ = get(t, secondURL+"/api/v1/namespaces/default/configmaps/a")
	is.Equal(code, 200)
	is.True(strings.Contains(c.call("Range", "/abc/configmaps/default/a"), "k8s\x00"))
	is.True(strings.Contains(c.call("Range", "/registry/namespaces/default"), "k8s\x00"))
	is.True(strings.Contains(c.call("Range", "/foo"), "bar"))
	is.Equal(c.call("Range", "/", "0"), "14 kubesim's etcd: the range has keys of several API servers")
	c.call("Put", "/registry/configmaps/default/a", object)
	code, _ = get(t, firstURL+"/api/v1/namespaces/default/configmaps/a")
	is.Equal(code, 200)
	second.stop()
	is.Equal(c.call("Range", "/abc/", "/abc0"), "14 kubesim's etcd: no API server runs over the keys below /abc")

	c.call("DeleteRange", "/abc/", "/abc0") // removes its data
	again, secondURL := start("--etcd-prefix=/abc/")
	code, _ = get(t, secondURL+"/api/v1/namespaces/default/configmaps/a")
	is.Equal(code, 404)
	again.stop()
	first.stop()
}

// TestEtcdClientsOfEndingServer checks that a call which comes after an API server has closed its listener, and before etcd knows that
// it has ended, gets the answer of etcd without the API server.
func TestEtcdClientsOfEndingServer(t *testing.T) {
	is := is.New(t)
	etcd, _ := pair(t)
	get(t, etcd.url()+"/health")
	closed := httptest.NewServer(nil)
	closed.Close()
	ctx, end := context.WithCancel(t.Context())
	query := url.Values{"prefix": {"abc"}, "keys": {closed.URL}, "server": {"{}"}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, etcd.url()+joinPath+"?"+query.Encode(), nil)
	is.NoErr(err)
	r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {protocol}}
	res, err := (&http.Client{Transport: &http.Transport{}}).Do(r)
	is.NoErr(err)
	defer res.Body.Close()
	time.AfterFunc(50*time.Millisecond, func() { end(); res.Body.Close() })
	is.Equal(newEtcdctl(t, etcd.url()).call("Range", "/abc/", "/abc0"), "14 kubesim's etcd: no API server runs over the keys below /abc")
}

// TestNoWatchCache checks that the limit of a list counts for any revision without watch caches.
func TestNoWatchCache(t *testing.T) {
	is := is.New(t)
	_, start := pair(t)
	p, url := start("--watch-cache=false")
	_, body := get(t, url+"/api/v1/namespaces?limit=1&resourceVersion=0")
	is.Equal(strings.Count(body, `"uid"`), 1)
	is.True(strings.Contains(body, `"continue"`))
	p.stop()
}

// TestSpaces checks which prefixes an etcd finds in its folder.
func TestSpaces(t *testing.T) {
	is, dir := is.New(t), t.TempDir()
	s := newSpaces(dir)
	is.Equal(s.space("registry").dir, dir)
	is.Equal(s.space("/a/b/").dir, filepath.Join(dir, "prefixes", "a%2Fb"))
	is.Equal(s.space("/a/b"), s.space("a/b"))
}
