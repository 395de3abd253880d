// Package envtest runs an ordinary envtest suite with kubesim's programs in the place of etcd and kube-apiserver. Only the variable
// KUBEBUILDER_ASSETS refers to kubesim. TestMain sets it as
//
//	KUBEBUILDER_ASSETS=$(kubesim envtest) go test ./...
//
// would.
package envtest
