package apiserver

import (
	"cmp"
	"context"
	"time"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/deadline"
	"github.com/kubesim/kubesim/sim/flowcontrol"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

const (
	// requestTimeout is the default of config.Cluster.RequestTimeout.
	requestTimeout = time.Minute

	// writeTimeout limits the handler of a create, update, patch or delete of one object (k8s.io/apiserver/pkg/endpoints/handlers,
	// requestTimeoutUpperBound). A deletecollection has no such limit.
	writeTimeout = 34 * time.Second

	// servedWithin is the shortest ?timeout= that is served. A real server needs longer and responds with 504; in kubesim, time
	// passes only if a request waits.
	servedWithin = time.Millisecond
)

// checkTimeout rejects a ?timeout= that is not a duration. Watches and other long-running requests ignore the parameter.
func (e *Exchange) checkTimeout() *status.Status {
	text := e.Query.Get("timeout")
	if text == "" || e.Verb == "watch" || e.Verb == "proxy" {
		return nil
	}
	if _, err := time.ParseDuration(text); err != nil {
		return status.BadRequest("invalid timeout specified in the request URL - %v", err)
	}
	return nil
}

// limit returns the time limit of the request, or 0 for a long-running one.
func (e *Exchange) limit() time.Duration {
	d := e.digest()
	if d.Verb == "watch" || d.LongRunning() {
		return 0
	}
	most := cmp.Or(e.s.Registry.Config.RequestTimeout, requestTimeout)
	if limit, err := time.ParseDuration(e.Query.Get("timeout")); err == nil && limit > 0 && limit < most {
		return limit
	}
	return most
}

// begin starts the deadline of the request. If a fault has delayed the request, it is served even if its client has disconnected
// meanwhile.
func (e *Exchange) begin() {
	client := e.Request.Context
	if e.late && client != nil && client.Err() != nil {
		client = nil
	}
	e.deadline = deadline.Begin(e.s.Registry.Backend, client, e.limit())
}

// timeoutTooShort reports whether the client's timeout is too short for any server.
func (e *Exchange) timeoutTooShort() bool {
	left, ok := e.deadline.Left()
	return ok && left < servedWithin
}

// limitWrite applies the time limit of write handlers, in addition to that of all requests.
func (e *Exchange) limitWrite() {
	switch e.route.verb {
	case "create", "update", "patch", "delete":
		e.deadline.Shorten(writeTimeout)
	}
}

// await starts a timer that responds with 504 at the deadline. Only a handler that waits, for example for a cache, has not
// responded by then.
func (e *Exchange) await() {
	if !e.answered {
		e.deadline.OnOver(func() {
			if !e.answered {
				e.endLate()
			}
		})
	}
}

// endLate responds to a request whose deadline has passed. It returns false if the deadline has not passed.
func (e *Exchange) endLate() bool {
	if !e.deadline.Over() {
		return false
	}
	if limit := e.limit(); limit != 0 && e.deadline.Passed(limit) {
		e.timedOut()
		return true
	}
	e.writeFailure(status.Timeout("request did not complete within requested timeout - "+context.DeadlineExceeded.Error(), 0))
	return true
}

// timedOut responds to a request that has reached the limit of all requests. In a real server, the filter that does this runs
// outside the filters that add the headers of priority and fairness, and it writes a Status without its kind as plain text.
func (e *Exchange) timedOut() {
	delete(e.head, flowcontrol.SchemaHeader)
	delete(e.head, flowcontrol.LevelHeader)
	e.head.Set("Content-Type", "text/plain; charset=utf-8")
	e.warnings = nil
	e.answer(wire.StatusGatewayTimeout, codec.TextOf([]byte(`{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the `+
		`allotted timeout","reason":"Timeout","details":{},"code":504}`+"\n")))
}
