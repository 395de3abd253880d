// Package answer delivers the responses of an API server to its clients, over net/http connections or in process.
//
//	request ─┬─ Handler, an http.Handler ─┬─▶ ask ─▶ apiserver.Answer ─┬─ a body ────▶ written as a whole
//	         └─ RoundTrip, in process ────┘                            ├─ a watch ───▶ stream: frame after frame, or messages of a WebSocket
//	                                                                   ├─ a stream ──▶ relay: the stream of an aggregated API server
//	                                                                   └─ a session ─▶ tail of a log, or upgraded: exec, attach, port-forward
//	                                                                                   over WebSocket or SPDY
//
// It holds the lock of the API server's cluster only to start requests and to take available output, never while a client waits or
// reads.
package answer
