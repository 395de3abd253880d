package outbound

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/kubesim/kubesim/sim/webhook"
)

// attemptsMax is how often a webhook is asked that answers to try again later (client-go: one time and ten retries).
const attemptsMax = 11

// through returns what calls webhooks by requests that a transport carries: redirects are followed, and a 429 or 5xx with
// Retry-After is asked again. A transport that ignores the context of its requests is not waited for when the context has ended.
// If transport is nil, through returns nil, and webhooks cannot be called.
func (c *Caller) through(transport http.RoundTripper) webhook.Call {
	if transport == nil {
		return nil
	}
	return func(ctx context.Context, q *webhook.Request) (*webhook.Answer, error) {
		ctx = context.WithValue(ctx, calledKey{}, q)
		for attempt := 1; ; attempt++ {
			p := &posting{at: q.URL}
			answers := make(chan *posted, 1)
			if err := c.Run(ctx, func() { answers <- p.post(ctx, transport, q) }); err != nil {
				return nil, p.ended(err)
			}
			a := <-answers
			if a.err != nil {
				return nil, a.err
			}
			if wait, later := retryAfter(a.Response); later && q.Wait != nil && attempt < attemptsMax {
				q.Wait(ctx, wait)
				continue
			}
			return &webhook.Answer{Code: a.StatusCode, ContentType: a.Header.Get("Content-Type"), Body: a.body}, nil
		}
	}
}

type calledKey struct{}

// webhookRequestOf returns the call of a webhook that an HTTP request belongs to, an empty one if it belongs to none.
func webhookRequestOf(q *http.Request) *webhook.Request {
	if call, ok := q.Context().Value(calledKey{}).(*webhook.Request); ok {
		return call
	}
	return &webhook.Request{}
}

// posted is the response to a review, or the error.
type posted struct {
	*http.Response
	body []byte
	err  error
}

// posting is a review on its way, as far as the error says of a request whose context ends meanwhile.
type posting struct {
	mu      sync.Mutex
	at      string // the address that is asked: the last one, if there were redirects
	reading bool   // the body of the answer
}

// post sends the review once, and again to wherever it is redirected.
func (p *posting) post(ctx context.Context, transport http.RoundTripper, call *webhook.Request) *posted {
	if ctx.Err() != nil {
		return &posted{err: p.ended(context.Cause(ctx))}
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, call.URL, bytes.NewReader(call.Review))
	if err != nil {
		return &posted{err: err}
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, */*")
	q.Header.Set("User-Agent", "kube-apiserver-admission") // conversions, too
	client := &http.Client{Transport: transport, CheckRedirect: p.redirected}
	res, err := client.Do(q)
	if err != nil {
		return &posted{err: err}
	}
	defer res.Body.Close()
	p.mu.Lock()
	p.reading = true
	p.mu.Unlock()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return &posted{err: unread(err)}
	}
	return &posted{res, body, nil}
}

// redirected is an http.Client's CheckRedirect, with the limit that one without such a function has.
func (p *posting) redirected(next *http.Request, before []*http.Request) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = next.URL.String()
	if len(before) >= 10 {
		return errors.New("stopped after 10 redirects")
	}
	return nil
}

// ended returns the error of a call whose context has ended with a cause.
func (p *posting) ended(cause error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reading {
		return unread(cause)
	}
	return fmt.Errorf("Post %q: %w", p.at, cause)
}

// unread is the error of an answer whose body does not arrive (client-go).
func unread(err error) error {
	return fmt.Errorf("unexpected error when reading response body. Please retry. Original error: %w", err)
}

// retryAfter reports whether a webhook asks for a retry, and when.
func retryAfter(res *http.Response) (time.Duration, bool) {
	if res.StatusCode != http.StatusTooManyRequests && res.StatusCode < http.StatusInternalServerError {
		return 0, false
	}
	seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
	return time.Duration(seconds) * time.Second, err == nil
}
