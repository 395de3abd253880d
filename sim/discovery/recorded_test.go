package discovery

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/conformance"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/wire"
)

// server returns the responses of Documents. It encodes a Status like an API server.
type server struct{ *Documents }

func (s server) RoundTrip(r *http.Request) (*http.Response, error) {
	a, ok := s.Serve(Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Header: wire.Header(r.Header)})
	if !ok {
		a = notFound()
	}
	if a.Header == nil {
		a.Header = wire.Header{}
	}
	if a.Header.Get("Cache-Control") == "" {
		a.Header.Set("Cache-Control", "no-cache, private")
	}
	if a.Status != nil {
		f := codec.NegotiateError(r.Header.Get("Accept"), codec.Options{})
		a.Body = codec.Body(a.Status.JSON(), f)
		a.Header.Set("Content-Type", f.ContentType)
	}
	if r.Method == http.MethodHead {
		a.Body = nil
	}
	return &http.Response{
		StatusCode: a.Code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header(a.Header),
		Body: io.NopCloser(bytes.NewReader(a.Body)), ContentLength: int64(len(a.Body)), Request: r,
	}, nil
}

// described reports whether this program contains the descriptions for OpenAPI. A test under js/wasm does not.
func described(t *testing.T) bool {
	_, set := builtins(t)
	return set.Description("io.k8s.api.core.v1.Pod", "") != ""
}

// TestRecorded replays the recordings of a real server's discovery documents.
func TestRecorded(t *testing.T) {
	cases, err := conformance.Cases()
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, c := range cases {
		if c.Area != "discovery" {
			continue
		}
		target := conformance.Target{URL: "http://127.0.0.1:6443", Transport: server{documents(t)}}
		for _, r := range conformance.Run(context.Background(), target, c) {
			ran++
			step := c.Name + " " + r.Name
			if (step == "openapi-v3 policy-schema" || c.Name == "openapi-operations") && !described(t) {
				continue
			}
			if !r.Agrees() {
				t.Errorf("%s: %q", step, r.Differences)
			}
		}
	}
	if ran < 50 {
		t.Errorf("%d steps ran", ran)
	}
}

func TestProtobuf(t *testing.T) {
	d := documents(t)
	for _, c := range []struct{ path, accept string }{
		{"/api", "application/vnd.kubernetes.protobuf"},
		{"/apis", "application/vnd.kubernetes.protobuf"},
		{"/apis/apps", "application/vnd.kubernetes.protobuf"},
		{"/api/v1", "application/vnd.kubernetes.protobuf"},
		{"/apis", "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"},
	} {
		want := body(t, get(t, d, c.path, "Accept", "application/json"+c.accept[len("application/vnd.kubernetes.protobuf"):]))
		got, gvk, err := codec.DecodeProto(get(t, d, c.path, "Accept", c.accept).Body, func(k schema.GVK) *schema.Type {
			if k.Version == "" {
				k.Version = "v1"
			}
			return d.o.Schema.Kind(k)
		})
		if err != nil || gvk.Kind != want.Kind() {
			t.Errorf("%s: %v %v", c.path, gvk, err)
			continue
		}
		if n := len(got.List("groups")) + len(got.List("resources")) + len(got.List("items")) + len(got.List("versions")); n !=
			len(want.List("groups"))+len(want.List("resources"))+len(want.List("items"))+len(want.List("versions")) {
			t.Errorf("%s: %d entries", c.path, n)
		}
	}
}
