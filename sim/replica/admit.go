package replica

import (
	"context"
	"fmt"
	"maps"

	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/webhook"
)

// Webhooks are what answers admission webhooks.
type Webhooks struct {
	functions map[string]admission.Handler // by name of the webhook
	Calls
}

// Calls are how webhooks are called, without the Cluster's lock.
type Calls struct {
	// Send sends a review to a webhook that no function answers. If it is nil, such webhooks are not called.
	Send webhook.Call
	// Concurrently calls the functions that send reviews to several validating webhooks, and returns when they have returned. If it is
	// nil, they are called one after the other, as a Cluster that has to be replayed needs. Functions that answer webhooks are called
	// one after the other in any case.
	Concurrently func(calls []func())
	// Until runs a function that answers a webhook: it returns when the function does, or when the context ends, with the context's
	// cause. If it is nil, a function that exceeds the timeout of its webhook or of the request is still waited for, and fails then.
	Until func(ctx context.Context, f func()) error
	// MayWait says that admission plugins may wait, as ServiceAccount does for an account that a controller is about to create. It is
	// for a Cluster whose time passes by itself, and which serves several goroutines. Without it they decide at once.
	MayWait bool
}

// Register sets what answers the admission webhook with the name; nil takes it back.
func (w *Webhooks) Register(webhook string, f admission.Handler) {
	if w.functions == nil {
		w.functions = map[string]admission.Handler{}
	}
	delete(w.functions, webhook)
	if f != nil {
		w.functions[webhook] = f
	}
}

// Waits implements admission.Host.
func (w *Webhooks) Waits() bool { return w.MayWait }

// Handler implements admission.Host.
func (w *Webhooks) Handler(name string) admission.Handler { return w.functions[name] }

// adopt copies the registered functions of another Webhooks.
func (w *Webhooks) adopt(other *Webhooks) {
	w.functions, w.Calls = maps.Clone(other.functions), other.Calls
}

// Run implements admission.Host.
func (w *Webhooks) Run(ctx context.Context, f func()) error {
	if w.Until != nil {
		return w.Until(ctx, f)
	}
	f()
	return context.Cause(ctx)
}

// Call implements admission.Host.
func (w *Webhooks) Call(ctx context.Context, q *webhook.Request) (*webhook.Answer, error) {
	if w.Send == nil {
		return nil, fmt.Errorf("Post %q: %w", q.URL, admission.ErrNoCall)
	}
	return w.Send(ctx, q)
}

// Together implements admission.Host.
func (w *Webhooks) Together(calls []func()) {
	if w.Concurrently != nil {
		w.Concurrently(calls)
		return
	}
	for _, call := range calls {
		call()
	}
}
