// Package kubectl implements kubectl's command line: the verbs, flags and outputs of the real one, with a Conn that sends the requests.
//
//	line ─ Session.Line ─ shell: pipes, files, here-documents ─▶ kubectl ─ parse ─▶ a row of verbs ─ run ─▶ call
//	                                                             curl, cat, grep, …                          │
//	                       flags     flags and arguments of the command line ────────────────────────────────┤
//	                       client    Builder: the selected objects; Client, Helper: requests ─▶ Conn ────────┤
//	                       generate  objects of flags: create, run, expose, autoscale ───────────────────────┤
//	                       patches   the patch of an apply; rollout: revisions ──────────────────────────────┤
//	                       printer, describe, explain: the output ───────────────────────────────────────────┘
//
// verbs.go has the list of verbs. Tables come from the server (API concepts, "Receiving resources as Tables"); the package computes
// everything else that kubectl computes by itself. If a function imitates an upstream function, its comment names it.
//
// In a World the Conn is that of sim/scenario, and waiting advances the World's clock; over HTTP it is that of fake/kubectl.
// testdata/sessions holds recorded output of the real kubectl: TestRecord records it, and TestSessions compares line by line.
package kubectl
