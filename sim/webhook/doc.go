// Package webhook calls webhooks as the real server does: admission and conversion share the REST client of client-go
// (rest.Request, under webhook.ClientManager of k8s.io/apiserver).
//
//	clientConfig ─ Address ─▶ https://HOST:PORT/PATH?timeout=10s ─┐
//	review ───────────────────────────────────────────────────────┴▶ Call ─┬▶ redirects followed
//	                                                                  │     └▶ 429 and 5xx with Retry-After: asked again
//	                                          answer, or what went wrong ◀┘
//
// The program around the Cluster provides the function that sends requests, as package fake does; the engine of the page sends
// none. Time is the Cluster's, so the function that waits is provided, too.
package webhook
