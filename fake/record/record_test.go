package record_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/record"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// client sends requests like a client of client-go that prefers protobuf.
type client struct {
	base      string
	transport http.RoundTripper
}

func (c *client) do(ctx context.Context, method, path, contentType, body string) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, method, c.base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Accept", "application/vnd.kubernetes.protobuf,application/json")
	q.Header.Set("Authorization", "Bearer top-secret")
	if contentType != "" {
		q.Header.Set("Content-Type", contentType)
	}
	return c.transport.RoundTrip(q)
}

// text sends a request and returns the body of the response.
func (c *client) text(method, path, contentType, body string) (string, error) {
	a, err := c.do(context.Background(), method, path, contentType, body)
	if err != nil {
		return "", err
	}
	defer a.Body.Close()
	data, err := io.ReadAll(a.Body)
	return string(data), err
}

// operate lists Secrets, watches them from the revision of the list, and writes secret values in several formats and data to a
// ConfigMap. It returns when the watch has delivered a change.
func (c *client) operate(data string) error {
	const secrets = "/api/v1/namespaces/default/secrets"
	list, err := c.text("GET", secrets+"?limit=500&resourceVersion=0", "", "")
	if err != nil {
		return err
	}
	obj, err := object.Parse([]byte(list))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w, err := c.do(ctx, "GET", secrets+"?watch=true&timeoutSeconds=300&resourceVersion="+obj.ResourceVersion(), "", "")
	if err != nil {
		return err
	}
	defer w.Body.Close()
	set, err := schema.Load(schema.Default)
	if err != nil {
		return err
	}
	kind := schema.GVK{Version: "v1", Kind: "Secret"}
	proto := codec.AppendEnvelope(nil, kind, codec.AppendProto(nil, object.Object{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "b"},
		"data": map[string]any{"a": "aHVudGVyMg=="}}, set.Kind(kind)))
	for _, q := range []struct{ method, path, contentType, body string }{
		{"POST", secrets, "application/json", `{"metadata":{"name":"a","annotations":{"kubectl.kubernetes.io/last-applied-configuration":` +
			`"{\"kind\":\"Secret\",\"stringData\":{\"a\":\"hunter2\"}}"}},"stringData":{"a":"hunter2"}}`},
		{"POST", secrets, "application/vnd.kubernetes.protobuf", string(proto)},
		{"PATCH", secrets + "/a", "application/json-patch+json", `[{"op":"add","path":"/data/b","value":"aHVudGVyMg=="}]`},
		{"PATCH", secrets + "/a?fieldManager=x&force=true", "application/apply-patch+yaml", "apiVersion: v1\nkind: Secret\nstringData: {c: hunter2}\n"},
		{"PATCH", secrets + "/a", "application/merge-patch+json", `{"stringData":{"d":"hunter2"}}`},
		{"POST", "/api/v1/namespaces/default/serviceaccounts", "application/json", `{"metadata":{"name":"op"}}`},
		{"POST", "/api/v1/namespaces/default/serviceaccounts/op/token", "application/json", `{"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","spec":{}}`},
		{"POST", "/api/v1/namespaces/default/configmaps", "application/json", `{"metadata":{"name":"a"},"data":{"a":"` + data + `"}}`},
		{"GET", secrets + "/a", "", ""},
		{"GET", "/api/v1/nodes", "", ""},
	} {
		if _, err := c.text(q.method, q.path, q.contentType, q.body); err != nil {
			return err
		}
	}
	for events := bufio.NewScanner(w.Body); events.Scan(); {
		if strings.Contains(events.Text(), `"MODIFIED"`) {
			return nil
		}
	}
	return errors.New("the watch has ended without the event")
}

