// Package fault describes failures of a simulated cluster. A plan is a list of faults, and a fault consists of a
// trigger, a scope and an action.
//
//	fault.On("update", "widgets/status").Client("operator/").Times(1).Conflict()
//	      └────────────── trigger ──────────────────────┘  └ scope ┘ └ action ┘
//
//	on update widgets/status client=operator/ times=1 do fail Conflict          the same as text
//
// A fault is decided at one of these points in the processing of a write. The points have the same names in a trace
// (package trace):
//
//	client ─▶ request.arrived ─▶ request.decided ─▶ request.validated ─▶ store.committed ─▶ replica.applied ─▶ watch.sent
//	            request and        admitted,          validated,           one revision       per replica        per watch
//	            user known         about to run       not stored                                                 and event
//	client ◀─────────────────────────────────────────────────────────────── request.answered
//
// A write that fails between store.committed and request.answered is ambiguous: it is stored, but its client does not
// know.
//
// Each fault draws random numbers from a separate stream, seeded by the seed and its text, so that removing one fault
// does not change the draws of another. All decisions are recorded (Injector.Decisions).
//
// The package only makes decisions: the caller of an Injector carries out the actions that it returns.
package fault
