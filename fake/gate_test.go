package fake_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/auth"
)

// sent sends a request with header lines, which may include "Host: …", to a listener. It returns the code, the header
// and the body of the response.
func sent(t *testing.T, method, url string, header ...string) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(body)
}

// TestOtherSites checks that pages of other sites, and host names that resolve to this machine because of DNS
// rebinding, are rejected. Programs and the server's own pages have access.
func TestOtherSites(t *testing.T) {
	t.Parallel()
	srv := fake.RunT(t)
	l, err := srv.Listen(fake.ListenOptions{AllowedOrigins: []string{`^https://dev\.example(:[0-9]+)?$`, `^http://box\.lan:8001$`}})
	if err != nil {
		t.Fatal(err)
	}
	own := strings.TrimPrefix(l.URL(), "http://")
	_, port, _ := strings.Cut(own, ":")
	for _, c := range []struct {
		what   string
		header []string
		said   string // "" if the request is allowed
	}{
		{"a program", nil, ""},
		{"a URL that the user typed", []string{"Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate"}, ""},
		{"a page of its own", []string{"Sec-Fetch-Site: same-origin", "Origin: http://" + own}, ""},
		{"a page of its own in an old browser", []string{"Origin: http://" + own}, ""},
		{"another name of this machine", []string{"Host: localhost:" + port, "Origin: http://localhost:" + port}, ""},
		{"its IPv6 address", []string{"Host: [::1]:" + port}, ""},
		{"a page of an allowed origin", []string{"Sec-Fetch-Site: cross-site", "Origin: https://dev.example:3000"}, ""},
		{"the host of an allowed origin", []string{"Host: box.lan:8001"}, ""},
		{"a page of another site", []string{"Sec-Fetch-Site: cross-site", "Origin: https://evil.example"}, "Origin: https://evil.example"},
		{"a picture on it", []string{"Sec-Fetch-Site: cross-site"}, "Sec-Fetch-Site: cross-site"},
		{"a page on another port", []string{"Sec-Fetch-Site: same-site", "Origin: http://127.0.0.1:1"}, "Origin: http://127.0.0.1:1"},
		{"a program that says an origin, as for a WebSocket", []string{"Origin: http://localhost", "Authorization: Bearer any"}, ""},
		{"what an old browser knows of a user, for a page of another site", []string{"Origin: http://localhost", "Authorization: Basic YTpi"}, "Origin: http://localhost"},
		{"a page of another site that has a token", []string{"Sec-Fetch-Site: cross-site", "Origin: https://evil.example", "Authorization: Bearer any"}, "Origin: https://evil.example"},
		{"a name that leads here, with a token", []string{"Host: evil.example:" + port, "Authorization: Bearer any"}, "evil.example"},
		{"another site in an old browser", []string{"Origin: https://evil.example"}, "Origin: https://evil.example"},
		{"a page without an origin", []string{"Origin: null"}, "Origin: null"},
		{"an origin that begins like an allowed one", []string{"Origin: https://dev.example.evil.example"}, "dev.example.evil.example"},
		{"a name that leads here", []string{"Host: evil.example:" + port}, "evil.example"},
		{"a name that leads here, and a page of it", []string{"Host: evil.example:" + port, "Sec-Fetch-Site: same-origin"}, "evil.example"},
		{"an address that is not this machine's", []string{"Host: 192.0.2.7"}, "192.0.2.7"},
	} {
		for _, ask := range []struct{ method, path string }{{"POST", "/sim/v1/compact"}, {"GET", "/sim/v1/snapshot"}, {"GET", "/api/v1/namespaces/default"}} {
			t.Run(c.what+": "+ask.path, func(t *testing.T) {
				is := is.New(t)
				code, header, body := sent(t, ask.method, l.URL()+ask.path, c.header...)
				if c.said == "" {
					is.Equal(code, http.StatusOK)
					return
				}
				is.Equal(code, http.StatusForbidden)
				is.True(strings.Contains(body, c.said))
				is.True(strings.Contains(body, "--cors-allowed-origins=")) // and the flag that allows the page
				is.Equal(header.Get("Access-Control-Allow-Origin"), "")
			})
		}
	}
	_, err = srv.Listen(fake.ListenOptions{AllowedOrigins: []string{"("}})
	is.New(t).True(err != nil) // not a regular expression
}

