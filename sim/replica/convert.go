package replica

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/webhook"
)

var errNoCall = errors.New("kubesim: the server cannot call conversion webhooks: register a conversion function, or set a transport")

// Conversions convert custom resources between versions.
type Conversions struct {
	functions map[string]crd.Converter // by name of the definition
	call      webhook.Call             // calls webhooks
	memory    crd.Memory               // results of webhook calls
}

// Register sets the function that converts the objects of the named definition. If f is nil, it removes the function.
func (c *Conversions) Register(definition string, f crd.Converter) {
	if c.functions == nil {
		c.functions = map[string]crd.Converter{}
	}
	delete(c.functions, definition)
	if f != nil {
		c.functions[definition] = f
	}
}

// Through sets the function that calls conversion webhooks. If call is nil, they are not called.
func (c *Conversions) Through(call webhook.Call) { c.call = call }

// adopt copies the registered functions of another Conversions.
func (c *Conversions) adopt(other *Conversions) {
	c.functions, c.call = maps.Clone(other.functions), other.call
}

// Converter implements crd.Host.
func (c *Conversions) Converter(definition string) crd.Converter { return c.functions[definition] }

// Memory implements crd.Host.
func (c *Conversions) Memory() *crd.Memory { return &c.memory }

// Call implements crd.Host.
func (c *Conversions) Call(ctx context.Context, q *webhook.Request) (*webhook.Answer, error) {
	if c.call == nil {
		return nil, fmt.Errorf("Post %q: %w", q.URL, errNoCall)
	}
	return c.call(ctx, q)
}
