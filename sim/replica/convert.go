package replica

import (
	"errors"
	"maps"

	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/http"
)

var errNoTransport = errors.New("kubesim: nothing carries requests to conversion webhooks: register a conversion function, or set a transport")

// Conversions are what turns custom resources from one version into another.
type Conversions struct {
	functions map[string]crd.Converter // by name of the definition
	transport http.RoundTripper        // to webhooks
	memory    crd.Memory               // of what webhooks have answered

	// unlocks says that a request is being served and nothing depends on the lock: a webhook is asked without it.
	unlocks bool
}

// Register sets what converts the objects of the definition with the name; nil takes it back.
func (c *Conversions) Register(definition string, f crd.Converter) {
	if c.functions == nil {
		c.functions = map[string]crd.Converter{}
	}
	delete(c.functions, definition)
	if f != nil {
		c.functions[definition] = f
	}
}

// Through sets what carries requests to conversion webhooks.
func (c *Conversions) Through(transport http.RoundTripper) { c.transport = transport }

// adopt takes over what was registered with another.
func (c *Conversions) adopt(other *Conversions) {
	c.functions, c.transport = maps.Clone(other.functions), other.transport
}

// HoldLock makes webhooks be asked under the lock until the function it returns is called.
func (c *Conversions) HoldLock() (done func()) {
	was := c.unlocks
	c.unlocks = false
	return func() { c.unlocks = was }
}

// RoundTrip carries a request to a conversion webhook.
func (c *Conversions) RoundTrip(q *http.Request) (*http.Response, error) {
	if c.transport == nil {
		return nil, errNoTransport
	}
	return c.transport.RoundTrip(q)
}
