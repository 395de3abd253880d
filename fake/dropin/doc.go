// Package dropin implements replacements of the programs etcd and kube-apiserver, above all for envtest.
//
//	KUBEBUILDER_ASSETS=$(kubesim envtest) go test ./...
//
//	Folder ─▶ etcd, kube-apiserver: one program by two names
//
//	envtest ─┬─▶ Etcd        /health; lends its --data-dir to one API server at a time
//	         └─▶ APIServer   flags ─▶ Options ─▶ fake.New over that folder ─▶ HTTPS
//	                           └ fake/flags: which are honoured, mapped and ignored; gates.txt, apis.txt: the feature gates and APIs
//
// Each commit is written to etcd's --data-dir at once, so the next API server on the same folder has all objects, even if the first one was
// killed. As in envtest there are no controllers, and the clock is the machine's. Three environment variables configure it without a change
// to the test suite:
//
//	KUBESIM_SEED=7          the seed of uids, generated names and random faults
//	KUBESIM_TRACE=FILE      each step is written to FILE as a line of JSON; further servers write to FILE.2, FILE.3 and so on
//	KUBESIM_FAULTS=FILE     the faults, one per line: "on update pods times=1 do fail Conflict"
package dropin
