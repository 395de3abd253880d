package apiserver_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/flowcontrol"
)

// TestPaths sends paths that do not match for several reasons. The client gets the first error: the group, version, resource and
// subresource are looked up in turn, and then the method. Some errors are in plain text, from handlers without Status objects.
func TestPaths(t *testing.T) {
	t.Parallel()
	const (
		unknown  = "the server could not find the requested resource"
		unmarked = "404 page not found\n"
		method   = "the server does not allow this method on the requested resource"
		custom   = "/apis/example.com/v1/namespaces/NAMESPACE/widgets"
	)
	for _, c := range []struct {
		method, path string
		code         int
		want         string // the message, or the plain text
	}{
		{"GET", "/apis/nothing.example.org/v1/namespaces/NAMESPACE/things", 404, unmarked},
		{"GET", "/apis/apps/v9/namespaces/NAMESPACE/deployments", 404, unknown},
		{"GET", "/apis/example.com/v9/namespaces/NAMESPACE/widgets", 404, unmarked},
		{"GET", "/apis/example.com/v1/namespaces/NAMESPACE/things", 404, unmarked},
		{"GET", "/apis/example.com/v1/widgets/a", 404, unmarked},
		{"GET", custom + "/a/nothing", 404, `widgets.example.com "a" not found`},
		{"DELETE", custom + "/a/nothing", 404, `widgets.example.com "a" not found`},
		{"DELETE", custom + "/a/status", 405, `delete is not supported on resources of kind "widgets.example.com"`},
		{"POST", "/apis/authorization.k8s.io/v1/localsubjectaccessreviews", 404, unknown}, // this resource has no list
		{"POST", "/api/v1/configmaps", 405, method},
		{"POST", "/api/v1/namespaces/NAMESPACE/configmaps/a", 405, method},
		{"POST", "/api/v1/watch/namespaces/NAMESPACE/configmaps", 405, method},
		{"POST", "/api/v1/watch/namespaces/NAMESPACE/bindings", 404, unknown}, // this resource has no watch
		{"GET", "/api/v1/watch/namespaces/NAMESPACE/pods/a/status", 404, unknown},
		{"HEAD", "/api/v1/namespaces/NAMESPACE/pods/a/proxy", 404, ""}, // a HEAD is treated like a GET
	} {
		x := newTrial(t, request{c.method, c.path, ""})
		if a := x.send(x); a.code != c.code || message(a.body) != c.want {
			t.Errorf("%s %s: the client reads %d %s, want %d %s", c.method, c.path, a.code, message(a.body), c.code, c.want)
		}
	}
	x := newTrial(t, request{"GET", "/apis/apps/v1", ""})
	is.New(t).Equal(x.send(x).code, 200) // a discovery document is not an API object
}

// Every error is in the encoding that the client accepts, whichever handler creates it.
func TestErrorsAreEncoded(t *testing.T) {
	t.Parallel()
	for _, s := range append(arrival, timeout, missing, number) {
		is := is.New(t)
		x := newTrial(t, request{"GET", "configmaps/a", ""})
		x.header.Set("Accept", "application/yaml")
		s.fail(x)
		a := x.send(x)
		is.Equal(a.code, s.code)
		is.Equal(a.header.Get("Content-Type"), "application/yaml")
		is.True(strings.HasPrefix(a.body, "apiVersion: v1\ncode: "))
	}
}

// The headers of a response depend on the last step that a request reached: the filter that sets Cache-Control, priority and
// fairness, authorization, or a resource.
func TestHeadersInOrder(t *testing.T) {
	t.Parallel()
	const cache, flow, sniff, warning = "Cache-Control", flowcontrol.SchemaHeader, "X-Content-Type-Options", "Warning"
	for _, c := range []struct {
		name string
		path string
		fail func(*trial)
		code int
		want []string
	}{
		{"the path cannot be read", "/api/v1/watch", func(x *trial) { x.query.Set("timeout", "x") }, 500, []string{sniff}},
		{"nobody is known", "endpoints", arrival[0].fail, 401, []string{cache}},
		{"nobody may be another", "endpoints", arrival[1].fail, 403, []string{cache, sniff}},
		{"they may not", "endpoints", arrival[2].fail, 403, []string{cache, flow, sniff}},
		{"a deprecated resource", "endpoints", func(*trial) {}, 200, []string{cache, flow, warning}},
		{"one that is not there", "endpoints/a", func(*trial) {}, 404, []string{cache, flow, warning}},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			x := newTrial(t, request{"GET", c.path, ""})
			c.fail(x)
			a := x.send(x)
			is.Equal(a.code, c.code)
			var got []string
			for _, name := range []string{cache, flow, sniff, warning} {
				if len(a.header.Values(name)) > 0 {
					got = append(got, name)
				}
			}
			is.Equal(got, c.want) // the header is as expected
		})
	}
}
