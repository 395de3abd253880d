// Package kubectl runs kubectl's own code with kubesim.
//
// Most tests run it in process, over the same Transport as any other client. binary_test.go runs the built command "kubesim serve"
// and connects to it over TLS.
package kubectl
