package webhook

import (
	"context"
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// Request is a review on its way to a webhook.
type Request struct {
	URL     string // Address
	Trusted []byte // Bundle
	Plugin  string // the admission plugin that asks; "": it is a conversion
	Review  []byte // JSON

	// Wait returns when a time of the Cluster's clock has passed, or the context ends. It is called without the Cluster's
	// lock. nil: nobody can wait, and an answer that asks to try again later is the last one.
	Wait func(ctx context.Context, d time.Duration)
}

// Answer is what a webhook has answered.
type Answer struct {
	Code        int
	ContentType string
	Body        []byte
}

// Call posts a review to a webhook and returns the last answer: it follows redirects and asks again when it is asked to. The
// cause of ctx is the error when ctx ends.
type Call func(ctx context.Context, q *Request) (*Answer, error)

// Ask returns the object that a webhook answers with.
func (call Call) Ask(ctx context.Context, q *Request) (object.Object, error) {
	a, err := call(ctx, q)
	if err != nil {
		return nil, err
	}
	return a.object()
}
