// Package fault says what goes wrong in a simulated cluster, and when: a plan is a list of faults, a fault is a trigger,
// a scope and an action.
//
//	fault.On("update", "widgets/status").Client("operator/").Times(1).Conflict()
//	      └────────────── trigger ──────────────────────┘  └ scope ┘ └ action ┘
//
//	on update widgets/status client=operator/ times=1 do fail Conflict          the same as text
//
// The points at which a fault can be decided, in the life of one write, are called as in a trace (package trace):
//
//	client ─▶ request.arrived ─▶ request.decided ─▶ request.validated ─▶ store.committed ─▶ replica.applied ─▶ watch.sent
//	            who asks for       let through,       checked,             one revision       per replica        per watch
//	            what is known      about to run       not stored                                                 and event
//	client ◀─────────────────────────────────────────────────────────────── request.answered
//
// A write that fails between store.committed and request.answered is the ambiguous one: it was done, and its client does
// not know.
//
// Every fault draws from a stream of its own, made of the seed and its text: to remove one does not shift what another
// draws. What was decided, and where, is recorded (Injector.Decisions).
//
// The package decides; it does nothing by itself. Whoever asks an Injector carries out the actions it returns.
package fault
