// Package certificates holds the controllers of CertificateSigningRequests (pkg/controller/certificates).
//
//	CertificateSigningRequest ─ Approving: a kubelet asks for its own ─▶ approved ─ Signing ─▶ status.certificate
//	                          └ Cleaner: done, denied or forgotten   ─▶ deleted
//
// An Authority signs, with a key that follows from the seed of the cluster. A page has neither: what reads and makes
// certificates is left out of it.
package certificates

import (
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	requests    = "certificatesigningrequests.certificates.k8s.io"
	podRequests = "podcertificaterequests.certificates.k8s.io"

	// How long a request is kept after it was issued, denied or has failed, and while it is undecided or not issued.
	doneLife    = time.Hour
	pendingLife = 24 * time.Hour

	// podRequestLife is how long a PodCertificateRequest is kept.
	podRequestLife = 15 * time.Minute
)

// there watches objects of a resource that are there.
func there(resource string) controller.Watch {
	return controller.Watch{Resource: resource, Keys: func(_ *controller.Client, c *commit.Commit) []controller.Key {
		if c.Deleted() {
			return nil
		}
		return []controller.Key{{Namespace: c.Namespace, Name: c.Name}}
	}}
}

// Cleaner deletes CertificateSigningRequests whose time is up (pkg/controller/certificates/cleaner). A real one looks once an
// hour, this one when the time is up.
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
				return left + time.Nanosecond, nil // it has to have passed
			}
			return 0, workload.Found(api.Delete(requests, key, controller.Preconditions{}))
		}), there(requests))
}

// deadline is until when a request is kept. The zero time: for ever.
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

// PodRequestCleaner deletes PodCertificateRequests whose time is up (cleaner.PCRCleanerController).
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
