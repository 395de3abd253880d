package devices

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// maxResults is the maximum number of devices of an allocation (AllocationResultsMaxSize).
const maxResults = 32

// claim is a claim to be allocated.
type claim struct {
	obj         object.Object
	requests    []*request
	constraints []*constraint
}

// request is a request of a claim. One of its alternatives is allocated. A request without a prioritised list has only one.
type request struct {
	name         string
	listed       bool // it has a prioritised list
	alternatives []*alternative
	chosen       int // index of the alternative that was allocated
}

// alternative has the requirements of a request, or of one entry in its prioritised list.
type alternative struct {
	request, sub string
	spec, class  object.Object
	admin        bool
	all          bool // all devices that match
	count        int
	devices      []*device // if all
	capacity     map[string]quantity.Quantity
	tolerations  []object.Object
	selectable   map[*device]bool // results of its selectors
}

// name returns the name of the alternative in results.
func (a *alternative) name() string {
	if a.sub == "" {
		return a.request
	}
	return a.request + "/" + a.sub
}

// own returns the name in messages.
func (a *alternative) own() string {
	if a.sub == "" {
		return a.request
	}
	return a.sub
}

// keyOf returns the namespace and name of a claim for messages.
func keyOf(claim object.Object) string { return claim.Namespace() + "/" + claim.Name() }

// prepare reads the claims to allocate, and checks their requests.
func (s *search) prepare(objs []object.Object) error {
	for _, obj := range objs {
		c := &claim{obj: obj, constraints: constraintsOf(obj, s.Minor)}
		least := 0
		for _, r := range obj.Objects("spec", "devices", "requests") {
			x, n, err := s.request(c, r)
			if err != nil {
				return err
			}
			c.requests = append(c.requests, x)
			if s.Minor >= 37 && n > maxResults-least {
				return fmt.Errorf("claim %s, request %s: adding %d devices exceeds the claim limit of %d, with %d already accounted for",
					keyOf(obj), x.name, n, maxResults, least)
			}
			least += n
		}
		if least > maxResults {
			return fmt.Errorf("claim %s: number of requested devices %d exceeds the claim limit of %d", keyOf(obj), least, maxResults)
		}
		s.claims = append(s.claims, c)
	}
	return nil
}

// request reads a request. least is the minimum number of devices that it needs.
func (s *search) request(c *claim, r object.Object) (x *request, least int, err error) {
	x = &request{name: r.String("name")}
	specs, listed := r.Objects("firstAvailable"), r.Has("firstAvailable")
	if x.listed = listed; !listed {
		specs = []object.Object{r.At("exactly")}
	}
	for i, spec := range specs {
		a := &alternative{request: x.name, spec: spec, admin: spec.True("adminAccess"), capacity: quantities(spec.Map("capacity", "requests")),
			tolerations: spec.Objects("tolerations"), selectable: map[*device]bool{}}
		if listed {
			a.sub = spec.String("name")
		}
		if err := s.check(c, a); err != nil {
			return nil, 0, err
		}
		if i == 0 || a.count < least {
			least = a.count
		}
		x.alternatives = append(x.alternatives, a)
	}
	return x, least, nil
}

// check checks an alternative, and sets the number of devices that it needs (incubating.validateDeviceRequest).
func (s *search) check(c *claim, a *alternative) error {
	about := fmt.Sprintf("claim %s, request %s", keyOf(c.obj), a.own())
	class := a.spec.String("deviceClassName")
	if a.class = s.Cluster.Class(class); a.class == nil {
		return fmt.Errorf("%s: could not retrieve device class %s: deviceclass.resource.k8s.io %q not found", about, class, class)
	}
	mode := a.spec.String("allocationMode")
	switch mode {
	case "ExactCount":
		a.count = int(a.spec.Int64("count"))
		return nil
	case "All":
	default:
		return fmt.Errorf("%s: unsupported count mode %s", about, mode)
	}
	a.all = true
	for _, p := range s.pools {
		if p.incomplete {
			return fmt.Errorf("%s: asks for all devices, but resource pool %s is currently being updated", about, p)
		}
		if p.invalid {
			return fmt.Errorf("%s: asks for all devices, but resource pool %s is currently invalid", about, p)
		}
		for _, d := range p.devices {
			ok, err := s.isSelectable(c, a, d)
			if err != nil {
				return err
			}
			if ok && (!s.Capacity || s.fits(a, d, s.Minor < 37)) {
				a.devices = append(a.devices, d)
			}
		}
	}
	a.count = len(a.devices)
	return nil
}

// isSelectable reports whether a device matches the selectors of an alternative and its class, and may be used on the node.
func (s *search) isSelectable(c *claim, a *alternative, d *device) (bool, error) {
	if ok, known := a.selectable[d]; known {
		return ok, nil
	}
	if !s.Conditions && len(d.obj.List("bindingConditions")) > 0 {
		return false, nil
	}
	ok, err := s.selected(a.class.Objects("spec", "selectors"), d, "class "+a.class.Name())
	if ok && err == nil {
		ok, err = s.selected(a.spec.Objects("selectors"), d, "claim "+keyOf(c.obj))
	}
	if err != nil {
		return false, err
	}
	ok = ok && (!d.slice.perDevice || d.place.matches(s.node))
	a.selectable[d] = ok
	return ok, nil
}

// selected reports whether a device matches all selectors. of is their owner, for messages.
func (s *search) selected(selectors []object.Object, d *device, of string) (bool, error) {
	for i, x := range selectors {
		expression := x.String("cel", "expression")
		program, err := s.compiled(expression)
		if err != nil {
			return false, fmt.Errorf("%s: selector #%d: CEL compile error: %w", of, i, err)
		}
		ok, err := program.Match(d.Driver, d.obj)
		switch {
		case err != nil && s.Minor >= 37:
			return false, fmt.Errorf("%s: selector #%d on device %s: CEL runtime error: %w", of, i, d.ID, hinted(err))
		case err != nil:
			return false, fmt.Errorf("%s: selector #%d: CEL runtime error: %w", of, i, err)
		case !ok:
			return false, nil
		}
	}
	return true, nil
}

// fits reports whether the capacities of a device suffice for an alternative. If used is set, capacity that is in use counts.
func (s *search) fits(a *alternative, d *device, used bool) bool {
	if !used {
		return d.hasRoom(a.capacity)
	}
	return d.hasRoom(a.capacity, s.Usage.capacity[d.ID], s.capacity[d.ID])
}
