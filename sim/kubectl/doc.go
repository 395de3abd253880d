// Package kubectl implements kubectl's command line with the verbs, flags and output of the real kubectl. A Conn sends its
// requests.
//
//	line ─ Session.Line ─ shell: pipes, files, here-documents ─▶ kubectl ─ parse ─▶ a row of verbs ─ run ─▶ call
//	                                                             curl, cat, grep, …                          │
//	                       flags     flags and arguments of the command line ────────────────────────────────┤
//	                       client    Builder: the selected objects; Client, Helper: requests ─▶ Conn ────────┤
//	                       generate  objects of flags: create, run, expose, autoscale ───────────────────────┤
//	                       patches   the patch of an apply; rollout: revisions ──────────────────────────────┤
//	                       printer, describe, explain: the output ───────────────────────────────────────────┘
//
// verbs.go has the list of verbs. Tables come from the server (API concepts, "Receiving resources as Tables"). The package
// computes all other output that kubectl computes itself. Functions that imitate an upstream function name it in their comments.
//
// In a World the Conn is provided by sim/scenario, and waiting advances the World's clock. Over HTTP it is provided by
// fake/kubectl. testdata/sessions holds recorded output of the real kubectl: TestRecord records it, and TestSessions compares it
// line by line.
package kubectl
