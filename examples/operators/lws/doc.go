// Package lws searches the controllers of sigs.k8s.io/lws for bugs (make operators).
//
//	lws.yaml ─▶ a LeaderWorkerSet ─▶ the operator ─▶ StatefulSets ─▶ kubesim's controllers and nodes ─▶ their states ─▶ fake.Outcome
package lws
