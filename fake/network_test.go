package fake_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// hooked starts a server that calls a webhook with a clientConfig for ConfigMaps. far's certificate is added as the
// caBundle.
func hooked(t *testing.T, far *httptest.Server, clientConfig string) client {
	t.Helper()
	c := client{t, fake.RunT(t)}
	c.srv.AdmitThrough(c.srv.Network())
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: far.Certificate().Raw})
	code, body := c.do("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", fmt.Sprintf(
		`{"metadata":{"name":"w"},"webhooks":[{"name":"w.example.com","sideEffects":"None","admissionReviewVersions":["v1"],
		"clientConfig":{%s,"caBundle":%q},"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}]}]}`,
		clientConfig, base64.StdEncoding.EncodeToString(bundle)))
	if code != http.StatusCreated {
		t.Fatal(body)
	}
	return c
}

// TestNetwork checks that webhooks are called over the network as by the real server: with a clean path, following
// redirects, with the certificate authority in their configuration, and services by their external name.
func TestNetwork(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /check", func(w http.ResponseWriter, q *http.Request) {
		is := is.NewRelaxed(t)
		body, err := io.ReadAll(q.Body)
		is.NoErr(err)
		var review struct {
			Kind, APIVersion string
			Request          struct{ UID string }
		}
		is.NoErr(json.Unmarshal(body, &review))
		fmt.Fprintf(w, `{"kind":%q,"apiVersion":%q,"response":{"uid":%q,"allowed":true,"warnings":[%q]}}`,
			review.Kind, review.APIVersion, review.Request.UID, "asked at "+q.RequestURI)
	})
	mux.Handle("/old/", http.RedirectHandler("/check", http.StatusPermanentRedirect))
	far := httptest.NewTLSServer(mux)
	defer far.Close()
	at, err := url.Parse(far.URL)
	is.NoErr(err)
	for path, want := range map[string]string{ // order does not matter
		"//check": `299 - "asked at /check?timeout=10s"`, // envtest writes this
		"/check/": `299 - "asked at /check?timeout=10s"`,
		"/old//x": `299 - "asked at /check"`,
	} {
		c := hooked(t, far, fmt.Sprintf(`"url":"%s%s"`, far.URL, path))
		code, header, body := c.exchange("POST", admittedMaps, `{"metadata":{"name":"x"}}`)
		if code != http.StatusCreated {
			t.Fatal(body)
		}
		is.Equal(header.Get("Warning"), want)
	}
	c := hooked(t, far, fmt.Sprintf(`"service":{"name":"s","namespace":"default","path":"/check","port":%s}`, at.Port()))
	message := func() string {
		_, body := c.do("POST", admittedMaps, `{"metadata":{"name":"x"}}`)
		return c.parse(body).String("message")
	}
	is.True(strings.HasSuffix(message(), `: service "s" not found`))
	c.do("POST", "/api/v1/namespaces/default/services", `{"metadata":{"name":"s"},"spec":{"type":"ExternalName","externalName":"`+at.Hostname()+`"}}`)
	is.True(strings.HasSuffix(message(), ", not s.default.svc")) // the server was reached, but its certificate has another name
}
