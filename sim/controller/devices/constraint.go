package devices

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// constraint is a constraint of a claim: its devices have the same value of an attribute, or different ones.
type constraint struct {
	requests  []string // names of requests, or of alternatives as REQUEST/NAME; if empty, all
	attribute string
	distinct  bool
	minor     int

	taken []taken // the values of devices that are being allocated, in order
}

type taken struct {
	request string
	value   any
}

func constraintsOf(claim object.Object, minor int) (all []*constraint) {
	for _, c := range claim.Objects("spec", "devices", "constraints") {
		x := &constraint{requests: c.Strings("requests"), attribute: c.String("matchAttribute"), minor: minor}
		if c.Has("distinctAttribute") {
			x.attribute, x.distinct = c.String("distinctAttribute"), true
		}
		all = append(all, x)
	}
	return all
}

// concerns reports whether the constraint applies to an alternative of a request.
func (c *constraint) concerns(a *alternative) bool {
	return len(c.requests) == 0 || slices.Contains(c.requests, a.request) || slices.Contains(c.requests, a.name())
}

// add reports whether a device may be allocated for an alternative. If so, later devices are compared with it.
func (c *constraint) add(a *alternative, d *device) bool {
	if !c.concerns(a) {
		return true
	}
	value := d.attribute(c.attribute)
	if value == nil || !c.accepts(value) {
		return false
	}
	c.taken = append(c.taken, taken{a.request, value})
	return true
}

// remove undoes the last successful add.
func (c *constraint) remove(a *alternative) {
	if c.concerns(a) {
		c.taken = c.taken[:len(c.taken)-1]
	}
}

func (c *constraint) accepts(value any) bool {
	if !c.distinct {
		return len(c.taken) == 0 || object.Equal(c.taken[0].value, value)
	}
	for i, t := range c.taken {
		// Before 1.37, only the last device of each request is compared (distinctAttributeConstraint.attributes).
		last := c.minor >= 37 || !slices.ContainsFunc(c.taken[i+1:], func(u taken) bool { return u.request == t.request })
		if last && object.Equal(t.value, value) {
			return false
		}
	}
	return true
}

// attribute returns an attribute of a device by its qualified name, as the type and value that the slice has, or nil
// (incubating.lookupAttribute).
func (d *device) attribute(name string) any {
	all := d.obj.Map("attributes")
	if v, ok := all[name]; ok {
		return v
	}
	if domain, id, ok := strings.Cut(name, "/"); ok && domain == d.Driver {
		return all[id]
	}
	return nil
}
