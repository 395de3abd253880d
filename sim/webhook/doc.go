// Package webhook asks webhooks as the real server does: admission and conversion share the REST client of client-go
// (rest.Request, under webhook.ClientManager of k8s.io/apiserver).
//
//	clientConfig ─ Address ─▶ https://HOST:PORT/PATH?timeout=10s ─┐
//	review ───────────────────────────────────────────────────────┴▶ Call ─┬▶ redirects followed
//	                                                                  │     └▶ 429 and 5xx with Retry-After: asked again
//	                                          answer, or what went wrong ◀┘
//
// Who calls is given to the Cluster, as fake does: a page calls nobody. Time is the Cluster's: the caller is given what waits.
package webhook
