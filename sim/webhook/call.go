package webhook

import (
	"context"
	"time"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// Request is a review on its way to a webhook.
type Request struct {
	URL     string // Address
	Trusted []byte // Bundle
	Plugin  string // the admission plugin that calls, or "" for a conversion
	Review  []byte // JSON

	// Wait returns when a duration has passed on the Cluster's clock, or the context ends. It is called without the Cluster's lock.
	// If Wait is nil, Call does not retry: an answer with Retry-After is the final one.
	Wait func(ctx context.Context, d time.Duration)
}

// Answer is the answer of a webhook.
type Answer struct {
	Code        int
	ContentType string
	Body        []byte
}

// BundleError reports that no client can be created for a webhook, because its certificates cannot be parsed. Admission has a text
// of its own for it.
type BundleError struct{ Err error }

// Error implements error.
func (e *BundleError) Error() string { return "unable to load root certificates: " + e.Err.Error() }

// Call posts a review to a webhook and returns the last answer: it follows redirects and retries when the webhook requests it. If
// ctx ends, the error is its cause.
type Call func(ctx context.Context, q *Request) (*Answer, error)

// Ask returns the body of a webhook's answer.
func (call Call) Ask(ctx context.Context, q *Request) ([]byte, error) {
	a, err := call(ctx, q)
	if err != nil {
		return nil, err
	}
	return a.body()
}

// Read reads the body of an answer as a review of the kind. t is its structure.
func Read(body []byte, kind schema.GVK, t *schema.Type) (object.Object, error) {
	return codec.AnsweredAs(body, kind, t, reviewVersions...)
}
