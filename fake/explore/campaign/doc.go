// Package campaign searches for faults that make a test fail. It draws plans, keeps and mutates the plans that led to
// new behaviour, and shrinks a plan that fails. It does not run tests itself: package explore runs them and passes it
// the outcome of each run.
//
//	draw ─▶ Plan ─▶ a run ─▶ Outcome ─┬─ new sequences of requests and responses ─▶ the plan is kept and mutated
//	                                  └─ fails ─▶ Shrink ─▶ a file below testdata/kubesim
//
// A Plan consists of a seed, faults (package fault) and steps: actions on clients, API servers and objects at a given
// time, or before or after a given write of a client. Its text form has one fault or step per line:
//
//	seed 17
//	on watch secrets client=operator event=ADDED times=1 do delay 8s
//	before operator 3 do crash operator 5s stale=2 20s
//	at 1m30s do edit sites.web.example.com default/blog {"spec":{"scale":{"replicas":0}}}
package campaign
