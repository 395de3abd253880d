package kubectl_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/dump"
	"github.com/kubesim/kubesim/fake/kubectl"
)

// exported is a server that records the requests it receives.
type exported struct {
	*fake.Server
	mu    sync.Mutex
	asked []string
}

// ServeHTTP implements http.Handler. It responds with 403 to requests for limit ranges.
func (e *exported) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	e.mu.Lock()
	e.asked = append(e.asked, q.Method+" "+q.URL.String())
	e.mu.Unlock()
	if q.URL.Path == "/api/v1/limitranges" {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"limitranges is forbidden","code":403}`)
		return
	}
	e.Handler().ServeHTTP(w, q)
}

// export reads all objects of the server.
func (e *exported) export(t *testing.T, of kubectl.Exported) *dump.Dump {
	t.Helper()
	is := is.New(t)
	server := httptest.NewServer(e)
	defer server.Close()
	target, err := kubectl.Load([]string{"--server=" + server.URL}, func(string) string { return "" })
	is.NoErr(err)
	d := &dump.Dump{}
	is.NoErr(target.Export(t.Context(), of, d))
	return d
}

// TestExportOnlyReads checks that an export sends only GET requests, that all lists have one revision, that it leaves out Secrets, and
// that it reports forbidden resources.
func TestExportOnlyReads(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv, err := fake.New()
	is.NoErr(err)
	defer srv.Close()
	is.NoErr(srv.LoadData([]byte(strings.Repeat("---\nkind: ConfigMap\napiVersion: v1\nmetadata: {generateName: c-}\n", 600) +
		"---\nkind: Secret\napiVersion: v1\nmetadata: {name: s}\n")))
	e := &exported{Server: srv}
	d := e.export(t, kubectl.Exported{})
	count := map[string]int{}
	for _, o := range d.Objects {
		kind, _, _ := strings.Cut(o.Name, " ")
		count[kind]++
	}
	is.True(count["ConfigMap"] >= 600)
	is.Equal(count["Secret"], 0)
	is.Equal(len(d.Skipped), 1)
	is.Equal(d.Skipped[0].Reason, "limitranges is forbidden")
	exact := 0
	for _, q := range e.asked {
		is.True(strings.HasPrefix(q, "GET "))
		if strings.Contains(q, "resourceVersionMatch=Exact") {
			exact++
		}
	}
	is.True(exact > 40) // all lists but the first one

	is.Equal(len(e.export(t, kubectl.Exported{Resources: []string{"secrets"}}).Objects), 1) // it is named
}
