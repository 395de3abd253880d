package certificates

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// TestIssuedCertificates compares the results with responses of a kube-apiserver v1.37.2, which cannot be recorded because they
// depend on the time.
func TestIssuedCertificates(t *testing.T) {
	t.Parallel()
	csr, err := x509.CreateCertificateRequest(noRandom{}, &x509.CertificateRequest{}, testKey())
	if err != nil {
		t.Fatal(err)
	}
	old := object.Object{"spec": map[string]any{"stubPKCS10Request": base64.StdEncoding.EncodeToString(csr), "maxExpirationSeconds": int64(7200), "signerName": "a.b/c"}}
	now := kindtest.Now
	at := func(d time.Duration) string { return now.Add(d).Format(time.RFC3339) }
	for _, c := range []struct {
		name                   string
		begin, life            time.Duration // relative times of the certificate
		before, after, refresh time.Duration // relative times in the status
		want                   string
	}{
		{"good", 0, time.Hour, 0, time.Hour, 30 * time.Minute, ""},
		{"another begin", 0, time.Hour, time.Second, time.Hour, 30 * time.Minute,
			`status.notBefore: Invalid value: "2026-01-02T03:04:06Z": must be set to the NotBefore time encoded in the leaf certificate`},
		{"too early", -6 * time.Minute, time.Hour, -6 * time.Minute, 54 * time.Minute, 30 * time.Minute,
			`status.notBefore: Invalid value: "2026-01-02T02:58:05Z": must be set to within 5 minutes of kube-apiserver's current time`},
		{"another end", 0, time.Hour, 0, 2 * time.Hour, 30 * time.Minute,
			`status.notAfter: Invalid value: "2026-01-02T05:04:05Z": must be set to the NotAfter time encoded in the leaf certificate`},
		{"too short", 0, time.Minute, 0, time.Minute, 0, `status.certificateChain: Invalid value: 60000000000: leaf certificate lifetime must be >= 1 hour`},
		{"too long", 0, 3 * time.Hour, 0, 3 * time.Hour, time.Hour,
			`status.certificateChain: Invalid value: 10800000000000: leaf certificate lifetime must be <= spec.maxExpirationSeconds (7200)`},
		{"refreshed too late", 0, time.Hour, 0, time.Hour, time.Hour,
			`status.beginRefreshAt: Invalid value: "2026-01-02T04:04:05Z": must be at least 10 minutes before status.notAfter`},
	} {
		is := is.New(t)
		template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(c.begin), NotAfter: now.Add(c.begin + c.life)}
		der, err := x509.CreateCertificate(noRandom{}, template, template, testKey().Public(), testKey())
		is.NoErr(err)
		obj := old.Copy()
		obj["status"] = map[string]any{"certificateChain": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
			"notBefore": at(c.before), "notAfter": at(c.after), "beginRefreshAt": at(c.refresh),
			"conditions": []any{map[string]any{"type": "Issued", "status": "True", "reason": "R", "message": "", "lastTransitionTime": at(0)}}}
		cursor := field.CursorAt(obj, old)
		validatePodCertificateStatus(&resource.Context{Now: now, Server: resource.Server{Minor: 37}}, cursor)
		got := ""
		for _, e := range cursor.Errors() {
			got += e.Error()
		}
		is.Equal(got, c.want) // same errors as the server
	}
}

func TestOnlySignersMaySign(t *testing.T) {
	t.Parallel()
	old := object.Object{"spec": map[string]any{"signerName": "a.b/c"}}
	obj := old.Copy()
	obj["status"] = map[string]any{"notBefore": "2026-01-02T03:04:05Z"}
	for _, c := range []struct{ allowed, want string }{
		{"a.b/c", ""}, {"a.b/*", ""}, {"a.b/d", `spec.signerName: Forbidden: User "u" is not permitted to "sign" for signer "a.b/c"`},
	} {
		is := is.New(t)
		ctx := &resource.Context{User: resource.User{Name: "u"}, May: func(a resource.Access) *status.Status {
			if a.Verb == "sign" && a.Resource == "signers" && a.Name == c.allowed {
				return nil
			}
			return &status.Status{}
		}}
		cursor := field.CursorAt(obj, old)
		authorizeSigner(ctx, cursor)
		got := ""
		for _, e := range cursor.Errors() {
			got += e.Error()
		}
		is.Equal(got, c.want) // the permitted signers
	}
}
