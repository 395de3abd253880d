// Package answer carries the answers of an API server to its clients, over the connections of net/http or in process.
//
//	request ─┬─ Handler, an http.Handler ─┬─▶ ask ─▶ apiserver.Answer ─┬─ a body ────▶ written as a whole
//	         └─ RoundTrip, in process ────┘                            ├─ a watch ───▶ stream: frame after frame, or messages of a WebSocket
//	                                                                   ├─ a stream ──▶ relay: what an aggregated API server sends
//	                                                                   └─ a session ─▶ tail of a log, or upgraded: exec, attach, port-forward
//	                                                                                   over WebSocket or SPDY
//
// It takes the lock of the API server's cluster only to ask and to take what is there, never while a client waits or reads.
package answer
