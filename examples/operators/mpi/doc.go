// Package mpi searches the controller of github.com/kubeflow/mpi-operator for bugs (make operators).
//
//	mpijob.yaml ─▶ MPIJobs ─▶ the operator ─▶ a Job, pods ─▶ kubesim's controllers and nodes ─▶ their states ─▶ fake.Outcome
package mpi
