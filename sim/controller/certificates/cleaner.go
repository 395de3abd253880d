// Package certificates implements the controllers of CertificateSigningRequests (pkg/controller/certificates).
//
//	CertificateSigningRequest ─ Approving: a kubelet requests its own  ─▶ approved ─ Signing ─▶ status.certificate
//	                          └ Cleaner: issued, denied or undecided   ─▶ deleted
//	certificates of the API server ─ Publishing ─▶ ClusterTrustBundle
//
// An Authority signs with a key that is derived from the seed of the cluster. The web page omits the code that parses and signs
// certificates.
package certificates

import (
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// PublishingController is the name of the controller that Publishing returns.
const PublishingController = "kube-apiserver-serving-clustertrustbundle-publisher-controller"

const (
	requests    = "certificatesigningrequests.certificates.k8s.io"
	podRequests = "podcertificaterequests.certificates.k8s.io"

	// A request is kept for doneLife after it was issued, denied or has failed. Undecided requests, and approved ones without a
	// certificate, are kept for pendingLife.
	doneLife    = time.Hour
	pendingLife = 24 * time.Hour

	// podRequestLife is the time for which a PodCertificateRequest is kept after its creation.
	podRequestLife = 15 * time.Minute
)

// there returns a watch of a resource that ignores deletions.
func there(resource string) controller.Watch {
	return controller.Watch{Resource: resource, Keys: func(_ *controller.Client, c *commit.Commit) []controller.Key {
		if c.Deleted() {
			return nil
		}
		return []controller.Key{{Namespace: c.Namespace, Name: c.Name}}
	}}
}

// Cleaner deletes CertificateSigningRequests that have expired (pkg/controller/certificates/cleaner). The real controller checks
// once an hour, this one at the time of expiry.
func Cleaner() controller.Controller {
	return controller.Account("certificatesigningrequest-cleaner-controller", "certificate-controller", controller.Func(
		func(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
			csr := api.Get(requests, "", key.Name)
			if csr == nil {
				return 0, nil
			}
			end := deadline(csr)
			if end.IsZero() {
				return 0, nil
			}
			if left := end.Sub(api.Now()); left >= 0 {
				return left + time.Nanosecond, nil // the deadline must have passed
			}
			return 0, workload.Found(api.Delete(requests, key, controller.Preconditions{}))
		}), there(requests))
}

// deadline returns the time until which a request is kept. It is zero if the request is kept forever.
func deadline(csr object.Object) (end time.Time) {
	sooner := func(at time.Time, life time.Duration) {
		if at = at.Add(life); end.IsZero() || at.Before(end) {
			end = at
		}
	}
	issued := csr.String("status", "certificate") != ""
	conditions := csr.Objects("status", "conditions")
	if len(conditions) == 0 {
		sooner(workload.TimeOf(csr.String("metadata", "creationTimestamp")), pendingLife)
	}
	for _, c := range conditions {
		at := workload.TimeOf(c.String("lastUpdateTime"))
		switch kind := c.String("type"); {
		case kind == "Approved" && issued:
			sooner(at, doneLife)
			if end, ok := notAfter(csr.String("status", "certificate")); ok {
				sooner(end, 0)
			}
		case kind == "Approved":
			sooner(at, pendingLife)
		case kind == "Denied" || kind == "Failed":
			sooner(at, doneLife)
		}
	}
	return end
}

// PodRequestCleaner deletes PodCertificateRequests that have expired (cleaner.PCRCleanerController).
func PodRequestCleaner() controller.Controller {
	return controller.Account("podcertificaterequest-cleaner-controller", "podcertificaterequestcleaner", controller.Func(
		func(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
			q := api.Get(podRequests, key.Namespace, key.Name)
			if q == nil {
				return 0, nil
			}
			if left := workload.TimeOf(q.String("metadata", "creationTimestamp")).Add(podRequestLife).Sub(api.Now()); left > 0 {
				return left, nil
			}
			return 0, workload.Found(api.Delete(podRequests, key, controller.Preconditions{UID: q.UID()}))
		}), there(podRequests))
}
