package fake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/kubesim/kubesim/sim/webhook"
)

// attemptsMax is how often a webhook is asked that answers to try again later (client-go: one time and ten retries).
const attemptsMax = 11

// through returns what calls webhooks by requests that a transport carries: redirects are followed, and a 429 or 5xx with
// Retry-After is asked again. nil: nobody calls.
func through(transport http.RoundTripper) webhook.Call {
	if transport == nil {
		return nil
	}
	client := &http.Client{Transport: transport}
	return func(ctx context.Context, q *webhook.Request) (*webhook.Answer, error) {
		ctx = context.WithValue(ctx, calledKey{}, q)
		for attempt := 1; ; attempt++ {
			res, body, err := post(ctx, client, q)
			if err != nil {
				return nil, err
			}
			if wait, later := retryAfter(res); later && q.Wait != nil && attempt < attemptsMax {
				q.Wait(ctx, wait)
				continue
			}
			return &webhook.Answer{Code: res.StatusCode, ContentType: res.Header.Get("Content-Type"), Body: body}, nil
		}
	}
}

type calledKey struct{}

// called returns the call of a webhook that an HTTP request belongs to, an empty one if it belongs to none.
func called(q *http.Request) *webhook.Request {
	if call, ok := q.Context().Value(calledKey{}).(*webhook.Request); ok {
		return call
	}
	return &webhook.Request{}
}

// post sends the review once, and again to wherever it is redirected.
func post(ctx context.Context, client *http.Client, call *webhook.Request) (*http.Response, []byte, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, call.URL, bytes.NewReader(call.Review))
	if err != nil {
		return nil, nil, err
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, */*")
	q.Header.Set("User-Agent", "kube-apiserver-admission") // conversions, too
	if ctx.Err() != nil {
		return nil, nil, fmt.Errorf("Post %q: %w", call.URL, context.Cause(ctx))
	}
	res, err := client.Do(q)
	if err != nil {
		return nil, nil, described(ctx, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, nil, fmt.Errorf("unexpected error when reading response body. Please retry. Original error: %w", err)
	}
	return res, body, nil
}

// described names what was asked: the last address, when there were redirects.
func described(ctx context.Context, err error) error {
	var at *url.Error
	if errors.As(err, &at) && ctx.Err() != nil && errors.Is(at.Err, context.Canceled) {
		return fmt.Errorf("%s %q: %w", at.Op, at.URL, context.Cause(ctx))
	}
	return err
}

// retryAfter says whether a webhook asks to be asked again, and when.
func retryAfter(res *http.Response) (time.Duration, bool) {
	if res.StatusCode != http.StatusTooManyRequests && res.StatusCode < http.StatusInternalServerError {
		return 0, false
	}
	seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
	return time.Duration(seconds) * time.Second, err == nil
}
