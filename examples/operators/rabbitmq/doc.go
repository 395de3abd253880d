// Package rabbitmq searches the controller of github.com/rabbitmq/cluster-operator for bugs (make operators). Sieve has found three of
// them.
//
//	cluster.yaml ─▶ a RabbitmqCluster ─▶ the operator ─▶ StatefulSet, claims ─▶ kubesim's controllers and node ─▶ fake.Outcome
package rabbitmq
