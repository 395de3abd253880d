// Package provisioner searches the controller of sigs.k8s.io/sig-storage-lib-external-provisioner for bugs (make operators). Drivers
// for storage, such as external-provisioner for CSI, are built on it.
//
//	claims.yaml ─▶ claims ─▶ the operator ─▶ volumes ─▶ kubesim's controllers of volumes ─▶ their states ─▶ fake.Outcome
package provisioner
