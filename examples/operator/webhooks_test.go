package operator

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"

	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// webhooks is a webhook server that does not listen: RoundTrip, which the API server calls, asks its handlers in
// process.
//
//	hooks := &webhooks{Server: webhook.NewServer(webhook.Options{})}
//	srv.AdmitThrough(hooks)
//	srv.ConvertThrough(hooks)
//	manager, err := controllerruntime.NewManager(cfg, controllerruntime.Options{WebhookServer: hooks, …})
type webhooks struct {
	webhook.Server
	up atomic.Bool
}

// Start serves until the manager stops.
func (w *webhooks) Start(ctx context.Context) error {
	w.up.Store(true)
	defer w.up.Store(false)
	<-ctx.Done()
	return nil
}

// StartedChecker is asked by the manager before it starts caches.
func (w *webhooks) StartedChecker() healthz.Checker {
	return func(*http.Request) error {
		if !w.up.Load() {
			return errors.New("not started")
		}
		return nil
	}
}

// RoundTrip answers a request to the service of the webhooks.
func (w *webhooks) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Hostname() != "webhook.site-system.svc" || !w.up.Load() {
		return nil, errors.New("dial tcp: connection refused")
	}
	recorder := httptest.NewRecorder()
	w.WebhookMux().ServeHTTP(recorder, r)
	return recorder.Result(), nil
}
