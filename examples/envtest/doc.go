// Package envtest runs an ordinary envtest suite with kubesim's programs instead of etcd and kube-apiserver. Only the variable
// KUBEBUILDER_ASSETS refers to kubesim. TestMain sets it like
//
//	KUBEBUILDER_ASSETS=$(kubesim envtest) go test ./...
package envtest
