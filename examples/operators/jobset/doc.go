// Package jobset searches the controllers of sigs.k8s.io/jobset for bugs (make operators).
//
//	jobset.yaml ─▶ JobSets ─▶ the operator ─▶ Jobs ─▶ kubesim's controllers and nodes ─▶ their states ─▶ fake.Outcome
package jobset
