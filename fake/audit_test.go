package fake_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/auth"
)

// auditRequest is a line of testdata/audit/*.requests.jsonl.
type auditRequest struct {
	Method      string            `json:"m"`
	Path        string            `json:"p"`
	Body        json.RawMessage   `json:"b"` // a string is sent as it is
	ContentType string            `json:"ct"`
	Token       *string           `json:"t"` // the default is the administrator's
	Header      map[string]string `json:"h"`
}

// send sends the request and reads the response, except that of a watch.
func (q *auditRequest) send(t *testing.T, srv *fake.Server) {
	t.Helper()
	body := []byte(q.Body)
	var text string
	if json.Unmarshal(q.Body, &text) == nil {
		body = []byte(text)
	}
	r, err := http.NewRequest(q.Method, srv.URL()+q.Path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("User-Agent", "recorder/1.0")
	if q.Body == nil {
		r.Body, r.ContentLength = nil, 0
	} else if r.Header.Set("Content-Type", "application/json"); q.ContentType != "" {
		r.Header.Set("Content-Type", q.ContentType)
	}
	if token := "admintoken"; q.Token == nil || *q.Token != "" {
		if q.Token != nil {
			token = *q.Token
		}
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for name, value := range q.Header {
		r.Header.Set(name, value)
	}
	res, err := srv.Transport().RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(q.Path, "watch=") {
		_, _ = io.Copy(io.Discard, res.Body)
	}
	res.Body.Close()
}

// varying matches the parts of events that differ between two runs.
var varying = []struct {
	re *regexp.Regexp
	to string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`"resourceVersion":"\d\d+"|in record \(\d+\)`), "REVISION"},
	{regexp.MustCompile(`a-[a-z0-9]{5}\b`), "a-NAME"},
	{regexp.MustCompile(`ey[\w-]+\.[\w-]+\.[\w-]+`), "TOKEN"},
	{regexp.MustCompile(`"cells":\["a",1,"[^"]*"\]`), "CELLS"},
	{regexp.MustCompile(`10\.0\.0\.\d+`), "ADDRESS"},
	{regexp.MustCompile(`"sourceIPs":\["127.0.0.1"\],`), ""}, // requests in process have no address
}

func withoutVarying(line string) string {
	for _, v := range varying {
		line = v.re.ReplaceAllString(line, v.to)
	}
	return line
}

// TestAuditLog sends the requests that were recorded with a real kube-apiserver v1.36.3 and its --audit-policy-file, and compares the
// events.
func TestAuditLog(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"verbs", "admission"} {
		t.Run(name, func(t *testing.T) { testAuditLog(t, "testdata/audit/"+name) })
	}
}

func testAuditLog(t *testing.T, recorded string) {
	t.Parallel()
	var log bytes.Buffer
	srv := fake.RunT(t, fake.Options{Auth: auth.RBAC, Metrics: true, Audit: fake.AuditOptions{PolicyFile: "testdata/audit/policy.yaml", Log: &log}})
	srv.Admit("a.x.io", func(review map[string]any) map[string]any {
		return map[string]any{"response": map[string]any{"allowed": true, "auditAnnotations": map[string]any{"note": "seen", "z": "1"},
			"patchType": "JSONPatch", "patch": base64.StdEncoding.EncodeToString([]byte(`[{"op": "add", "path": "/metadata/labels", "value": {"m": "<1>"}}]`))}}
	})
	srv.Admit("c.x.io", func(map[string]any) map[string]any {
		return map[string]any{"response": map[string]any{"allowed": true, "auditAnnotations": map[string]any{"note": "seen", "z": "1"}}}
	})
	for line := range strings.Lines(readText(t, recorded+".requests.jsonl")) {
		var q auditRequest
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			t.Fatal(err)
		}
		q.send(t, srv)
	}
	want := strings.Split(readText(t, recorded+".events.jsonl"), "\n")
	have := strings.Split(log.String(), "\n")
	checkMetrics(t, srv, recorded+".metrics.txt")
	for i := range max(len(want), len(have)) {
		if i >= len(want) || i >= len(have) {
			t.Fatalf("%d events, want %d", len(have), len(want))
		}
		if w, h := withoutVarying(want[i]), withoutVarying(have[i]); w != h {
			t.Errorf("event %d:\nwant %s\nhave %s", i, w, h)
		}
	}
}

// checkMetrics compares the numbers of requests for some resources with those of kube-apiserver v1.36.3 after the same requests.
func checkMetrics(t *testing.T, srv *fake.Server, recorded string) {
	t.Helper()
	want, err := os.ReadFile(recorded)
	if os.IsNotExist(err) {
		return // the requests of the other recording are of the same kinds
	}
	res, err := (&http.Client{Transport: srv.As("admin", "system:masters").Transport()}).Get(srv.URL() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	have := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		have[line] = true
	}
	for line := range strings.Lines(string(want)) {
		if !have[line] {
			t.Errorf("there is no line %s", line)
		}
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAuditFile checks that a server appends to its file, and that a fork writes nothing.
func TestAuditFile(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "new", "audit.log")
	o := fake.Options{Audit: fake.AuditOptions{LogPath: path, LogFormat: "legacy",
		Policy: `{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [{"level": "Metadata"}]}`}}
	for range 2 {
		srv, err := fake.New(o)
		is.NoErr(err)
		(&auditRequest{Method: "GET", Path: "/version"}).send(t, srv)
		fork := srv.Fork()
		(&auditRequest{Method: "GET", Path: "/version"}).send(t, fork)
		fork.Close()
		srv.Close()
	}
	is.Equal(len(strings.Split(strings.TrimSpace(readText(t, path)), "\n")), 2)
	is.True(strings.HasPrefix(readText(t, path), "2026-01-01T00:00:00Z AUDIT: id="))
	_, err := fake.New(fake.Options{Audit: fake.AuditOptions{PolicyFile: "none.yaml"}})
	is.True(err != nil)
	is.Equal(err.Error(), `kubesim: loading audit policy file: failed to read file path "none.yaml": open none.yaml: no such file or directory`)
}
