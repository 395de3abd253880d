package etcd

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/kubesim/kubesim/fake/grpc"
)

// etcdctl is a client of gRPC.
type etcdctl struct {
	t    *testing.T
	url  string
	http *http.Client
}

// serve serves a Service over HTTP/2 without TLS.
func serve(t *testing.T, s *Service) etcdctl {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: s, Protocols: new(http.Protocols)}
	server.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = server.Serve(l) }() // until Close
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
	})
	return etcdctl{t, "http://" + l.Addr().String(), &http.Client{Transport: transport}}
}

// begin begins a call whose request is read from body.
func (c etcdctl) begin(path string, body io.Reader) *http.Response {
	c.t.Helper()
	res, err := c.http.Post(c.url+"/etcdserverpb."+path, "application/grpc", body)
	if err != nil {
		c.t.Fatal(err)
	}
	return res
}

// call sends a request and returns the response, or the text of the status if the call fails.
func (c etcdctl) call(path string, request *builder) (message, string) {
	c.t.Helper()
	res := c.begin(path, bytes.NewReader(grpc.Frame(request.Bytes)))
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if text := res.Trailer.Get("Grpc-Message"); res.Trailer.Get("Grpc-Status") != "0" {
		text, err = url.PathUnescape(text)
		if err != nil || text == "" {
			c.t.Fatalf("%s: status %q %q", path, res.Trailer.Get("Grpc-Status"), text)
		}
		return message{}, text
	}
	in, err := grpc.Receive(bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	m, err := grpc.Parse(in)
	if err != nil {
		c.t.Fatal(err)
	}
	return m, ""
}

// must is call for a request that succeeds.
func (c etcdctl) must(path string, request *builder) message {
	c.t.Helper()
	m, failure := c.call(path, request)
	if failure != "" {
		c.t.Fatalf("%s: %s", path, failure)
	}
	return m
}

func (c etcdctl) put(key, value string) int64 {
	c.t.Helper()
	return revision(c.must("KV/Put", new(builder).Text(1, key).Text(2, value)))
}

// get returns the keys and values of a range.
func (c etcdctl) get(request *builder) (list string) {
	c.t.Helper()
	m, failure := c.call("KV/Range", request)
	if failure != "" {
		return failure
	}
	return pairs(c.t, m, 2)
}

// pairs returns the keys and values in a field as KEY=VALUE.
func pairs(t *testing.T, m message, field fieldNumber) string {
	t.Helper()
	kvs, err := m.Messages(field)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, kv := range kvs {
		all = append(all, kv.Text(1)+"="+kv.Text(5))
	}
	return strings.Join(all, " ")
}

// revision returns the revision in the header of a response.
func revision(m message) int64 {
	header, err := m.Inner(1)
	if err != nil {
		return -1
	}
	return header.Number(3)
}

// from returns a request for a key, or for the keys of a range.
func from(key, end string) *builder { return new(builder).Text(1, key).Text(2, end) }

// a watching is an open call of Watch.
type watching struct {
	t        *testing.T
	requests *io.PipeWriter
	body     io.ReadCloser
}

// watch begins a stream of watches.
func (c etcdctl) watch(first *builder) *watching {
	c.t.Helper()
	in, out := io.Pipe()
	w := &watching{t: c.t, requests: out}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		w.send(first)
	}()
	w.body = c.begin("Watch/Watch", in).Body
	<-sent
	c.t.Cleanup(func() {
		out.Close()
		w.body.Close()
	})
	return w
}

func (w *watching) send(request *builder) {
	if _, err := w.requests.Write(grpc.Frame(request.Bytes)); err != nil {
		w.t.Error(err)
	}
}

// next returns the next response.
func (w *watching) next() message {
	w.t.Helper()
	in, err := grpc.Receive(w.body)
	if err != nil {
		w.t.Fatal(err)
	}
	m, err := grpc.Parse(in)
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}
