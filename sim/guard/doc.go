// Package guard contains the rules of the project that can be checked automatically, as tests. It has no other code.
//
//	rows_test.go      allowed imports between packages; allowed dependencies; nothing of k8s.io; no testing in programs
//	calls_test.go     clock and sim take time and randomness as arguments and start no goroutines
//	maporder_test.go  no response depends on map order
//	fields_test.go    the parts of a cluster are complete when their constructors return
//	root_test.go      the files of package sim depend on each other in one direction only
//	documents_test.go links are valid; documents are short; the tour of the API is complete; constructors have examples
//	idioms_test.go    unnatural phrases in the comments of Go, scripts and styles, in documents, lessons and texts
//	style_test.go     sizes of functions and files, package comments and names, leftovers
//
// A failure suggests what to use instead. Exceptions are list entries with a reason.
package guard