// recording returns the recording of operate on a new server.
func recording(t *testing.T) []byte {
	t.Helper()
	srv, err := fake.New(fake.Options{Clock: clock.System{}})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	var file bytes.Buffer
	c := &client{srv.URL(), record.Wrap(srv.Transport(), &file)}
	if err := c.operate("x"); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// TestRedacted checks that a recording contains everything except secret values and credentials.
func TestRedacted(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	text := string(recording(t))
	for _, secret := range []string{"hunter2", "aHVudGVyMg==", "top-secret", "eyJ"} {
		is.True(!strings.Contains(text, secret)) // the recording has no secret
	}
	for _, part := range []string{"redacted-", `{"stringData":{"d":"redacted-`, `"type":"ADDED"`, `"resourceVersion"`, "/api/v1/nodes", "NodeList", `"name":"b"`} {
		is.True(strings.Contains(text, part)) // the recording has the part
	}
}

// TestReplay checks that a program that is served from its recording sends the same requests, and that Differences reports another
// body.
func TestReplay(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	entries, err := record.Read(bytes.NewReader(recording(t)))
	is.NoErr(err)
	replay := func(data string) ([]string, error) {
		r := record.NewReplay(entries, clock.System{})
		srv := httptest.NewServer(r)
		defer srv.Close()
		err := (&client{srv.URL, http.DefaultTransport}).operate(data)
		return r.Differences(), err
	}
	differences, err := replay("x")
	is.NoErr(err)
	is.Equal(differences, nil)
	differences, err = replay("y")
	is.NoErr(err)
	is.Equal(differences, []string{"another body: POST /api/v1/namespaces/default/configmaps?\n" +
		`    recorded: {"data":{"a":"x"},"metadata":{"name":"a"}}` + "\n" + `    now:      {"data":{"a":"y"},"metadata":{"name":"a"}}`})

	r := record.NewReplay(entries, clock.System{})
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest("DELETE", "/api/v1/nodes/a?"+url.Values{"a": {"b"}}.Encode(), strings.NewReader("")))
	is.Equal(w.Code, 404)
	is.Equal(len(r.Differences()), 1+12) // one is new, and 12 have not come
	is.Equal(r.Differences()[:2], []string{"not in the recording: DELETE /api/v1/nodes/a?a=b", "did not come: GET /api/v1/namespaces/default/secrets?limit=500&resourceVersion=0"})
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const good = `{"at":"2026-01-01T00:00:00Z","id":1,"request":{"method":"GET","url":"/api"}}` + "\n"
	all, err := record.Read(strings.NewReader(good + `{"at":"2026-0`))
	is.NoErr(err) // the last line is incomplete
	is.Equal(len(all), 1)
	_, err = record.Read(strings.NewReader(good + "{}\n" + good))
	is.True(err != nil && err.Error() == "line 2: it is not an entry of a recording: its id is missing")
	_, err = record.Read(strings.NewReader(""))
	is.True(err != nil)
}

// FuzzReplay checks that Read either rejects a recording, or returns one that can be served.
func FuzzReplay(f *testing.F) {
	f.Add(`{"at":"2026-01-01T00:00:00Z","id":1,"request":{"method":"GET","url":"/api/v1/pods?watch=1"}}`+"\n"+
		`{"at":"2026-01-01T00:00:00Z","id":1,"answer":{"code":200,"body":{"json":{}}}}`+"\n"+`{"at":"2026-01-01T00:00:00Z","id":1,"end":"EOF"}`, "/api/v1/pods?watch=1")
	f.Fuzz(func(t *testing.T, text, path string) {
		entries, err := record.Read(strings.NewReader(text))
		u, bad := url.ParseRequestURI(path)
		if err != nil || bad != nil || u.Host != "" {
			return
		}
		r := record.NewReplay(entries, clock.NewManual(clock.Epoch()))
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // it waits for no event
		defer func() {
			if x := recover(); x != nil && x != http.ErrAbortHandler {
				panic(x)
			}
		}()
		q := (&http.Request{Method: "GET", URL: u, RequestURI: path, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(""))}).WithContext(ctx)
		r.ServeHTTP(httptest.NewRecorder(), q)
		r.Differences()
	})
}
