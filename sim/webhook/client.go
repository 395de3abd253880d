package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/kubesim/kubesim/sim/http"
	"github.com/kubesim/kubesim/sim/object"
)

// Client asks webhooks.
type Client struct {
	// Transport carries requests.
	Transport http.RoundTripper
	// Wait returns when a time of the Cluster's clock has passed, or the context ends. It is called without the Cluster's
	// lock. nil: nobody can wait, and an answer that asks to try again later is taken as it is.
	Wait func(ctx context.Context, d time.Duration)
	// Plugin is the admission plugin that asks, for transports that look for it with Plugin. "": none does.
	Plugin string
}

// attemptsMax is how often a webhook is asked that answers to try again later (client-go: one time and ten retries).
const attemptsMax = 11

// Ask posts a review to an address and returns the answer. trusted are certificates, for transports that look for them
// with Trusted. The cause of ctx is the error when ctx ends.
func (c *Client) Ask(ctx context.Context, address string, trusted []byte, review []byte) (object.Object, error) {
	ctx = context.WithValue(ctx, askedKey{}, asked{trusted, c.Plugin})
	for attempt := 1; ; attempt++ {
		a, err := c.post(ctx, address, review)
		if err != nil {
			return nil, err
		}
		if wait, later := a.retryAfter(); later && c.Wait != nil && attempt < attemptsMax {
			c.Wait(ctx, wait)
			continue
		}
		return a.object()
	}
}

type askedKey struct{}

// asked is what a request to a webhook has beside what is sent.
type asked struct {
	trusted []byte
	plugin  string
}

// Trusted returns the certificates, PEM, that the configuration of the webhook wants to be trusted. nil: those of the
// system. The context is that of a request to a webhook.
func Trusted(ctx context.Context) []byte {
	a, _ := ctx.Value(askedKey{}).(asked)
	return a.trusted
}

// Plugin returns the name of the admission plugin that asks, "" when it is a conversion. The context is that of a request
// to a webhook.
func Plugin(ctx context.Context) string {
	a, _ := ctx.Value(askedKey{}).(asked)
	return a.plugin
}

// post sends the review once, and again to wherever it is redirected.
func (c *Client) post(ctx context.Context, address string, review []byte) (*answer, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(review))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, */*")
	q.Header.Set("User-Agent", "kube-apiserver-admission") // conversions, too
	if ctx.Err() != nil {
		return nil, fmt.Errorf("Post %q: %w", address, context.Cause(ctx))
	}
	res, err := http.Do(c.Transport, q)
	if err != nil {
		return nil, described(ctx, address, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("unexpected error when reading response body. Please retry. Original error: %w", err)
	}
	return &answer{res.StatusCode, res.Header, body}, nil
}

// described names what was asked: the last address, when there were redirects.
func described(ctx context.Context, address string, err error) error {
	var at *url.Error
	if !errors.As(err, &at) {
		at = &url.Error{Op: "Post", URL: address, Err: err}
	}
	cause := at.Err
	if ctx.Err() != nil && errors.Is(cause, context.Canceled) {
		cause = context.Cause(ctx)
	}
	return fmt.Errorf("%s %q: %w", at.Op, at.URL, cause)
}

// answer is what a webhook has answered.
type answer struct {
	code   int
	header http.Header
	body   []byte
}

// retryAfter says whether the webhook asks to be asked again, and when.
func (a *answer) retryAfter() (time.Duration, bool) {
	if a.code != http.StatusTooManyRequests && a.code < http.StatusInternalServerError {
		return 0, false
	}
	seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
	return time.Duration(seconds) * time.Second, err == nil
}
