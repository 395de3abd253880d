package fake_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/auth"
)

// A test authenticates requests itself, here by the name of the program.
func ExampleServer_Authenticate() {
	srv := fake.RunT(exampleT{}, fake.Options{Auth: auth.RBAC})
	srv.Authenticate(func(r *http.Request) (auth.User, bool, error) {
		name := r.UserAgent()
		return auth.User{Name: name, Groups: []string{"programs"}}, name != "", nil
	})
	r, _ := http.NewRequest("GET", srv.URL()+secrets, nil)
	r.Header.Set("User-Agent", "reporter")
	res, _ := srv.Transport().RoundTrip(r)
	fmt.Println(res.StatusCode)
	code, refused := call(srv, "GET", secrets, "")
	fmt.Println(code, refused["message"])
	// Output:
	// 403
	// 403 secrets is forbidden: User "system:anonymous" cannot list resource "secrets" in API group "" in the namespace "default"
}

// A client in another process authenticates with a certificate that the server issued.
func ExampleServer_IssueCertificate() {
	srv := fake.RunT(exampleT{}, fake.Options{Auth: auth.RBAC})
	defer srv.Close()
	l, err := srv.Listen(fake.ListenOptions{TLS: true})
	if err != nil {
		panic(err)
	}
	cert, key, err := srv.IssueCertificate("jane", "system:masters")
	if err != nil {
		panic(err)
	}
	// l.CertificateKubeConfig(cert, key) is a kubeconfig for kubectl. Any TLS client can use the certificate:
	pair, _ := tls.X509KeyPair(cert, key)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(l.CA())
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}}}}
	res, err := client.Get(l.URL() + secrets)
	if err != nil {
		panic(err)
	}
	fmt.Println(res.StatusCode)
	// Output: 200
}
