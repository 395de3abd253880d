// Package webhook calls webhooks like the real server, in which admission and conversion share client-go's REST client
// (rest.Request, under webhook.ClientManager of k8s.io/apiserver).
//
//	clientConfig ─ Address ─▶ https://HOST:PORT/PATH?timeout=10s ─┐
//	review ───────────────────────────────────────────────────────┴▶ Call ─┬▶ redirects are followed
//	                                                                  │     └▶ 429 and 5xx with Retry-After are retried
//	                                                response, error ◀─┘
//
// The program that runs the Cluster, such as package fake, provides the function that sends requests; the engine of the page sends
// none. Because waiting uses the Cluster's clock, the function that waits is also provided.
package webhook
