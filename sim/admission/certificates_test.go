package admission

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

func TestSigners(t *testing.T) {
	t.Parallel()
	old := `{"metadata":{"name":"r"},"spec":{"signerName":"a.com/x"},"status":{}}`
	signed := `{"metadata":{"name":"r"},"spec":{"signerName":"a.com/x"},"status":{"certificate":"eA=="}}`
	may := func(_ resource.Author, _ resource.User, verb, group, resourceName, name string, _ resource.Reader) bool {
		return verb == "approve" && group == "certificates.k8s.io" && resourceName == "signers" && name == "a.com/*"
	}
	for _, tc := range []struct {
		name, sub string
		validate  func(*Attributes) *status.Status
		obj, want string
	}{
		{"approval by domain", "approval", certificateApproval(may), old, ``},
		{"approval of another", "approval", certificateApproval(func(resource.Author, resource.User, string, string, string, string, resource.Reader) bool {
			return false
		}), old,
			`certificatesigningrequests.certificates.k8s.io "r" is forbidden: user not permitted to approve requests with signerName "a.com/x"`},
		{"signing", "status", certificateSigning(may), signed,
			`certificatesigningrequests.certificates.k8s.io "r" is forbidden: user not permitted to sign requests with signerName "a.com/x"`},
		{"a status without news", "status", certificateSigning(may), old, ``},
	} {
		t.Run(tc.name, func(t *testing.T) {
			is := is.New(t)
			a := write(signingRequests, parse(t, tc.obj), parse(t, old), nil)
			a.Subresource = tc.sub
			is.Equal(message(tc.validate(a)), tc.want)
		})
	}
}

// TestAttest checks that a write of a ClusterTrustBundle with a signer needs the right to attest for it, unless it changes only owners
// or finalizers.
func TestAttest(t *testing.T) {
	t.Parallel()
	bundle := func(signer, meta, text string) string {
		return `{"metadata":{"name":"b"` + meta + `},"spec":{"signerName":"` + signer + `","trustBundle":"` + text + `"}}`
	}
	const refused = `clustertrustbundles.certificates.k8s.io "b" is forbidden: user not permitted to attest for signerName "a.com/x"`
	for _, tc := range []struct {
		name, old, obj, want string
		may, off             bool
	}{
		{name: "allowed", obj: bundle("a.com/x", "", ""), may: true},
		{name: "refused", obj: bundle("a.com/x", "", ""), want: refused},
		{name: "no signer", obj: bundle("", "", "")},
		{name: "gate off", obj: bundle("a.com/x", "", ""), off: true},
		{name: "changed", old: bundle("a.com/x", "", "1"), obj: bundle("a.com/x", "", "2"), want: refused},
		{name: "finalizers", old: bundle("a.com/x", "", "1"), obj: bundle("a.com/x", `,"finalizers":["a.b/c"]`, "1")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			is := is.New(t)
			a := write(trustBundles, parse(t, tc.obj), parse(t, tc.old), nil)
			a.Server.Gates = resource.Gates{"ClusterTrustBundle": !tc.off}
			step := attestBundle(func(_ resource.Author, _ resource.User, verb, group, resourceName, name string, _ resource.Reader) bool {
				return tc.may && verb == "attest" && group == "certificates.k8s.io" && resourceName == "signers" && name == "a.com/x"
			})
			is.Equal(message(step(a)), tc.want)
		})
	}
}

func TestMastersGetNoCertificate(t *testing.T) {
	t.Parallel()
	const refused = `certificatesigningrequests.certificates.k8s.io "r" is forbidden: `
	for _, tc := range []struct{ name, request, want string }{
		{"a developer", request(t, "developers"), ``},
		{"masters", request(t, "system:masters"), refused + `use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed`},
		{"no PEM", "eA==", refused + `failed to parse CSR: PEM block type must be CERTIFICATE REQUEST`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			is := is.New(t)
			obj := parse(t, `{"metadata":{"name":"r"},"spec":{"signerName":"`+clientSigner+`","request":"`+tc.request+`"}}`)
			is.Equal(message(restrictSubject(write(signingRequests, obj, nil, nil))), tc.want)
		})
	}
}

// request returns a signing request of an organization in the form of spec.request.
func request(t *testing.T, organization string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{Organization: []string{organization}}}, key)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
}
