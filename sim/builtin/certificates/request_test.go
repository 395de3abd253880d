package certificates

import (
	"crypto/ed25519"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
	"github.com/kubesim/kubesim/sim/object"
)

// noRandom is a random source for keys that need not be secret.
type noRandom struct{}

func (noRandom) Read(p []byte) (int, error) { return len(p), nil }

func testKey() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)) }

// testCSR returns a certificate request in the form of spec.request.
func testCSR(t *testing.T) string {
	t.Helper()
	der, err := x509.CreateCertificateRequest(noRandom{}, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "me"}}, testKey())
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
}

func testCertificate(t *testing.T) string {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1, 0)}
	der, err := x509.CreateCertificate(noRandom{}, template, template, testKey().Public(), testKey())
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func csrTest(t *testing.T) kindtest.Rules {
	return kindtest.Rules{Kinds: served, Storage: "certificatesigningrequests.certificates.k8s.io",
		Base: `{"metadata":{"name":"c"},"spec":{"signerName":"example.com/s","usages":["client auth"],"request":"` + testCSR(t) + `"}}`}
}

func TestCSRRules(t *testing.T) {
	const approved, denied = `{"type":"Approved","status":"True"}`, `{"type":"Denied","status":"True"}`
	issued := `{"status":{"certificate":"` + testCertificate(t) + `"}}`
	csrTest(t).Run(t, []kindtest.Case{
		{Name: "minimal"},
		{Name: "request", Patch: `{"spec":{"request":"YQ=="}}`, Want: `spec.request: Invalid value: "YQ==": PEM block type must be CERTIFICATE REQUEST`},
		{Name: "usages", Patch: `{"spec":{"usages":[]}}`, Want: "spec.usages: Required value"},
		{Name: "usage", Patch: `{"spec":{"usages":["client auth","client auth","x"]}}`,
			Want: `spec.usages[2]: Unsupported value: "x": supported values: "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment", "decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", "timestamping"` + "\n" +
				`spec.usages[1]: Duplicate value: "client auth"`},
		{Name: "no signer", Patch: `{"spec":{"signerName":"","expirationSeconds":599}}`,
			Want: "spec.signerName: Required value\nspec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)"},
		{Name: "signer", Patch: `{"spec":{"signerName":"x"}}`, Want: `spec.signerName: Invalid value: "x": must be a fully qualified domain and path of the form 'example.com/signer-name'`},
		{Name: "signer domain", Patch: `{"spec":{"signerName":"x/y"}}`, Want: `spec.signerName: Invalid value: "x": should be a domain with at least two segments separated by dots`},
		{Name: "legacy signer", Patch: `{"spec":{"signerName":"kubernetes.io/legacy-unknown"}}`,
			Want: `spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version`},
		{Name: "spec stays", Old: `{}`, Patch: `{"spec":{"signerName":""}}`},
		{Name: "approve", Sub: "approval", Old: `{}`, Patch: `{"status":{"conditions":[` + approved + `]}}`},
		{Name: "approve and deny", Sub: "approval", Old: `{}`, Patch: `{"status":{"conditions":[` + approved + `,` + denied + `]}}`,
			Want: `status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive`},
		{Name: "approve through status", Sub: "status", Old: `{}`, Patch: `{"status":{"conditions":[` + approved + `]}}`,
			Want: `status.conditions: Forbidden: updates may not add a condition of type "Approved"`},
		{Name: "take back", Sub: "approval", Old: `{"status":{"conditions":[` + approved + `]}}`, Patch: `{"status":{"conditions":[]}}`,
			Want: `status.conditions: Forbidden: updates may not remove a condition of type "Approved"`},
		{Name: "unknown status", Sub: "approval", Old: `{}`, Patch: `{"status":{"conditions":[{"type":"Approved","status":"False"},{"type":""}]}}`,
			Want: `status.conditions[0].status: Unsupported value: "False": supported values: "True"` + "\n" +
				"status.conditions[1].type: Required value\nstatus.conditions[1].status: Required value"},
		{Name: "issue", Sub: "status", Old: `{}`, Patch: issued},
		{Name: "issue junk", Sub: "status", Old: `{}`, Patch: `{"status":{"certificate":"YQ=="}}`,
			Want: `status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block`},
		{Name: "issue again", Sub: "status", Old: issued, Patch: `{"status":{"certificate":""}}`,
			Want: "status.certificate: Forbidden: updates may not modify existing certificate content"},
	})
}

func TestCSRPrepare(t *testing.T) {
	is := is.New(t)
	rt := csrTest(t)
	obj, _, _ := rt.Result(t, kindtest.Case{Patch: `{"spec":{"username":"mallory","groups":["x"]}}`})
	is.Equal(obj.String("spec", "username"), "admin")                   // the server sets the user
	is.Equal(obj.Strings("spec", "groups"), []string{"system:masters"}) // with the groups
	obj, _, _ = rt.Result(t, kindtest.Case{Sub: "approval", Old: `{"status":{"certificate":"YQ=="}}`,
		Patch: `{"spec":{"signerName":"x"},"status":{"certificate":"","conditions":[{"type":"Approved","status":"True"}]}}`})
	is.Equal(obj.String("spec", "signerName"), "example.com/s")     // approval keeps the spec
	is.Equal(obj.String("status", "certificate"), "YQ==")           // and the certificate
	is.Equal(string(object.JSON(obj.List("status", "conditions"))), // and stamps the conditions
		`[{"lastTransitionTime":"2026-01-02T03:04:05Z","lastUpdateTime":"2026-01-02T03:04:05Z","status":"True","type":"Approved"}]`)
}

func TestCSRCells(t *testing.T) {
	is := is.New(t)
	rt := csrTest(t)
	is.Equal(rt.Cells(t, `{"spec":{"username":"u","expirationSeconds":7200}}`), `["c","60s","example.com/s","u","120m","Pending"]`) // new
	is.Equal(rt.Cells(t, `{"status":{"certificate":"x","conditions":[{"type":"Approved"},{"type":"Failed"}]}}`),
		`["c","60s","example.com/s","","<none>","Approved,Failed,Issued"]`) // all at once
}

// TestShapesOfCertificates runs every rule on objects with missing values.
func TestShapesOfCertificates(t *testing.T) {
	for _, rt := range []kindtest.Rules{
		{Kinds: served, Storage: "certificatesigningrequests.certificates.k8s.io", Base: `{"metadata":{"name":"c"},"spec":{"usages":["any"],"signerName":"a.b/c"},"status":{"certificate":"eA==","conditions":[{"type":"Approved","status":"True"}]}}`},
	} {
		t.Run(rt.Storage, func(t *testing.T) { rt.DoNotPanic(t) })
	}
}
