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
	// requestTimeout is config.Cluster.RequestTimeout where that is 0.
	requestTimeout = time.Minute

	// writeTimeout is how long the handler of a create, update, patch or delete of one object may take
	// (k8s.io/apiserver/pkg/endpoints/handlers, requestTimeoutUpperBound). A deletecollection has no such limit.
	writeTimeout = 34 * time.Second

	// servedWithin is the shortest ?timeout= that can be met. A real server needs longer, and answers 504. Here no time passes unless
	// a request waits.
	servedWithin = time.Millisecond
)

// checkTimeout refuses a ?timeout= that is not a duration. Watches and other long-running requests ignore the parameter.
func (c *call) checkTimeout() *status.Status {
	text := c.q.Query.Get("timeout")
	if text == "" || c.info.verb == "watch" || c.info.verb == "proxy" {
		return nil
	}
	if _, err := time.ParseDuration(text); err != nil {
		return status.BadRequest("invalid timeout specified in the request URL - %v", err)
	}
	return nil
}

// limit returns how long the request may take, or 0 for a long-running one.
func (c *call) limit() time.Duration {
	d := c.digest()
	if d.Verb == "watch" || d.LongRunning() {
		return 0
	}
	most := cmp.Or(c.s.Registry.Config.RequestTimeout, requestTimeout)
	if limit, err := time.ParseDuration(c.q.Query.Get("timeout")); err == nil && limit > 0 && limit < most {
		return limit
	}
	return most
}

// begin starts the deadline of the request. A request that a fault has delayed on its way here is served even if its client did not
// wait for it: it was sent.
func (c *call) begin() {
	client := c.q.Context
	if c.late && client != nil && client.Err() != nil {
		client = nil
	}
	c.deadline = deadline.Begin(c.s.Registry.Backend, client, c.limit())
}

// hopeless reports whether the client wants an answer sooner than any server can give one.
func (c *call) hopeless() bool {
	left, ok := c.deadline.Left()
	return ok && left < servedWithin
}

// shorten applies the limit of the handlers of writes, in addition to the limit of all requests.
func (c *call) shorten() {
	switch c.route.verb {
	case "create", "update", "patch", "delete":
		c.deadline.Shorten(writeTimeout)
	}
}

// await answers 504 at the deadline if the handler has not answered by then: it waits for a cache.
func (c *call) await() {
	if !c.answered {
		c.deadline.OnOver(func() {
			if !c.answered {
				c.endLate()
			}
		})
	}
}

// endLate gives the answer of a request whose time is over before it is done, and reports whether the request is one.
func (c *call) endLate() bool {
	if !c.deadline.Over() {
		return false
	}
	if limit := c.limit(); limit != 0 && c.deadline.Passed(limit) {
		c.timedOut()
		return true
	}
	c.writeFailure(status.Timeout("request did not complete within requested timeout - "+context.DeadlineExceeded.Error(), 0))
	return true
}

// timedOut answers a request that has reached the limit of all requests. The filter that does this in a real server runs outside of the
// filters that add the headers of priority and fairness, and writes a Status without its kind as plain text.
func (c *call) timedOut() {
	delete(c.header, flowcontrol.SchemaHeader)
	delete(c.header, flowcontrol.LevelHeader)
	c.header.Set("Content-Type", "text/plain; charset=utf-8")
	c.warnings = nil
	c.answer(wire.StatusGatewayTimeout, codec.Text{[]byte(`{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the ` +
		`allotted timeout","reason":"Timeout","details":{},"code":504}` + "\n")})
}
