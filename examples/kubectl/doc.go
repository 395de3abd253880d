// Package kubectl runs kubectl's own code against kubesim.
//
// Most tests run it in process, over the same Transport as any other client; binary_test.go runs the built command
// "kubesim serve" and talks to it over TLS.
package kubectl
