// Package bugs contains small controllers with the bugs of well-known ones, and tests that find them.
//
//	file               seen in                                 trigger
//	stale_test.go      k8ssandra/cass-operator#118             restart on a replica that lags
//	kubelet_test.go    kubernetes/kubernetes#59848             restart on a replica that is cut off
//	double_test.go     kubernetes-sigs/cluster-api#13649       a delayed watch event
//	crash_test.go      rabbitmq/cluster-operator#782           a crash between two writes
//	ambiguous_test.go  cert-manager/cert-manager#6837          a successful write whose response is an error
//	tombstone_test.go  kubernetes/ingress-nginx#10015          a deletion while the watch was broken
//	recreated_test.go  kubernetes/kubernetes#56261             the same, and a new object with the old name
//	leaders_test.go    kubernetes/kubernetes#23731             requests of the leader that hang
//	unsynced_test.go   antrea-io/antrea#8123                   a watch that never ends its initial events
//
// Each test runs a controller twice: with the bug, when the damage must occur, and with the fix, when it must not. They are real
// controllers, with client-go's informers and controller-runtime's manager, in testing/synctest bubbles. Only their subject is
// simplified: a ConfigMap replaces the custom resource of the project.
//
//	test ──▶ kubesim ◀──(fault, lag, cut, hold, route)── the story
//	            ▲
//	            └── process: a named manager, which can crash after a write and be restarted elsewhere
package bugs
