// Package kuberay searches the controller of RayClusters of github.com/ray-project/kuberay for bugs (make operators).
//
//	cluster.yaml ─▶ a RayCluster ─▶ the operator ─▶ pods ─▶ kubesim's controllers and nodes ─▶ their states ─▶ fake.Outcome
package kuberay
