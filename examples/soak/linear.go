package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/kubesim/kubesim/sim/checker"
)

// register is the state of an object in the store. rev is 0 if the revision is unknown.
type register struct {
	there bool
	rev   uint64
}

// linearizable checks that the responses to gets of the newest state and to writes of single objects could have been produced by a
// register that executes one operation at a time, each between its request and its response (porcupine). It does not read the log.
// A write with an unknown outcome may have happened at any time after it was sent, or never. If definite is true, only timeouts and
// missing responses have unknown outcomes, as in the simulator. Otherwise every 5xx has an unknown outcome, as for a server behind
// a network. The result is Unknown if the check of an object took longer than a second.
func linearizable(h *checker.History, definite bool) porcupine.CheckResult {
	skip := map[checker.ID]bool{}
	for _, c := range h.Calls {
		if c.Verb == "deletecollection" && (c.Done() || c.Unknown()) {
			for _, b := range h.Calls { // its response does not contain the objects that it deleted
				if b.Resource == c.Scope.Resource && (c.Scope.Namespace == "" || b.Namespace == c.Scope.Namespace) {
					skip[b.ID] = true
				}
			}
		}
	}
	ops := map[checker.ID][]porcupine.Operation{}
	for _, c := range h.Calls {
		if c.Name == "" || skip[c.ID] || !relevant(h, c, definite) {
			continue
		}
		op := porcupine.Operation{Input: c, Output: c, Call: c.Called, Return: c.Returned}
		if c.Returned == 0 || unknown(c, definite) {
			op.Return = math.MaxInt64
		}
		ops[c.ID] = append(ops[c.ID], op)
	}
	result := porcupine.Ok
	for id, list := range ops { // order does not matter: the worst result is returned
		switch porcupine.CheckOperationsTimeout(model(h, id, definite), list, time.Second) {
		case porcupine.Illegal:
			return porcupine.Illegal
		case porcupine.Unknown:
			result = porcupine.Unknown
		}
	}
	return result
}

// unknown reports whether the outcome of a call is unknown.
func unknown(c *checker.Call, definite bool) bool {
	if definite && c.Returned != 0 && !c.Broken {
		return c.Code == 504
	}
	return c.Unknown()
}

// relevant reports whether a call provides evidence of its object's state.
func relevant(h *checker.History, c *checker.Call, definite bool) bool {
	switch {
	case slices.Contains(h.Expiring, c.Resource):
		return false
	case c.Verb == "get":
		return c.Version == "" && (c.Done() || c.Code == 404 && !c.Broken && c.Returned != 0)
	}
	return c.Done() || unknown(c, definite) || c.Code == 404 || c.Verb == "create" && c.Code == 409
}

// model returns the register model of an object.
func model(h *checker.History, id checker.ID, definite bool) porcupine.Model {
	begin := register{}
	for _, b := range h.Before {
		if b.ID == id {
			begin = register{true, b.Rev}
		}
	}
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{begin} },
		Step: func(state, input, _ any) []any {
			c := input.(*checker.Call)
			s := state.(register)
			if unknown(c, definite) {
				return append([]any{s}, guess(s, c)...)
			}
			return step(s, c)
		},
		DescribeOperation: func(input, _ any) string { return fmt.Sprint(input) },
	}
	return m.ToModel()
}

// guess returns the possible states of the object after a write with an unknown outcome.
func guess(s register, c *checker.Call) []any {
	switch {
	case c.Verb == "create" && !s.there:
		return []any{register{true, 0}}
	case c.Verb == "patch", c.Verb == "update", c.Verb == "delete" && s.there:
		return []any{register{true, 0}, register{}}
	}
	return nil
}

// step returns the possible states of the object after a call in state s. There are none if the response is not possible in that
// state.
func step(s register, c *checker.Call) []any {
	based := c.Based == 0 || s.there && (s.rev == c.Based || s.rev == 0)
	ok := false
	next := register{true, c.Rev}
	if c.Verb == "delete" && c.Done() && c.Rev != 0 && s.there && based { // the response contains the object, so it may have finalizers
		return []any{register{}, register{true, 0}}
	}
	if (c.Verb == "patch" || c.Verb == "update") && c.Code == 200 && s.there && based && (c.Rev == s.rev || s.rev == 0) {
		return []any{register{}, next} // nothing was changed, or the last finalizer was removed
	}
	switch {
	case c.Code == 404:
		ok, next = !s.there, s
	case c.Code == 409: // for a create
		ok, next = s.there, s
	case c.Verb == "get":
		ok = s.there && (s.rev == c.Rev || s.rev == 0)
	case c.Code == 201:
		ok = !s.there
	case c.Verb == "delete":
		ok, next = s.there && based, register{}
	default:
		ok = s.there && based && c.Rev >= s.rev
	}
	if !ok {
		return nil
	}
	return []any{next}
}
