// Package bugs has small controllers with the mistakes of well-known ones, and tests that find them.
//
//	file               seen in                                 what brings it out
//	stale_test.go      k8ssandra/cass-operator#118             restart on a replica that lags
//	kubelet_test.go    kubernetes/kubernetes#59848             restart on a replica that is cut off
//	double_test.go     kubernetes-sigs/cluster-api#13649       a watch event that comes late
//	crash_test.go      rabbitmq/cluster-operator#782           a crash between two writes
//	ambiguous_test.go  cert-manager/cert-manager#6837          a write that was done, and whose answer is an error
//	tombstone_test.go  kubernetes/ingress-nginx#10015          a deletion while the watch was broken
//	recreated_test.go  kubernetes/kubernetes#56261             the same, and a new object with the old name
//	leaders_test.go    kubernetes/kubernetes#23731             requests of the leader that hang
//	unsynced_test.go   antrea-io/antrea#8123                   a watch that never says "that was all"
//
// Each test runs a controller twice: with the mistake, where the damage must show, and with the remedy, where it must
// not. They are real controllers, on client-go's informers and controller-runtime's manager, in testing/synctest
// bubbles; only what they are about is reduced: a ConfigMap stands for the custom resource of the project.
//
//	test ──▶ kubesim ◀──(fault, lag, cut, hold, route)── the story
//	            ▲
//	            └── process: a manager under a name, which can crash after a write and start again elsewhere
package bugs
