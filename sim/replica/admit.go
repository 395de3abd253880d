package replica

import (
	"context"
	"fmt"
	"maps"

	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/webhook"
)

// Webhooks manages the functions that handle admission webhooks, and the settings for calling all others.
type Webhooks struct {
	functions map[string]admission.Handler // by webhook name
	Calls
}

// Calls configures how webhooks are called. They are called without the Cluster's lock.
type Calls struct {
	// Send sends a review to a webhook that has no registered function. If it is nil, such webhooks are not called.
	Send webhook.Call
	// Concurrently runs functions, each of which sends a review to a validating webhook, and returns when all of them have
	// returned. If it is nil, they run one after the other, which a Cluster must do if it is to be replayed. Registered functions
	// always run one after the other.
	Concurrently func(calls []func())
	// Until runs the registered function of a webhook. It returns when the function returns, or with the cause of the context when
	// the context is done. If Until is nil, a call waits for the function even beyond the timeout of the webhook or of the request,
	// and then fails.
	Until func(ctx context.Context, f func()) error
	// MayWait allows admission plugins to wait, as ServiceAccount does for an account that a controller is about to create. It is
	// for a Cluster whose clock advances by itself and which serves several goroutines. Otherwise plugins decide at once.
	MayWait bool
}

// Register sets the function that handles the named webhook. If f is nil, it removes the function.
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
