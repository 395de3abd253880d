// Package dropin is etcd and kube-apiserver for those who start them as programs: envtest, above all.
//
//	KUBEBUILDER_ASSETS=$(kubesim envtest) go test ./...
//
//	Folder ─▶ etcd, kube-apiserver: one program by two names
//
//	envtest ─┬─▶ Etcd        /health; lends its --data-dir to one API server at a time
//	         └─▶ APIServer   flags ─▶ Options ─▶ fake.New over that folder ─▶ HTTPS
//	                           └ fake/flags: which are honoured, mapped and ignored; gates.txt, apis.txt: the feature gates and APIs that there are
//
// What is stored is written to the --data-dir of etcd commit by commit: it is there when another API server starts over the
// same folder, however the first one ended. The API server is on its own, as in envtest: no controllers. Time is the
// machine's. Three variables of the environment reach it, which need no change of a suite:
//
//	KUBESIM_SEED=7          what uids, generated names and random faults are drawn from
//	KUBESIM_TRACE=FILE      each step is written to FILE as a line of JSON; further servers write to FILE.2, FILE.3 and so on
//	KUBESIM_FAULTS=FILE     what goes wrong, one fault per line: "on update pods times=1 do fail Conflict"
package dropin
