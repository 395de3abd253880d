package record_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/record"
	"github.com/kubesim/kubesim/sim/scenario"
)

// auditLog returns the audit log of a server to which an operator and a user send requests, with a policy of a level.
func auditLog(t *testing.T, level string) string {
	t.Helper()
	is := is.New(t)
	var log bytes.Buffer
	srv, err := fake.New(fake.Options{Audit: fake.AuditOptions{Log: &log, Policy: `{"apiVersion":"audit.k8s.io/v1","kind":"Policy","rules":[{"level":"` + level + `"}]}`}})
	is.NoErr(err)
	defer srv.Close()
	for _, q := range []struct{ agent, method, path, contentType, body string }{
		{"user/1", "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "application/json", widget},
		{"user/1", "POST", "/api/v1/namespaces", "application/json", `{"metadata":{"name":"shop"}}`},
		{"user/1", "POST", "/api/v1/namespaces/shop/secrets", "application/json", `{"metadata":{"name":"s"},"stringData":{"a":"hunter2"}}`},
		{"user/1", "POST", "/apis/example.com/v1/namespaces/shop/widgets", "application/json", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}`},
		{"operator/1", "GET", "/apis/example.com/v1/widgets", "", ""},
		{"operator/1", "POST", "/apis/apps/v1/namespaces/shop/deployments", "application/json", `{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},` +
			`"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`},
		{"controller/1", "PATCH", "/apis/apps/v1/namespaces/shop/deployments/d/status", "application/merge-patch+json", `{"status":{"replicas":1}}`},
		{"operator/1", "PATCH", "/apis/example.com/v1/namespaces/shop/widgets/a?fieldManager=x", "application/merge-patch+json", `{"size":1}`},
		{"operator/1", "PATCH", "/api/v1/namespaces/shop/configmaps/new?fieldManager=x", "application/apply-patch+yaml", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"new"}}`},
		{"user/1", "PATCH", "/apis/apps/v1/namespaces/shop/deployments/d", "application/strategic-merge-patch+json", `{"spec":{"replicas":2}}`},
		{"user/1", "PATCH", "/api/v1/namespaces/shop/configmaps/new", "application/json-patch+json", `[{"op":"add","path":"/data","value":{"a":"b"}}]`},
		{"user/1", "POST", "/api/v1/namespaces/shop/configmaps?dryRun=All", "application/json", `{"metadata":{"name":"dry"}}`},
		{"user/1", "DELETE", "/apis/example.com/v1/namespaces/shop/widgets/a", "", ""},
	} {
		r, err := http.NewRequestWithContext(t.Context(), q.method, srv.URL()+q.path, strings.NewReader(q.body))
		is.NoErr(err)
		r.Header.Set("User-Agent", q.agent)
		r.Header.Set("Content-Type", q.contentType)
		res, err := srv.Transport().RoundTrip(r)
		is.NoErr(err)
		is.NoErr(res.Body.Close())
		is.True(res.StatusCode < 300)
	}
	return log.String()
}

const wantAudit = `# The objects that the client read first.

# The writes of the client and of other clients.
? request POST '/apis/apiextensions.k8s.io/v1/customresourcedefinitions' -f 1.yaml --as others
? request POST '/api/v1/namespaces' -f 2.yaml --as others
? request POST '/api/v1/namespaces/shop/secrets' -f 3.yaml --as others
? request POST '/apis/example.com/v1/namespaces/shop/widgets' -f 4.yaml --as others
? request POST '/apis/apps/v1/namespaces/shop/deployments' -f 5.yaml --as operator
? request PATCH '/apis/apps/v1/namespaces/shop/deployments/d/status' -H 'Content-Type: application/merge-patch+json' -f 6.json --as others
? request PATCH '/apis/example.com/v1/namespaces/shop/widgets/a?fieldManager=x' -H 'Content-Type: application/merge-patch+json' -f 7.json --as operator
? request PATCH '/api/v1/namespaces/shop/configmaps/new?fieldManager=x' -H 'Content-Type: application/apply-patch+yaml' -f 8.json --as operator
? request PATCH '/apis/apps/v1/namespaces/shop/deployments/d' -H 'Content-Type: application/merge-patch+json' -f 9.json --as others
? request PATCH '/api/v1/namespaces/shop/configmaps/new' -H 'Content-Type: application/merge-patch+json' -f 10.json --as others
? request DELETE '/apis/example.com/v1/namespaces/shop/widgets/a' --as others

`

// TestAudit makes scenarios from an audit log: with one client and others, and with all clients.
func TestAudit(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	log := auditLog(t, "RequestResponse")
	_, err := record.Read(strings.NewReader(log))
	is.Equal(err, record.ErrAudit)
	for _, client := range []string{"operator", ""} {
		entries, err := record.ReadAudit(strings.NewReader(log), client)
		is.NoErr(err)
		text, err := record.Scenario(entries)
		is.NoErr(err)
		is.True(!strings.Contains(text, "hunter2") && !strings.Contains(text, "aHVudGVyMg=="))
		if script, _, _ := strings.Cut(text, "-- 1.yaml --"); client != "" {
			_, script, _ = strings.Cut(script, "\n\n")
			is.Equal(script, wantAudit)
		}
		f, err := scenario.ParseFile([]byte(text))
		is.NoErr(err)
		out, err := scenario.Run(f, scenario.RunOptions{})
		is.NoErr(err)
		is.Equal(out.Failure, nil)
		if strings.Contains(out.Transcript, " → 4") {
			t.Error(out.Transcript) // a write is refused
		}
		is.Equal(strings.Count(out.Transcript, " → 20"), map[string]int{"operator": 11, "": 11}[client])
	}
	_, err = record.ReadAudit(strings.NewReader(log), "nothing")
	is.Equal(err.Error(), `it has no requests of a client "nothing": its clients are user (kubernetes-admin), operator (kubernetes-admin), controller (kubernetes-admin)`)
	_, err = record.ReadAudit(strings.NewReader(auditLog(t, "Metadata")), "operator")
	is.Equal(err.Error(), "it has no requests with their answers: the audit policy must log them at level RequestResponse")
	_, err = record.ReadAudit(strings.NewReader("{}\nx\n"), "")
	is.Equal(err.Error(), "line 2: it is not an event of an audit log: invalid character 'x' looking for beginning of value")
}

// FuzzStory checks that any recording or audit log becomes a scenario that can be parsed, or is refused.
func FuzzStory(f *testing.F) {
	f.Add(`{"at":"2026-01-01T00:00:00Z","id":1,"request":{"method":"PUT","url":"/api/v1/namespaces/a/pods/b","body":{"json":{}}}}` + "\n" +
		`{"at":"2026-01-01T00:00:00Z","id":1,"answer":{"code":200,"body":{"json":{"kind":"Pod","metadata":{"name":"b","namespace":"a","resourceVersion":"1"}}}}}`)
	f.Add(`{"apiVersion":"audit.k8s.io/v1","stage":"ResponseComplete","verb":"delete","requestURI":"/api/v1/namespaces/a/pods/b","responseStatus":{"code":200},` +
		`"responseObject":{"kind":"Pod","metadata":{"name":"b","finalizers":["c"]}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := record.Read(strings.NewReader(text))
		if err == record.ErrAudit {
			entries, err = record.ReadAudit(strings.NewReader(text), "")
		}
		if err != nil {
			return
		}
		if _, err := record.NewStory(record.Reduce(entries)); err != nil && len(record.Reduce(entries)) > 0 {
			t.Log(err) // a URL that cannot be parsed
		}
		_, _ = record.Scenario(entries) // it must not panic
	})
}
