package fake_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
)

const inRequests = "/apis/certificates.k8s.io/v1/certificatesigningrequests"

// signingRequest returns the body of a CertificateSigningRequest named c, and its private key.
func signingRequest(t *testing.T, signer, name, organization string, usages ...any) (body string, key *ecdsa.PrivateKey) {
	t.Helper()
	is := is.New(t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	is.NoErr(err)
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: name, Organization: []string{organization}}}, key)
	is.NoErr(err)
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	return string(object.JSON(map[string]any{"metadata": map[string]any{"name": "c"}, "spec": map[string]any{"signerName": signer,
		"usages": usages, "request": base64.StdEncoding.EncodeToString(text)}})), key
}

func (c client) approve() {
	c.t.Helper()
	csr := c.must("GET", inRequests+"/c", "")
	csr.Set([]any{map[string]any{"type": "Approved", "status": "True", "reason": "r"}}, "status", "conditions")
	c.must("PUT", inRequests+"/c/approval", string(object.JSON(map[string]any(csr))))
}

// TestIssuedCertificate checks that an issued certificate authenticates its user over TLS.
func TestIssuedCertificate(t *testing.T) {
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Controllers: controller.All, Auth: auth.RBAC})
	l, err := srv.Listen(fake.ListenOptions{TLS: true})
	is.NoErr(err)
	admin := &caller{t: t, url: l.URL(), client: showing(t, l, nil, nil), header: http.Header{"Authorization": {"Bearer " + adminToken}}}
	body, key := signingRequest(t, "kubernetes.io/kube-apiserver-client", "jane", "dev", "digital signature", "client auth")
	_, text := admin.do("POST", inRequests, body)
	csr, err := object.Parse([]byte(text))
	is.NoErr(err)
	is.Equal(csr.String("status", "certificate"), "") // the request is not approved yet
	csr.Set([]any{map[string]any{"type": "Approved", "status": "True", "reason": "r"}}, "status", "conditions")
	admin.do("PUT", inRequests+"/c/approval", string(object.JSON(map[string]any(csr))))
	_, text = admin.do("GET", inRequests+"/c", "")
	csr, err = object.Parse([]byte(text))
	is.NoErr(err)
	issued, err := base64.StdEncoding.DecodeString(csr.String("status", "certificate"))
	is.NoErr(err)
	private, err := x509.MarshalECPrivateKey(key)
	is.NoErr(err)
	jane := &caller{t: t, url: l.URL(), client: showing(t, l, issued, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}))}
	_, who := jane.who()
	is.Equal(who, "jane dev,system:authenticated")
}

// TestCertificateRefused checks that a request that its signer cannot grant fails.
func TestCertificateRefused(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		body, _ := signingRequest(t, "kubernetes.io/kubelet-serving", "system:node:n1", "system:nodes", "digital signature", "server auth")
		c.must("POST", inRequests, body)
		c.approve()
		conditions := c.must("GET", inRequests+"/c", "").Objects("status", "conditions")
		is.Equal(len(conditions), 2)
		is.Equal(conditions[1].String("reason"), "SignerValidationFailure")
		is.Equal(conditions[1].String("message"), "DNS or IP subjectAltName is required")
	})
}

// TestKubeletCertificate checks that a kubelet's signing request is approved if the kubelet has permission, then
// signed, and deleted an hour later.
func TestKubeletCertificate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Controllers: controller.All, Auth: auth.RBAC})
		as := func(user string) *caller {
			header := http.Header{"Authorization": {"Bearer " + adminToken}}
			if user != "" {
				header.Set("Impersonate-User", user)
			}
			return &caller{t: t, url: srv.URL(), client: &http.Client{Transport: srv.Transport()}, header: header}
		}
		state := func() string {
			code, text := as("").do("GET", inRequests+"/c", "")
			if code != http.StatusOK {
				return http.StatusText(code)
			}
			csr, err := object.Parse([]byte(text))
			is.NoErr(err)
			return csr.Condition("Approved").String("message") + map[bool]string{true: " issued"}[csr.String("status", "certificate") != ""]
		}
		body, _ := signingRequest(t, "kubernetes.io/kube-apiserver-client-kubelet", "system:node:n1", "system:nodes", "digital signature", "client auth")
		role := func(name string, rule string) {
			code, _ := as("").do("POST", "/apis/rbac.authorization.k8s.io/v1/"+name, rule)
			is.Equal(code, http.StatusCreated)
		}
		role("clusterroles", `{"metadata":{"name":"asks"},"rules":[{"apiGroups":["certificates.k8s.io"],"resources":["certificatesigningrequests"],"verbs":["create"]}]}`)
		role("clusterrolebindings", `{"metadata":{"name":"asks"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"asks"},
			"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"boot"}]}`)
		code, _ := as("boot").do("POST", inRequests, body)
		is.Equal(code, http.StatusCreated)
		is.Equal(state(), "") // the user has no permission
		role("clusterrolebindings", `{"metadata":{"name":"gets"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole",
			"name":"system:certificates.k8s.io:certificatesigningrequests:nodeclient"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"boot"}]}`)
		time.Sleep(time.Second) // until the controller retries
		synctest.Wait()
		is.Equal(state(), "Auto approving kubelet client certificate after SubjectAccessReview. issued")
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(state(), "Not Found")
	})
}

// TestServingTrustBundle checks that a server of 1.37 with TLS has a ClusterTrustBundle with its certificate, and only one.
func TestServingTrustBundle(t *testing.T) {
	is := is.New(t)
	for _, minor := range []string{"1.36", "1.37"} {
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Controllers: controller.All, Replicas: []fake.ReplicaOptions{{Version: minor}}})
		c := client{t, srv}
		const bundles = "/apis/certificates.k8s.io/v1/clustertrustbundles"
		if minor == "1.36" {
			code, _ := c.do("GET", bundles, "")
			is.Equal(code, 404)
			continue
		}
		is.Equal(len(c.names(bundles)), 0) // clients use HTTP
		l, err := srv.Listen(fake.ListenOptions{TLS: true})
		is.NoErr(err)
		settled := func() []string {
			is.NoErr(srv.Settle(t.Context()))
			return c.names(bundles)
		}
		all := settled()
		is.True(len(all) == 1 && strings.HasPrefix(all[0], "kubernetes.io:kube-apiserver-serving:") && len(all[0]) == len("kubernetes.io:kube-apiserver-serving:")+24)
		is.Equal(c.must("GET", bundles+"/"+all[0], "").String("spec", "trustBundle"), string(l.CA()))
		c.must("DELETE", bundles+"/"+all[0], "")
		is.Equal(settled(), all) // it is created again
		c.must("POST", bundles, string(object.JSON(map[string]any{"metadata": map[string]any{"name": "kubernetes.io:kube-apiserver-serving:other"},
			"spec": map[string]any{"signerName": "kubernetes.io/kube-apiserver-serving", "trustBundle": string(l.CA())}})))
		c.must("POST", bundles, string(object.JSON(map[string]any{"metadata": map[string]any{"name": "mine"}, "spec": map[string]any{"trustBundle": string(l.CA())}})))
		is.Equal(settled(), append(all, "mine")) // the other bundle of the signer is deleted
	}
}
