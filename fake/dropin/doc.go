// Package dropin implements replacements for the programs etcd and kube-apiserver, mainly for envtest.
//
//	KUBEBUILDER_ASSETS=$(kubesim envtest) go test ./...
//
//	Folder ─▶ etcd, kube-apiserver: one program with two names
//
//	envtest ─┬─▶ Etcd        /health; spaces: its --data-dir, by prefix
//	         │     ▲ membership: one API server of a prefix may write at a time, and the others apply its changes
//	         │     ▼
//	         └─▶ APIServer   flags ─▶ Options ─▶ fake.New over that folder ─▶ HTTPS
//	                           └ fake/flags: which flags are honoured, mapped and ignored; gates.txt, apis.txt: the feature gates and APIs
//
// The first API server of a prefix writes each commit to etcd's --data-dir at once, so that the next API server on the same folder has
// all objects, even if all others were killed. As in envtest, there are no controllers, and the clock is the machine's. Environment
// variables configure the programs without a change to the test suite. variables.go lists them, and kubesim envtest --help prints
// them.
package dropin
