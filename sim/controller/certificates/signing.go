//go:build !page

package certificates

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	kubeletServing = "kubernetes.io/kubelet-serving"
	kubeletClient  = "kubernetes.io/kube-apiserver-client-kubelet"
	serverClient   = "kubernetes.io/kube-apiserver-client"
	legacyUnknown  = "kubernetes.io/legacy-unknown"

	retryMin = 200 * time.Millisecond
)

// SigningController is the name of the controller that Signing returns.
const SigningController = "certificatesigningrequest-signing-controller"

// Signing issues the certificates of approved requests for one of Kubernetes' four signers (pkg/controller/certificates/signer).
// seed is the seed of the cluster.
func Signing(seed *uint64) controller.Controller {
	c := controller.Account(SigningController, "certificate-controller", &signing{seed: seed}, there(requests))
	c.RetryMin = retryMin
	return c
}

// signing creates its Authority for the first request for a certificate.
type signing struct {
	seed      *uint64
	of        uint64 // seed of the Authority
	authority *Authority
}

// ready creates the Authority, unless it already exists for the current seed.
func (s *signing) ready() (err error) {
	if s.authority == nil || s.of != *s.seed {
		s.of = *s.seed
		s.authority, err = NewAuthority(s.of)
	}
	return err
}

// Reconcile implements controller.Reconciler.
func (s *signing) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	csr := api.Get(requests, "", key.Name)
	approved, denied := decided(csr)
	if csr == nil || csr.String("status", "certificate") != "" || !approved || denied || failed(csr) ||
		!slices.Contains([]string{kubeletServing, kubeletClient, serverClient, legacyUnknown}, csr.String("spec", "signerName")) {
		return 0, nil
	}
	q, err := parse(csr)
	if err != nil {
		return 0, status.Plain("unable to parse csr %q: %v", csr.Name(), err)
	}
	if err := allowed(csr, q); err != nil {
		csr.Set(append(csr.List("status", "conditions"), map[string]any{"type": "Failed", "status": "True", "reason": "SignerValidationFailure",
			"message": err.Error(), "lastUpdateTime": object.Time(api.Now())}), "status", "conditions")
	} else {
		text, err := s.issue(api, csr, q)
		if err != nil {
			return 0, status.Plain("error auto signing csr: %v", err)
		}
		csr.Set(base64.StdEncoding.EncodeToString(text), "status", "certificate")
	}
	_, wrong := api.Update(requests, "status", csr)
	return 0, wrong
}

// issue signs the certificate for a request and returns it in PEM. The lifetime is spec.expirationSeconds, limited to the range
// from lifeMin to lifeMax, and lifeMax if the field is missing.
func (s *signing) issue(api *controller.Client, csr object.Object, q *x509.CertificateRequest) ([]byte, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	life := lifeMax
	if seconds, ok := csr.Int("spec", "expirationSeconds"); ok {
		life = time.Duration(seconds) * time.Second
	}
	serial := make([]byte, 16)
	for i := range serial {
		serial[i] = byte(api.Random(256))
	}
	serial[0] |= 1 << 6 // positive, with the full length
	return s.authority.sign(q, csr.Strings("spec", "usages"), life, new(big.Int).SetBytes(serial), api.Now())
}

func decided(csr object.Object) (approved, denied bool) {
	return csr.Condition("Approved") != nil, csr.Condition("Denied") != nil
}

func failed(csr object.Object) bool {
	return slices.ContainsFunc(csr.Objects("status", "conditions"), func(c object.Object) bool {
		value := c.String("status")
		return c.String("type") == "Failed" && (value == "" || value == "True")
	})
}

// parse decodes the PEM block in spec.request of a CertificateSigningRequest. It returns an error if that is no certificate
// request.
func parse(csr object.Object) (*x509.CertificateRequest, error) {
	text, err := base64.StdEncoding.DecodeString(csr.String("spec", "request"))
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}

// allowed returns the reason why a signer rejects a request, or nil (pkg/apis/certificates.ValidateKubeletServingCSR and others).
func allowed(csr object.Object, q *x509.CertificateRequest) error {
	usages := csr.Strings("spec", "usages")
	switch csr.String("spec", "signerName") {
	case kubeletServing:
		return kubeletAllowed(q, usages, "server auth")
	case kubeletClient:
		return kubeletAllowed(q, usages, "client auth")
	case serverClient:
		for _, u := range usages {
			if !slices.Contains([]string{"digital signature", "key encipherment", "client auth"}, u) {
				return fmt.Errorf("invalid usage for client certificate: %s", u)
			}
		}
		if !slices.Contains(usages, "client auth") {
			return errors.New("missing required usage for client certificate: client auth")
		}
	}
	return nil
}

// kubeletAllowed returns the reason to reject a kubelet's request for a serving or client certificate, or nil.
func kubeletAllowed(q *x509.CertificateRequest, usages []string, main string) error {
	serving := main == "server auth"
	wants := slices.Sorted(slices.Values([]string{"digital signature", "key encipherment", main}))
	given := slices.Compact(slices.Sorted(slices.Values(usages)))
	named := strings.HasPrefix(q.Subject.CommonName, "system:node:")
	fits := slices.Equal(given, wants) || slices.Equal(given, slices.Sorted(slices.Values([]string{"digital signature", main}))) // the second form is for keys other than RSA
	switch {
	case !slices.Equal(q.Subject.Organization, []string{"system:nodes"}):
		return errors.New("subject organization is not system:nodes")
	case serving && len(q.DNSNames)+len(q.IPAddresses) == 0:
		return errors.New("DNS or IP subjectAltName is required")
	case !serving && len(q.DNSNames) > 0:
		return errors.New("DNS subjectAltNames are not allowed")
	case len(q.EmailAddresses) > 0:
		return errors.New("Email subjectAltNames are not allowed")
	case !serving && len(q.IPAddresses) > 0:
		return errors.New("IP subjectAltNames are not allowed")
	case len(q.URIs) > 0:
		return errors.New("URI subjectAltNames are not allowed")
	case serving && !fits, !serving && named && !fits:
		return fmt.Errorf("usages did not match %v", wants)
	case !named:
		return errors.New("subject common name does not begin with system:node:")
	}
	return nil
}
