// Package guard holds the rules of the project that a machine can check, as tests. It has no code of its own.
//
//	rows_test.go      who may import whom; which dependency lives where; nothing of k8s.io; no testing in programs
//	calls_test.go     clock and sim take time and randomness as arguments and start no goroutines
//	maporder_test.go  no map order reaches an answer
//	root_test.go      the files of package sim name each other one way only
//	documents_test.go links lead somewhere; the tour of the API has all it promises; constructors have examples
//	style_test.go     sizes of functions and files, package comments and names, leftovers
//
// A failure says what to use instead. An exception is an entry in a list, with its reason.
package guard
