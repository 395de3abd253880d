package fake_test

import (
	"io"
	"net/http"
	"strings"
)

// as sends one request with a User-Agent.
func (c client) as(userAgent, method, path, contentType, body string) (int, string) {
	c.t.Helper()
	return sendThrough(c.t, c.srv.Transport(), c.srv.URL(), userAgent, method, path, contentType, body)
}

// sendThrough sends one request through a transport.
func sendThrough(t interface {
	Helper()
	Fatal(...any)
}, transport http.RoundTripper, url, userAgent, method, path, contentType, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("User-Agent", userAgent)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	res, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(data)
}
