package outbound

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/webhook"
)

// carrier is a function that implements http.RoundTripper.
type carrier func(*http.Request) (*http.Response, error)

func (f carrier) RoundTrip(q *http.Request) (*http.Response, error) { return f(q) }

// respond returns a response. header contains names and values.
func respond(code int, body string, header ...string) *http.Response {
	a := &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
	for i := 0; i < len(header); i += 2 {
		a.Header.Set(header[i], header[i+1])
	}
	return a
}

// Redirects of a webhook are followed, and requests to retry later are honoured up to ten times.
func TestWebhookAskedAgain(t *testing.T) {
	is := is.New(t)
	var asked []string
	answers := []*http.Response{respond(307, "", "Location", "/y"), respond(503, "", "Retry-After", "2"),
		respond(429, "", "Retry-After", "3"), respond(200, `{"kind":"X"}`)}
	var waited time.Duration
	call := (&Caller{logf: t.Logf}).through(carrier(func(q *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(q.Body)
		is.NoErr(err)
		asked = append(asked, fmt.Sprint(q.Method, " ", q.URL, " ", string(body), " ", string(webhookRequestOf(q).Trusted)))
		a := answers[0]
		answers = answers[1:]
		return a, nil
	}))
	q := &webhook.Request{URL: "https://h/x", Trusted: []byte("CA"), Review: []byte("{}"),
		Wait: func(_ context.Context, d time.Duration) { waited += d }}
	body, err := call.Ask(t.Context(), q)
	is.NoErr(err)
	is.Equal(string(body), `{"kind":"X"}`)
	is.Equal(waited, 5*time.Second)
	is.Equal(asked, []string{"POST https://h/x {} CA", "POST https://h/y {} CA", "POST https://h/x {} CA", "POST https://h/x {} CA"})

	n := 0
	call = (&Caller{logf: t.Logf}).through(carrier(func(*http.Request) (*http.Response, error) { n++; return respond(429, "", "Retry-After", "0"), nil }))
	_, err = call.Ask(t.Context(), q)
	is.Equal(err.Error(), "the server has received too many requests and has asked us to try again later")
	is.Equal(n, 11)
	n, q.Wait = 0, nil
	_, err = call.Ask(t.Context(), q)
	is.True(err != nil && n == 1) // without Wait there is no retry
}

// Errors contain the last requested URL, and the cause of the failure.
func TestWebhookErrors(t *testing.T) {
	is := is.New(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	call := (&Caller{logf: t.Logf}).through(carrier(func(q *http.Request) (*http.Response, error) {
		if q.URL.Path == "/loop" {
			return respond(307, "", "Location", "/loop"), nil
		}
		cancel(context.DeadlineExceeded)
		return nil, q.Context().Err()
	}))
	_, err := call.Ask(ctx, &webhook.Request{URL: "https://h/loop?timeout=1s"})
	is.Equal(err.Error(), `Post "/loop": stopped after 10 redirects`)
	_, err = call.Ask(ctx, &webhook.Request{URL: "https://h/slow?timeout=1s"})
	is.Equal(err.Error(), `Post "https://h/slow?timeout=1s": context deadline exceeded`)
	is.True(errors.Is(err, context.DeadlineExceeded))
	_, err = call.Ask(ctx, &webhook.Request{URL: "https://h/loop?timeout=1s"})
	is.Equal(err.Error(), `Post "https://h/loop?timeout=1s": context deadline exceeded`) // after the end nothing is asked
}
