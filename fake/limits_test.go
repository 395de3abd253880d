package fake_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// TestNotSimulated checks that the behaviour that sim/COVERAGE.md lists as not simulated is indeed not simulated.
func TestNotSimulated(t *testing.T) {
	t.Parallel()
	const pods = "/api/v1/namespaces/default/pods"
	for _, c := range []struct {
		name string
		run  func(is *is.I, c client)
	}{
		{"there is no kubelet: log, exec, attach, port-forward and proxy say so", func(is *is.I, c client) {
			c.must("POST", "/api/v1/nodes", `{"metadata":{"name":"n"}}`)
			c.must("PUT", "/api/v1/nodes/n/status", `{"metadata":{"name":"n"},"status":{"addresses":[{"type":"InternalIP","address":"10.1.0.1"}]}}`)
			c.must("POST", pods, `{"metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}`)
			c.must("PUT", pods+"/p/status", `{"metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]},"status":{"podIP":"10.1.0.2","podIPs":[{"ip":"10.1.0.2"}]}}`)
			for _, sub := range []string{"log", "exec", "attach", "portforward", "proxy"} {
				code, body := c.do("GET", pods+"/p/"+sub, "")
				is.Equal(code, http.StatusNotImplemented)
				is.True(strings.Contains(body, "kubesim does not simulate pods/"+sub))
			}
		}},
		{"there are no controllers: no pods for a ReplicaSet", func(is *is.I, c client) {
			code, _ := c.do("POST", "/apis/apps/v1/namespaces/default/replicasets", `{"metadata":{"name":"r"},"spec":{"replicas":2,
				"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
			is.Equal(code, http.StatusCreated)
			c.srv.Clock.Advance(24 * time.Hour)
			_, body := c.do("GET", pods, "")
			is.Equal(len(c.parse(body).List("items")), 0)
		}},
		{"nor a garbage collector: what a deleted owner owned stays", func(is *is.I, c client) {
			owner := c.create("owner")
			code, _ := c.do("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"owned","ownerReferences":[
				{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"`+owner.UID()+`"}]}}`)
			is.Equal(code, http.StatusCreated)
			code, _ = c.do("DELETE", "/api/v1/namespaces/default/configmaps/owner", "")
			is.Equal(code, http.StatusOK)
			c.srv.Clock.Advance(24 * time.Hour)
			code, _ = c.do("GET", "/api/v1/namespaces/default/configmaps/owned", "")
			is.Equal(code, http.StatusOK)
		}},
		{"nor the one of namespaces: a deleted namespace stays Terminating", func(is *is.I, c client) {
			code, _ := c.do("POST", "/api/v1/namespaces", `{"metadata":{"name":"n"}}`)
			is.Equal(code, http.StatusCreated)
			code, _ = c.do("DELETE", "/api/v1/namespaces/n", "")
			is.Equal(code, http.StatusOK)
			c.srv.Clock.Advance(24 * time.Hour)
			_, body := c.do("GET", "/api/v1/namespaces/n", "")
			is.Equal(c.parse(body).String("status", "phase"), "Terminating")
		}},
		{"what controllers make in a fresh cluster is missing: service accounts and the certificate of the cluster", func(is *is.I, c client) {
			for _, path := range []string{"/api/v1/namespaces/default/serviceaccounts", "/api/v1/namespaces/default/configmaps"} {
				_, body := c.do("GET", path, "")
				is.Equal(len(c.parse(body).List("items")), 0) // no object at this path
			}
		}},
		{"CBOR, a feature gate of the real server, is off", func(is *is.I, c client) {
			r, err := http.NewRequest("GET", c.srv.URL()+pods, nil)
			is.NoErr(err)
			r.Header.Set("Accept", "application/cbor")
			res, err := c.srv.Transport().RoundTrip(r)
			is.NoErr(err)
			is.Equal(res.StatusCode, http.StatusNotAcceptable)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(is.New(t), client{t, fake.RunT(t)})
		})
	}
}

// TestDeletingInNoNamespace checks that a path with an empty namespace means all namespaces, except that deleting the
// collection fails if it contains an object, because the path does not give the object's namespace.
func TestDeletingInNoNamespace(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := client{t, fake.RunT(t, fake.Options{Bare: true})}
	code, body := c.do("DELETE", "/api/v1/namespaces//configmaps", "")
	is.Equal(code, http.StatusOK) // there is no object
	is.Equal(c.parse(body).Kind(), "ConfigMapList")
	code, _ = c.do("POST", configMaps, `{"metadata":{"name":"a"}}`)
	is.Equal(code, http.StatusCreated)
	code, body = c.do("DELETE", "/api/v1/namespaces//configmaps", "")
	is.Equal(code, http.StatusBadRequest)
	is.Equal(c.parse(body).String("message"), "Namespace parameter required.")
	code, _ = c.do("GET", configMaps+"/a", "")
	is.Equal(code, http.StatusOK) // the object still exists
}
