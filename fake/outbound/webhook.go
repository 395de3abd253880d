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

// attemptsMax is the maximum number of calls to a webhook that requests retries (client-go: one call and ten retries).
const attemptsMax = 11

// through returns a function that calls webhooks over a transport. It follows redirects, and retries after a 429 or 5xx with
// Retry-After. It returns as soon as the context is done, even if the transport ignores the context. If transport is nil, through
// returns nil, and webhooks cannot be called.
func (c *Caller) through(transport http.RoundTripper) webhook.Call {
	if transport == nil {
		return nil
	}
	return func(ctx context.Context, q *webhook.Request) (*webhook.Answer, error) {
		ctx = context.WithValue(ctx, calledKey{}, q)
		for attempt := 1; ; attempt++ {
			p := &reviewRequest{at: q.URL}
			answers := make(chan *reviewResult, 1)
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

// webhookRequestOf returns the webhook call to which an HTTP request belongs, or an empty one if there is none.
func webhookRequestOf(q *http.Request) *webhook.Request {
	if call, ok := q.Context().Value(calledKey{}).(*webhook.Request); ok {
		return call
	}
	return &webhook.Request{}
}

// reviewResult is the response to a review, or an error.
type reviewResult struct {
	*http.Response
	body []byte
	err  error
}

// reviewRequest tracks the progress of a review. If the context is done, the error depends on that progress.
type reviewRequest struct {
	mu      sync.Mutex
	at      string // current URL, after any redirects
	reading bool   // whether the response body is being read
}

// post sends the review once, and again after each redirect.
func (p *reviewRequest) post(ctx context.Context, transport http.RoundTripper, call *webhook.Request) *reviewResult {
	if ctx.Err() != nil {
		return &reviewResult{err: p.ended(context.Cause(ctx))}
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, call.URL, bytes.NewReader(call.Review))
	if err != nil {
		return &reviewResult{err: err}
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, */*")
	q.Header.Set("User-Agent", "kube-apiserver-admission") // also for conversions
	client := &http.Client{Transport: transport, CheckRedirect: p.checkRedirect}
	res, err := client.Do(q)
	if err != nil {
		return &reviewResult{err: err}
	}
	defer res.Body.Close()
	p.mu.Lock()
	p.reading = true
	p.mu.Unlock()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return &reviewResult{err: unread(err)}
	}
	return &reviewResult{res, body, nil}
}

// checkRedirect implements http.Client.CheckRedirect. It records the new URL for error messages, and keeps the default limit of ten
// redirects.
func (p *reviewRequest) checkRedirect(next *http.Request, before []*http.Request) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = next.URL.String()
	if len(before) >= 10 {
		return errors.New("stopped after 10 redirects")
	}
	return nil
}

// ended returns the error for a call whose context is done for the given reason.
func (p *reviewRequest) ended(cause error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reading {
		return unread(cause)
	}
	return fmt.Errorf("Post %q: %w", p.at, cause)
}

// unread returns the error for a response whose body cannot be read (client-go).
func unread(err error) error {
	return fmt.Errorf("unexpected error when reading response body. Please retry. Original error: %w", err)
}

// retryAfter reports whether a webhook requests a retry, and returns the delay.
func retryAfter(res *http.Response) (time.Duration, bool) {
	if res.StatusCode != http.StatusTooManyRequests && res.StatusCode < http.StatusInternalServerError {
		return 0, false
	}
	seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
	return time.Duration(seconds) * time.Second, err == nil
}
