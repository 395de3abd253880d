package scenario

import (
	"net/url"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/checker"
	"github.com/kubesim/kubesim/sim/object"
)

// Request is a request of an operation, for callers that send it to a server other than the World's own.
type Request struct {
	*Exchange
	call *call

	// Call or Stream is the request's entry in the recorded history; the other field is nil.
	Call   *checker.Call
	Stream *checker.Stream
}

// Requests returns the requests of an operation without sending them. A revision that is given as an offset, such as -20, is
// relative to newest. Requests returns an error if the operation is invalid.
func (w *World) Requests(op Op, newest uint64) ([]*Request, error) {
	w.newest = newest
	list, err := w.requests(&op, nil)
	w.newest = 0
	var out []*Request
	for _, c := range list {
		c.about = aboutOf(c.path)
		r := &Request{Exchange: c.exchange, call: c}
		r.Call, r.Stream = c.entry()
		out = append(out, r)
	}
	return out, err
}

// Entry returns the entry of an HTTP request in a recorded history: a Call, a Stream, or neither if no promise covers
// the request.
func Entry(method, path string, query url.Values, body []byte) (*checker.Call, *checker.Stream) {
	return (&call{exchange: &Exchange{Method: method, Body: body}, path: path, query: query, about: aboutOf(path)}).entry()
}

// entry returns the entry of the call in a recorded history (see Entry).
func (c *call) entry() (*checker.Call, *checker.Stream) {
	if n := new(history).sent(c); n != nil {
		return n.call, n.stream
	}
	return nil, nil
}

// Answered adds a complete response to the state that the client remembers.
func (r *Request) Answered(code int, body []byte) {
	r.call.answer = &apiserver.Answer{Code: code}
	r.call.body, _ = object.Parse(body)
	r.call.rememberAnswer()
}

// Saw adds a watch event to the state that the client remembers.
func (r *Request) Saw(event []byte) {
	if obj, err := object.Parse(event); err == nil {
		r.call.rememberEvent(&Event{Type: obj.String("type"), Object: obj.Map("object")})
	}
}
