// Package frobber shows how an API can change without breaking its clients, with the Frobber of the Kubernetes guide "Changing the
// API": a field is added, a single value becomes a list, a field is renamed, and a value is added to an enumeration.
//
//	old client ──v6: height, param─────────────────┐
//	new client ──v6: height, width, param, params──┼─▶ Normalize (admission) ─▶ stored as v6
//	next client ─v7beta1: heightInInches, params───┘        Convert ◀──────────────┘
//
// Each guarantee of the guide that a server could violate is an assertion in a test. testdata contains the old definition
// (old.yaml) and the new one (new.yaml).
package frobber
