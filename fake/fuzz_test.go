package fake_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/kubesim/kubesim/fake"
)

// FuzzHandler sends arbitrary requests to a server, which must respond with a status code and never panic.
func FuzzHandler(f *testing.F) {
	for _, seed := range []struct{ method, target, accept, contentType, body string }{
		{"GET", "/api/v1/pods?limit=1&continue=abc", "", "", ""},
		{"GET", "/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=1", "application/json;as=Table;v=v1;g=meta.k8s.io", "", ""},
		{"POST", "/api/v1/namespaces/default/pods", "application/yaml", "application/json", `{"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1"}}}]}}`},
		{"POST", "/apis/apps/v1/namespaces/default/deployments?dryRun=All", "", "application/yaml", "metadata:\n  name: d\n"},
		{"PATCH", "/api/v1/namespaces/default", "", "application/strategic-merge-patch+json", `{"metadata":{"labels":{"a":null}}}`},
		{"PATCH", "/api/v1/namespaces/default", "", "application/json-patch+json", `[{"op":"add","path":"/metadata/labels/x","value":"y"}]`},
		{"PATCH", "/api/v1/namespaces/default/configmaps/a?fieldManager=m", "", "application/apply-patch+yaml", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`},
		{"PUT", "/api/v1/namespaces/default", "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf", "k8s\x00\n\x00"},
		{"DELETE", "/api/v1/namespaces/default/configmaps?labelSelector=a", "", "application/json", `{"kind":"DeleteOptions","apiVersion":"v1"}`},
		{"GET", "//apis//", "*/*;q=0", "", ""},
		{"GET", "/openapi/v3/apis/apps/v1?hash=x", "", "", ""},
	} {
		f.Add(seed.method, seed.target, seed.accept, seed.contentType, []byte(seed.body))
	}
	f.Fuzz(func(t *testing.T, method, target, accept, contentType string, body []byte) {
		srv := fake.RunT(t)
		u, err := url.ParseRequestURI(target)
		if err != nil || !strings.HasPrefix(target, "/") || strings.HasPrefix(target, "/sim/") {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, method, srv.URL(), strings.NewReader(string(body)))
		if err != nil {
			return
		}
		r.URL = u
		r.URL.Scheme, r.URL.Host = "http", "kubesim.invalid"
		r.Header.Set("Accept", accept)
		r.Header.Set("Content-Type", contentType)
		go advance(ctx, srv)
		res, err := srv.Transport().RoundTrip(r)
		if err != nil {
			return
		}
		defer res.Body.Close()
		if res.StatusCode < 100 || res.StatusCode > 599 {
			t.Fatalf("%s %s: status %d", method, target, res.StatusCode)
		}
		_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<16))
	})
}

// advance advances the clock until the request is done, so that nothing waits forever.
func advance(ctx context.Context, srv *fake.Server) {
	for ctx.Err() == nil {
		if !srv.Clock.Step() {
			srv.Clock.Advance(time.Second)
		}
	}
}
