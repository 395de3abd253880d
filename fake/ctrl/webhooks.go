package ctrl

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"

	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// webhooks is a webhook server without a listener: RoundTrip, which the API server calls, calls its handlers in process, whatever
// service a configuration names.
type webhooks struct {
	webhook.Server
	life context.Context // of its process: after a crash no request is answered
	up   atomic.Bool
}

func newWebhooks(life context.Context) *webhooks {
	return &webhooks{Server: webhook.NewServer(webhook.Options{}), life: life}
}

// Start serves until the manager stops.
func (w *webhooks) Start(ctx context.Context) error {
	w.up.Store(true)
	defer w.up.Store(false)
	<-ctx.Done()
	return nil
}

// StartedChecker implements webhook.Server. The manager calls it before it starts caches.
func (w *webhooks) StartedChecker() healthz.Checker {
	return func(*http.Request) error {
		if !w.up.Load() {
			return errors.New("not started")
		}
		return nil
	}
}

// RoundTrip implements http.RoundTripper. It answers a request to any service of webhooks.
func (w *webhooks) RoundTrip(r *http.Request) (*http.Response, error) {
	if !w.up.Load() || w.life.Err() != nil {
		return nil, errors.New("dial tcp: connection refused")
	}
	recorder := httptest.NewRecorder()
	w.WebhookMux().ServeHTTP(recorder, r)
	return recorder.Result(), nil
}
