package resource

import "github.com/kubesim/kubesim/sim/status"

// Stream is a subresource that streams or proxies (log, exec, proxy, …). It is not simulated, because there is no kubelet
// behind the simulator: a request gets what the real server refuses before it would connect to one, or else a 501.
type Stream struct {
	// Instead says what the stream would need, and what a test can do without it.
	Instead string
	// Refuse returns what is wrong with a request, nil if the real server would connect now.
	Refuse func(r *StreamRequest) *status.Status
	// Text says that the answer is a text, which the Accept header has to allow.
	Text bool
}

// StreamRequest is a request for a Stream.
type StreamRequest struct {
	Definition      *Definition
	Namespace, Name string
	Query           map[string][]string
	Objects         Reader
}
