package devices

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// Features are the optional parts of allocation, each with a feature gate of kube-scheduler.
type Features struct {
	Partitions bool // DRAPartitionableDevices
	Taints     bool // DRADeviceTaints
	Conditions bool // DRADeviceBindingConditions
	Capacity   bool // DRAConsumableCapacity
}

// Allocator allocates devices.
type Allocator struct {
	Features
	Minor   int // the minor version of the scheduler: 36 is Kubernetes 1.36
	Catalog *Catalog
	Usage   *Usage
	Cluster Cluster

	selectors map[string]selector
}

// Cluster provides the rest of the state that an Allocator needs.
type Cluster interface {
	// Class returns a DeviceClass, or nil.
	Class(name string) object.Object
	// NewShareID returns a new ID for a share of a device.
	NewShareID() string
}

// selector is a compiled expression, or the error of the compilation.
type selector struct {
	*cel.DeviceSelector
	err error
}

// NodeError is an error that concerns only one node.
type NodeError struct{ text string }

// Error implements error.
func (e *NodeError) Error() string { return e.text }

// errTooMany reports that an alternative needs more devices than an allocation can have.
var errTooMany = errors.New("allocation max size exceeded")

// search is the allocation of claims for one node.
type search struct {
	*Allocator
	node       Node
	pools      []*pool
	candidates []*device
	poolOf     map[*device]*pool
	claims     []*claim

	result   [][]*result         // the devices that are being allocated, by claim
	taken    map[ID]map[int]bool // the claims for which each device is being allocated
	capacity map[ID]map[string]quantity.Quantity
	counters map[*pool]*counters
}

// result is a device that is being allocated.
type result struct {
	*device
	of       *alternative
	consumed map[string]quantity.Quantity
}

// position is the device that is to be chosen next.
type position struct {
	claim, request, alternative, device int

	chosen bool // the alternative is decided
}

// Allocate returns an allocation for each claim, for use on a node. If there is no solution, ok is false. An error that is not a
// NodeError is about the claims or their classes, so that no node needs to be tried.
func (a *Allocator) Allocate(n Node, claims []object.Object) (allocations []object.Object, ok bool, err error) {
	s := &search{Allocator: a, node: n, pools: a.Catalog.pools(n, a.Features), poolOf: map[*device]*pool{}, taken: map[ID]map[int]bool{},
		capacity: map[ID]map[string]quantity.Quantity{}, counters: map[*pool]*counters{}, result: make([][]*result, len(claims))}
	for _, p := range s.pools {
		s.candidates = append(s.candidates, p.devices...)
		for _, d := range p.devices {
			s.poolOf[d] = p
		}
	}
	if err := s.prepare(claims); err != nil {
		return nil, false, err
	}
	done, err := s.next(position{}, 0)
	switch {
	case errors.Is(err, errTooMany):
		err = nil
	case err != nil:
		return nil, false, err
	}
	if !done {
		if slices.ContainsFunc(s.pools, func(p *pool) bool { return p.invalid }) {
			return nil, false, &NodeError{"invalid resource pools were encountered"}
		}
		return nil, false, nil
	}
	for i := range s.claims {
		allocations = append(allocations, s.allocation(i))
	}
	return allocations, true, nil
}

// compiled returns the program of a selector.
func (a *Allocator) compiled(expression string) (*cel.DeviceSelector, error) {
	if a.selectors == nil {
		a.selectors = map[string]selector{}
	}
	s, known := a.selectors[expression]
	if !known {
		s.DeviceSelector, s.err = cel.NewDeviceSelector(expr.Environment{Minor: a.Minor}, expression)
		a.selectors[expression] = s
	}
	return s.DeviceSelector, s.err
}

// hinted adds the hint that servers give since 1.37 if an attribute is missing (cel.EnhanceRuntimeError).
func hinted(err error) error {
	if !strings.Contains(err.Error(), "no such key:") {
		return err
	}
	return fmt.Errorf("%w. consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields", err)
}

