// Package zookeeper searches the controller of github.com/pravega/zookeeper-operator for bugs (make operators).
//
//	clusters.yaml ─▶ two ZookeeperClusters ─▶ the operator ─▶ StatefulSets, claims ─▶ kubesim's controllers and nodes ─▶ fake.Outcome
//	                                              └─▶ znodes of a simulated ZooKeeper (zookeeper_test.go)
package zookeeper
