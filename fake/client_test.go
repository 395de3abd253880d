package fake_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

// client sends requests to a server and fails the test if a request cannot be sent.
type client struct {
	t   *testing.T
	srv *fake.Server
}

// do sends one request and returns the status code and the body. It may be called from any goroutine.
func (c client) do(method, path, body string) (int, string) {
	c.t.Helper()
	code, _, text := c.exchange(method, path, body)
	return code, text
}

func (c client) exchange(method, path, body string) (int, http.Header, string) {
	c.t.Helper()
	contentType := ""
	if body != "" {
		contentType = "application/json"
	}
	return c.ask(method, path, contentType, "", body)
}

// mergePatch sends a JSON merge patch that must succeed.
func (c client) mergePatch(path, body string) {
	c.t.Helper()
	if code, _, text := c.ask("PATCH", path, "application/merge-patch+json", "", body); code != http.StatusOK {
		c.t.Errorf("PATCH %s: %d %s", path, code, text)
	}
}

// ask sends one request with a content type and an Accept header; "" omits the header. The status code is 0 if the
// request cannot be sent.
func (c client) ask(method, path, contentType, accept, body string) (int, http.Header, string) {
	c.t.Helper()
	res, err := c.request(context.Background(), method, path, contentType, accept, body)
	if err != nil {
		c.t.Error(err)
		return 0, nil, ""
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Error(err)
	}
	return res.StatusCode, res.Header, string(data)
}

func (c client) request(ctx context.Context, method, path, contentType, accept, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.srv.URL()+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{"Content-Type": contentType, "Accept": accept} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	return c.srv.Transport().RoundTrip(r)
}

// get sends a GET request and returns the response with its body unread.
func (c client) get(ctx context.Context, path string) *http.Response {
	c.t.Helper()
	res, err := c.request(ctx, "GET", path, "", "", "")
	if err != nil {
		c.t.Fatal(err)
	}
	return res
}

// create creates a ConfigMap in the namespace default and returns it.
func (c client) create(name string) object.Object {
	c.t.Helper()
	code, body := c.do("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"`+name+`"}}`)
	if code != http.StatusCreated {
		c.t.Fatalf("create %s: %d %s", name, code, body)
	}
	return c.parse(body)
}

func (c client) parse(body string) object.Object {
	c.t.Helper()
	obj, err := object.Parse([]byte(body))
	if err != nil {
		c.t.Fatalf("%v in %s", err, body)
	}
	return obj
}

func read(t *testing.T, r io.Reader) string {
	t.Helper()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// event is one event of a watch.
type event struct {
	Type   string
	Object map[string]any
}

// stream is an open watch.
type stream struct {
	t    *testing.T
	body io.ReadCloser
	scan *bufio.Scanner
}

// watch opens a watch of the ConfigMaps in the namespace default. query begins with &.
func (c client) watch(query string) *stream {
	c.t.Helper()
	res := c.get(context.Background(), "/api/v1/namespaces/default/configmaps?watch=1"+query)
	if res.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(res.Body)
		c.t.Fatalf("watch: %d %s", res.StatusCode, body)
	}
	scan := bufio.NewScanner(res.Body)
	scan.Buffer(nil, 1<<20)
	return &stream{c.t, res.Body, scan}
}

// next returns the next event; ok is false at the end of the stream.
func (s *stream) next() (e event, ok bool) {
	s.t.Helper()
	if !s.scan.Scan() {
		return event{}, false
	}
	if err := json.Unmarshal(s.scan.Bytes(), &e); err != nil {
		s.t.Errorf("%v in %s", err, s.scan.Text())
		return event{}, false
	}
	return e, true
}

// must returns the next event, which must have the type.
func (s *stream) must(eventType string) object.Object {
	s.t.Helper()
	e, ok := s.next()
	if !ok || e.Type != eventType {
		s.t.Fatalf("the stream gave %v %v, not %s", e, ok, eventType)
	}
	return e.Object
}
