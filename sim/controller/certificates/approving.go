//go:build !page

package certificates

import (
	"crypto/x509"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

const reviews = "subjectaccessreviews.authorization.k8s.io"

// Approving approves the certificate requests of kubelets that are authorized to make them
// (pkg/controller/certificates/approver).
func Approving() controller.Controller {
	c := controller.Account("certificatesigningrequest-approving-controller", "certificate-controller", controller.Func(approve), there(requests))
	c.RetryMin = retryMin
	return c
}

// recognizer recognizes a kind of request that is approved if the requester may create the given subresource of
// CertificateSigningRequests.
type recognizer struct {
	subresource, message string
	own                  bool // a kubelet's request for its own certificate
}

var recognizers = []recognizer{
	{"selfnodeclient", "Auto approving self kubelet client certificate after SubjectAccessReview.", true},
	{"nodeclient", "Auto approving kubelet client certificate after SubjectAccessReview.", false},
}

func approve(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	csr := api.Get(requests, "", key.Name)
	approved, denied := decided(csr)
	if csr == nil || csr.String("status", "certificate") != "" || approved || denied {
		return 0, nil
	}
	q, err := parse(csr)
	if err != nil {
		return 0, status.Plain("unable to parse csr %q: %v", csr.Name(), err)
	}
	var tried []string
	for _, r := range recognizers {
		if !r.recognizes(csr, q) {
			continue
		}
		tried = append(tried, r.subresource)
		may, failed := r.mayCreate(api, csr)
		if failed != nil {
			return 0, failed
		}
		if may {
			csr.Set(append(csr.List("status", "conditions"), map[string]any{"type": "Approved", "status": "True", "reason": "AutoApproved",
				"message": r.message}), "status", "conditions")
			_, failed := api.Update(requests, "approval", csr)
			return 0, failed
		}
	}
	if tried != nil {
		return 0, status.Plain("recognized csr %q as %v but subject access review was not approved", csr.Name(), tried)
	}
	return 0, nil
}

func (r recognizer) recognizes(csr object.Object, q *x509.CertificateRequest) bool {
	return csr.String("spec", "signerName") == kubeletClient && allowed(csr, q) == nil &&
		(!r.own || csr.String("spec", "username") == q.Subject.CommonName)
}

// mayCreate checks with the API server whether the requester may create the subresource.
func (r recognizer) mayCreate(api *controller.Client, csr object.Object) (bool, *status.Status) {
	spec := map[string]any{"user": csr.String("spec", "username"), "resourceAttributes": map[string]any{"group": "certificates.k8s.io",
		"resource": "certificatesigningrequests", "verb": "create", "subresource": r.subresource, "version": "*"}}
	for _, name := range []string{"uid", "groups", "extra"} {
		if v, ok := csr.Get("spec", name); ok {
			spec[name] = v
		}
	}
	answer, failed := api.Create(reviews, object.Object{"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "spec": spec})
	if failed != nil {
		return false, failed
	}
	return answer.Object().True("status", "allowed"), nil
}
