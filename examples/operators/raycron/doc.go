// Package raycron searches the controller of RayCronJobs of github.com/ray-project/kuberay for bugs (make operators).
//
//	cron.yaml ─▶ RayCronJobs ─▶ the operator ─▶ RayJobs, one for each scheduled time ─▶ fake.Outcome
package raycron
