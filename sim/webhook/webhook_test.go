package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/matryer/is"
)

// What the real server made of these when it was asked.
func TestAddress(t *testing.T) {
	is := is.New(t)
	for at, want := range map[string]string{ // order does not matter
		"https://h:1//convert":  "https://h:1/convert?timeout=10s",
		"https://h:1/a//b/":     "https://h:1/a/b?timeout=10s",
		"https://h:1":           "https://h:1/?timeout=10s",
		"https://h:1/a%20b":     "https://h:1/a%20b?timeout=10s",
		"https://h:1/a%2Fb":     "https://h:1/a/b?timeout=10s",
		"https://h:1/../x":      "https://h:1/x?timeout=10s",
		"https://h:1/x?a=b#top": "https://h:1/x?timeout=10s",
	} {
		is.Equal(Address(object.Object{"url": at}, 10*time.Second), want)
	}
	service := map[string]any{"name": "s", "namespace": "n", "path": "/a/"}
	is.Equal(Address(object.Object{"service": service}, time.Second), "https://s.n.svc:443/a?timeout=1s")
	service["port"] = int64(8443)
	is.Equal(Address(object.Object{"service": service}, time.Second), "https://s.n.svc:8443/a?timeout=1s")
	is.Equal(Bundle(object.Object{"caBundle": "Zm9v"}), []byte("foo"))
}

// carrier is an http.RoundTripper.
type carrier func(*http.Request) (*http.Response, error)

func (f carrier) RoundTrip(q *http.Request) (*http.Response, error) { return f(q) }

// respond returns an answer; header is a list of names and values.
func respond(code int, body string, header ...string) *http.Response {
	a := &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
	for i := 0; i < len(header); i += 2 {
		a.Header.Set(header[i], header[i+1])
	}
	return a
}

// What the real server said to these answers when it was asked.
func TestAnswers(t *testing.T) {
	const text, json = "text/plain", "application/json"
	for _, x := range []struct {
		answer *http.Response
		want   string
	}{
		{respond(200, `{"kind":"X"}`, "Content-Type", text), "X"},
		{respond(200, "kind: X", "Content-Type", json), "X"},
		{respond(200, `{"kind":"X"}`), "X"},
		{respond(200, "the text", "Content-Type", text), `couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type ` +
			`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`},
		{respond(200, `{"kind":`, "Content-Type", json), "couldn't get version/kind; json parse error: unexpected end of JSON input"},
		{respond(200, "", "Content-Type", json), "0-length response with status code: 200 and content type: application/json"},
		{respond(200, "{}", "Content-Type", "a/b/c;;"), "Internal error occurred: mime: unexpected content after media subtype"},
		{respond(307, ""), "the server responded with the status code 307 but did not return more information"},
		{respond(400, "the text", "Content-Type", text), "the server rejected our request for an unknown reason"},
		{respond(403, " the text\n", "Content-Type", text), "the text"},
		{respond(403, "the text", "Content-Type", json), "unknown"},
		{respond(406, "the text"), "the text"},
		{respond(409, "", "Content-Type", text), "the server reported a conflict"},
		{respond(418, "the text"), "the server responded with the status code 418 but did not return more information"},
		{respond(500, "the text", "Content-Type", text), `an error on the server ("the text") has prevented the request from succeeding`},
		{respond(500, "the text", "Content-Type", json), `an error on the server ("unknown") has prevented the request from succeeding`},
		{respond(503, "the text", "Content-Type", text), "the server is currently unable to handle the request"},
		{respond(503, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"m"}`, "Content-Type", json), "m"},
	} {
		is := is.New(t)
		c := &Client{Transport: carrier(func(*http.Request) (*http.Response, error) { return x.answer, nil })}
		obj, err := c.Ask(t.Context(), "https://h/x?timeout=1s", nil, []byte("{}"))
		if err != nil {
			is.Equal(err.Error(), x.want)
			continue
		}
		is.Equal(obj.Kind(), x.want)
	}
}

// A webhook may send the server elsewhere, and ask it to come back later: ten times.
func TestAskAgain(t *testing.T) {
	is := is.New(t)
	var asked []string
	answers := []*http.Response{respond(307, "", "Location", "/y"), respond(503, "", "Retry-After", "2"),
		respond(429, "", "Retry-After", "3"), respond(200, `{"kind":"X"}`)}
	var waited time.Duration
	c := &Client{
		Transport: carrier(func(q *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(q.Body)
			is.NoErr(err)
			asked = append(asked, fmt.Sprint(q.Method, " ", q.URL, " ", string(body), " ", string(Trusted(q.Context()))))
			a := answers[0]
			answers = answers[1:]
			return a, nil
		}),
		Wait: func(_ context.Context, d time.Duration) { waited += d },
	}
	obj, err := c.Ask(t.Context(), "https://h/x", []byte("CA"), []byte("{}"))
	is.NoErr(err)
	is.Equal(obj.Kind(), "X")
	is.Equal(waited, 5*time.Second)
	is.Equal(asked, []string{"POST https://h/x {} CA", "POST https://h/y {} CA", "POST https://h/x {} CA", "POST https://h/x {} CA"})

	n := 0
	c.Transport = carrier(func(*http.Request) (*http.Response, error) { n++; return respond(429, "", "Retry-After", "0"), nil })
	_, err = c.Ask(t.Context(), "https://h/x", nil, nil)
	is.Equal(err.Error(), "the server has received too many requests and has asked us to try again later")
	is.Equal(n, 11)
	n, c.Wait = 0, nil
	_, err = c.Ask(t.Context(), "https://h/x", nil, nil)
	is.True(err != nil && n == 1) // nobody can wait
}

// Errors name what was asked for last, and the cause of the end.
func TestErrors(t *testing.T) {
	is := is.New(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	c := &Client{Transport: carrier(func(q *http.Request) (*http.Response, error) {
		if q.URL.Path == "/loop" {
			return respond(307, "", "Location", "/loop"), nil
		}
		cancel(context.DeadlineExceeded)
		return nil, q.Context().Err()
	})}
	_, err := c.Ask(ctx, "https://h/loop?timeout=1s", nil, nil)
	is.Equal(err.Error(), `Post "/loop": stopped after 10 redirects`)
	_, err = c.Ask(ctx, "https://h/slow?timeout=1s", nil, nil)
	is.Equal(err.Error(), `Post "https://h/slow?timeout=1s": context deadline exceeded`)
	is.True(errors.Is(err, context.DeadlineExceeded))
	_, err = c.Ask(ctx, "https://h/loop?timeout=1s", nil, nil)
	is.Equal(err.Error(), `Post "https://h/loop?timeout=1s": context deadline exceeded`) // after the end nothing is asked
}
