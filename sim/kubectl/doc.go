// Package kubectl is kubectl's command line: words, flags and outputs as those of the real one, over requests that somebody
// else carries.
//
//	line ─ Session.Line ─ pipes, files, here-documents ─▶ Session.Run ─ parse ─▶ word ─▶ call ─▶ Conn ─▶ API server
//	                          │                                                      │
//	                          └ cat, curl, grep, head, sort, …                       ├ resources   what discovery says there is
//	                                                                                 ├ select      which objects are meant
//	                                                                                 └ print, get_table, describe: the output
//
// Tables are the server's (API concepts, "Receiving resources as Tables"); what kubectl works out by itself is worked out
// here: the patch of an apply (threeway.go), the objects of generators (create*.go), the texts of describe, explain and
// rollout. Where it imitates a function of upstream, the comment names it.
//
// A Conn is sim/scenario's in a World, where waiting lets the World's time pass, or fake/kubectl's over HTTP. testdata/sessions
// holds what the real kubectl printed; TestRecord records them, and TestSessions compares line by line.
package kubectl
