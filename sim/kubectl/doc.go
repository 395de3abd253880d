// Package kubectl is kubectl's command line: verbs, flags and outputs as those of the real one, over requests that a Conn carries.
//
//	line ─ Session.Line ─ shell: pipes, files, here-documents ─▶ kubectl ─ parse ─▶ a row of verbs ─ run ─▶ call
//	                                                             curl, cat, grep, …                          │
//	                       flags     what the command line gives ────────────────────────────────────────────┤
//	                       client    Builder: which objects are meant; Client, Helper: requests ─▶ Conn ─────┤
//	                       generate  objects of flags: create, run, expose, autoscale ───────────────────────┤
//	                       patches   the patch of an apply; rollout: revisions ──────────────────────────────┤
//	                       printer, describe, explain: the output ───────────────────────────────────────────┘
//
// verbs.go has the list of verbs. Tables are the server's (API concepts, "Receiving resources as Tables"); everything else that
// kubectl works out by itself is worked out here. Where a function imitates one of upstream, its comment names that.
//
// A Conn is sim/scenario's in a World, where waiting lets the World's time pass, or fake/kubectl's over HTTP. testdata/sessions
// holds what the real kubectl printed; TestRecord records them, and TestSessions compares line by line.
package kubectl
