package outbound_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/controller"
)

const webhookConfiguration = `{"metadata":{"name":"w"},"webhooks":[{"name":"w.example.com","admissionReviewVersions":["v1"],"sideEffects":"None",
"clientConfig":{"service":{"namespace":"default","name":"hook"}},"rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"],"operations":["CREATE"]}]}]}`

// TestSimulatedWebhook checks that a webhook whose pods are simulated allows requests, with a warning, and that it is called at the
// real address of its service, if there is one.
func TestSimulatedWebhook(t *testing.T) {
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Controllers: controller.All, Nodes: 1})
	l, err := srv.Listen(fake.ListenOptions{})
	is.NoErr(err)
	send := func(method, path, body string) (code int, text, warning string) {
		q, err := http.NewRequestWithContext(t.Context(), method, l.URL()+path, strings.NewReader(body))
		is.NoErr(err)
		q.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(q)
		is.NoErr(err)
		defer res.Body.Close()
		all, err := io.ReadAll(res.Body)
		is.NoErr(err)
		return res.StatusCode, string(all), res.Header.Get("Warning")
	}
	const pods, maps = "/api/v1/namespaces/default/pods", "/api/v1/namespaces/default/configmaps"
	for path, body := range map[string]string{ // in any order
		"/api/v1/namespaces/default/services": `{"metadata":{"name":"hook"},"spec":{"selector":{"app":"hook"},"ports":[{"port":443}]}}`,
		pods:                                  `{"metadata":{"name":"hook","labels":{"app":"hook"}},"spec":{"containers":[{"name":"c","image":"example.com/hook"}]}}`,
	} {
		code, _, _ := send("POST", path, body)
		is.Equal(code, 201)
	}
	is.NoErr(srv.Settle(t.Context()))
	code, _, _ := send("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", webhookConfiguration)
	is.Equal(code, 201)

	code, text, warning := send("POST", maps, `{"metadata":{"name":"a"}}`)
	is.Equal(code, 201)
	is.Equal(text[:20], `{"kind":"ConfigMap",`)
	is.Equal(warning, `299 - "kubesim did not call a webhook: the pods of Service default/hook are simulated. Set the address of a running webhook with --service-address"`)

	is.NoErr(srv.ServiceAddress("default/hook", "127.0.0.1:1"))
	code, text, _ = send("POST", maps, `{"metadata":{"name":"b"}}`)
	is.Equal(code, 500)
	is.True(strings.Contains(text, "connection refused"))
}
