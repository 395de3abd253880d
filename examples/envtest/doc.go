// Package envtest runs a suite over envtest as everybody writes them, with kubesim's programs in the place of etcd and
// kube-apiserver: nothing in it knows of kubesim but the variable KUBEBUILDER_ASSETS, which TestMain sets as
//
//	KUBEBUILDER_ASSETS=$(kubesim envtest) go test ./...
//
// would.
package envtest