// next allocates the devices from a position on. from is the first candidate for the device at the position, because the order of
// the devices of a request does not matter (incubating.allocateOne).
func (s *search) next(at position, from int) (done bool, err error) {
	if at.claim == len(s.claims) {
		return true, nil
	}
	c := s.claims[at.claim]
	if at.request == len(c.requests) {
		done, err = s.next(position{claim: at.claim + 1}, 0)
		if errors.Is(err, errTooMany) {
			err = nil // another alternative of an earlier claim may allow one with fewer devices here
		}
		return done, err
	}
	r := c.requests[at.request]
	if r.listed && !at.chosen {
		return s.choose(r, at)
	}
	a := r.alternatives[at.alternative]
	switch {
	case a.all && len(a.devices) == 0:
		return false, nil
	case at.device >= a.count:
		return s.next(position{claim: at.claim, request: at.request + 1}, 0)
	case len(s.result[at.claim])+a.count-at.device > maxResults:
		return false, errTooMany
	}
	if a.all {
		return s.allOf(c, a, at)
	}
	for i := from; i < len(s.candidates); i++ {
		if done, err = s.try(c, a, at, i); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// choose tries the alternatives of a prioritised list in order.
func (s *search) choose(r *request, at position) (done bool, err error) {
	tooMany := true
	for i := range r.alternatives {
		done, err = s.next(position{claim: at.claim, request: at.request, alternative: i, chosen: true}, 0)
		switch {
		case errors.Is(err, errTooMany):
			continue
		case err != nil:
			return false, err
		case done:
			r.chosen = i
			return true, nil
		}
		tooMany = false
	}
	if tooMany {
		return false, errTooMany
	}
	return false, nil
}

// allOf allocates the next device of a request for all devices.
func (s *search) allOf(c *claim, a *alternative, at position) (done bool, err error) {
	d := a.devices[at.device]
	undo, why := s.take(c, a, at, d)
	if undo == nil {
		if why != nil {
			err = fmt.Errorf("claim %s, request %s: cannot add device %s because a claim constraint would not be satisfied", keyOf(c.obj), a.own(), d.ID)
		}
		return false, err
	}
	at.device++
	if done, err = s.next(at, 0); !done || err != nil {
		undo()
	}
	return done, err
}

// try allocates the candidate with an index, and then everything after it.
func (s *search) try(c *claim, a *alternative, at position, index int) (done bool, err error) {
	d := s.candidates[index]
	if s.inUse(a, at, d) {
		return false, nil
	}
	if ok, err := s.isSelectable(c, a, d); err != nil || !ok {
		return false, err
	}
	undo, _ := s.take(c, a, at, d)
	if undo == nil {
		return false, nil
	}
	at.device++
	if done, err = s.next(at, index+1); !done || err != nil {
		undo()
	}
	return done, err
}

// inUse reports whether a device is not available to an alternative. Admin access only excludes using it twice in a claim.
func (s *search) inUse(a *alternative, at position, d *device) bool {
	if a.admin {
		return s.taken[d.ID][at.claim]
	}
	return s.Usage.exclusive[d.ID] > 0 || len(s.taken[d.ID]) > 0
}

// errConstraint reports that a constraint of the claim excludes a device.
var errConstraint = errors.New("a constraint is not satisfied")

// take marks a device as allocated. It returns a function that undoes this, or nil if the device is not available
// (incubating.allocateDevice).
func (s *search) take(c *claim, a *alternative, at position, d *device) (undo func(), why error) {
	shared := s.Capacity && d.multiple
	if s.inUse(a, at, d) || !s.Partitions && len(d.counters) > 0 ||
		s.Taints && s.repels(a, d) || s.Capacity && !s.fits(a, d, true) {
		return nil, nil
	}
	counted := len(d.counters) > 0 && !(shared && (s.Usage.shares[d.ID] > 0 || s.capacity[d.ID] != nil))
	if counted && !s.countersOf(d).take(d) {
		return nil, nil
	}
	undoCounters := func() {
		if counted {
			s.countersOf(d).add(d, -1)
		}
	}
	for i, x := range c.constraints {
		if !x.add(a, d) {
			for _, y := range c.constraints[:i] {
				y.remove(a)
			}
			undoCounters()
			return nil, errConstraint
		}
	}
	r := &result{device: d, of: a}
	first := s.capacity[d.ID] == nil
	if shared {
		r.consumed = d.consumes(a.capacity)
		if first {
			s.capacity[d.ID] = map[string]quantity.Quantity{}
		}
		add(s.capacity[d.ID], r.consumed, 1)
	} else {
		if s.taken[d.ID] == nil {
			s.taken[d.ID] = map[int]bool{}
		}
		s.taken[d.ID][at.claim] = true
	}
	s.result[at.claim] = append(s.result[at.claim], r)
	return func() {
		s.result[at.claim] = s.result[at.claim][:len(s.result[at.claim])-1]
		switch {
		case !shared:
			delete(s.taken[d.ID], at.claim)
		case first:
			delete(s.capacity, d.ID)
		default:
			add(s.capacity[d.ID], r.consumed, -1)
		}
		for _, x := range c.constraints {
			x.remove(a)
		}
		undoCounters()
	}, nil
}

// repels reports whether a device has a taint that an alternative does not tolerate.
func (s *search) repels(a *alternative, d *device) bool {
	return slices.ContainsFunc(s.Catalog.taintsOf(d), func(taint object.Object) bool {
		effect := taint.String("effect")
		return (effect == "NoSchedule" || effect == "NoExecute") &&
			!slices.ContainsFunc(a.tolerations, func(t object.Object) bool { return Tolerates(t, taint) })
	})
}
