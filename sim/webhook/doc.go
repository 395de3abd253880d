// Package webhook asks webhooks as the real server does: admission and conversion share the REST client of client-go
// (rest.Request, under webhook.ClientManager of k8s.io/apiserver).
//
//	clientConfig ─ Address ─▶ https://HOST:PORT/PATH?timeout=10s ─┐
//	review ───────────────────────────────────────────────────────┴▶ Client.Ask ─┬▶ redirects followed
//	                                                                  │           └▶ 429 and 5xx with Retry-After: asked again
//	                                          answer, or what went wrong ◀┘
//
// Time is the Cluster's: the Client is given what waits.
package webhook