// TestCORS checks that pages of allowed origins get the headers that kube-apiserver sends them, and a response to the
// preflight request.
func TestCORS(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := fake.RunT(t)
	l, err := srv.Listen(fake.ListenOptions{AllowedOrigins: []string{`^https://dev\.example$`}})
	is.NoErr(err)
	const page = "Origin: https://dev.example"
	want := map[string]string{"Access-Control-Allow-Origin": "https://dev.example", "Access-Control-Allow-Credentials": "true",
		"Access-Control-Allow-Methods": "POST, GET, OPTIONS, PUT, DELETE, PATCH", "Access-Control-Expose-Headers": "Date",
		"Access-Control-Allow-Headers": "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since"}
	for method, status := range map[string]int{"OPTIONS": http.StatusNoContent, "GET": http.StatusOK} {
		code, header, _ := sent(t, method, l.URL()+"/api/v1/namespaces/default", page)
		is.Equal(code, status)
		for name, value := range want {
			is.Equal(header[name], []string{value})
		}
		is.Equal(header.Get("Cache-Control"), "no-cache, private")
		is.True(header.Get("Audit-Id") != "")
	}
	_, header, _ := sent(t, "GET", l.URL()+"/api")
	is.Equal(header.Get("Access-Control-Allow-Origin"), "") // a request without an Origin gets no header
}

// TestControlIsAuthorized checks that if requests are authenticated, RBAC also authorizes requests that control the
// simulator.
func TestControlIsAuthorized(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Auth: auth.RBAC})
	l, err := srv.Listen(fake.ListenOptions{})
	is.NoErr(err)
	before := srv.Revision()
	for token, want := range map[string]int{"": http.StatusForbidden, "alicetoken": http.StatusForbidden, "nonsense": http.StatusUnauthorized} {
		var header []string
		if token != "" {
			header = []string{"Authorization: Bearer " + token}
		}
		code, _, body := sent(t, "POST", l.URL()+"/sim/v1/restore?revision=4004", header...)
		is.Equal(code, want)
		is.True(strings.Contains(body, `"Status"`))
	}
	is.Equal(srv.Revision(), before)
	code, _, _ := sent(t, "POST", l.URL()+"/sim/v1/compact", "Authorization: Bearer admintoken")
	is.Equal(code, http.StatusOK)
}

// TestLimits checks that a watch or a connection above the limit is rejected until another one ends.
func TestLimits(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
	l, err := srv.Listen(fake.ListenOptions{MaxConnections: 2, MaxWatches: 1})
	is.NoErr(err)
	const watch = "/api/v1/namespaces?watch=1"
	first, err := http.Get(l.URL() + watch)
	is.NoErr(err)
	code, header, body := sent(t, "GET", l.URL()+watch)
	is.Equal(code, http.StatusTooManyRequests)
	is.Equal(header.Get("Retry-After"), "1")
	is.True(strings.Contains(body, "too many watches: this listener serves 1 at a time (--max-watches)"))
	is.NoErr(first.Body.Close())
	for code != http.StatusOK { // the server has not noticed yet that the first one has ended
		res, err := http.Get(l.URL() + watch)
		is.NoErr(err)
		if code = res.StatusCode; code == http.StatusOK {
			defer res.Body.Close()
			continue
		}
		res.Body.Close()
	}

	var held []*http.Response
	for range 3 {
		transport := &http.Transport{}
		defer transport.CloseIdleConnections()
		res, err := (&http.Client{Transport: transport}).Get(l.URL() + "/version")
		is.NoErr(err)
		defer res.Body.Close()
		held = append(held, res)
	}
	last := held[2]
	is.Equal(last.StatusCode, http.StatusServiceUnavailable)
	text, err := io.ReadAll(last.Body)
	is.NoErr(err)
	is.True(strings.Contains(string(text), "too many connections: this listener serves 2 at a time (--max-connections)"))
	is.True(last.Close)
}

// TestCloseEndsWatches checks that closing a server ends watches after a complete event, as kube-apiserver does, and
// responds to pending requests.
func TestCloseEndsWatches(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		is := is.New(t)
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
		l, err := srv.Listen(fake.ListenOptions{TLS: secure})
		is.NoErr(err)
		client := trusting(t, l)
		res, err := client.Get(l.URL() + "/api/v1/namespaces?watch=1&resourceVersion=0")
		is.NoErr(err)
		events := bufio.NewReader(res.Body)
		_, err = events.ReadString('\n')
		is.NoErr(err)
		began := time.Now()
		srv.Close()
		is.True(time.Since(began) < 2*time.Second) // Close does not wait for a client that has all events
		rest, err := io.ReadAll(events)
		is.NoErr(err) // the connection is not broken
		is.True(len(rest) == 0 || rest[len(rest)-1] == '\n')
		_, err = client.Get(l.URL() + "/version")
		is.True(err != nil) // the listener is closed
		res.Body.Close()
	}
}
