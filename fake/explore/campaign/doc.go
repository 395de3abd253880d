// Package campaign searches for what goes wrong around a test: it draws plans, keeps those that led to something new, changes
// them, and makes one that fails small. It runs nothing itself: package explore does, and passes it the outcome of each run.
//
//	draw ─▶ Plan ─▶ a run ─▶ Outcome ─┬─ new sequences of requests and answers ─▶ the plan is kept, and changed
//	                                  └─ fails ─▶ Shrink ─▶ a file below testdata/kubesim
//
// A Plan is a seed, faults (package fault) and steps: what is done to clients, API servers and objects at a time, or around
// a write of a client. It is a text with one fault or step in a line:
//
//	seed 17
//	on watch secrets client=operator event=ADDED times=1 do delay 8s
//	before operator 3 do crash operator 5s stale=2 20s
//	at 1m30s do edit sites.web.example.com default/blog {"spec":{"scale":{"replicas":0}}}
package campaign
