package discovery

import (
	"net/url"
	"testing"

	"github.com/kubesim/kubesim/sim/wire"
)

// FuzzServe checks that no path and no header makes Documents panic, and that every response has a Status or a code.
func FuzzServe(f *testing.F) {
	d := documents(f)
	d.o.Table.Add(custom("example.com", "v1", "widgets", "Widget"))
	d.Changed()
	for _, path := range []string{"/", "/api", "/apis//", "/apis/apps/v1/", "/openapi/v3/api/v1?hash=x", "/livez?verbose&exclude=etcd", "/version?pretty=x", "apis", ""} {
		f.Add("GET", path, "application/json;as=APIGroupDiscoveryList;g=apidiscovery.k8s.io;v=v2", "*")
		f.Add("POST", path, "application/yaml;q=0.1, */*", `"x"`)
		f.Add("HEAD", path, "application/vnd.kubernetes.protobuf", "")
	}
	f.Fuzz(func(t *testing.T, method, target, accept, match string) {
		u, err := url.Parse(target)
		if err != nil {
			return
		}
		a, ok := d.Serve(Request{Method: method, Path: u.Path, Query: u.Query(), Header: wire.Header{"Accept": {accept}, "If-None-Match": {match}}})
		if ok && (a.Code == 0 || a.Status != nil && a.Status.Code != a.Code) {
			t.Errorf("%s %s: %+v", method, target, a)
		}
	})
}
