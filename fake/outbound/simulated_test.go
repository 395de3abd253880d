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

const convertedDefinition = `{"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"widgets","kind":"Widget"},
"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":"default","name":"hook"}}}},
"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}},
{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`

// TestSimulatedWebhook checks that a webhook whose pods are simulated allows requests, with a warning, and that it is called at the
// real address of its service, if there is one. Without it, a conversion fails.
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

	code, _, _ = send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", convertedDefinition)
	is.Equal(code, 201)
	code, _, _ = send("POST", "/apis/example.com/v1/widgets", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}`)
	is.Equal(code, 201)
	code, text, _ = send("GET", "/apis/example.com/v2/widgets/a", "")
	is.Equal(code, 500)
	is.True(strings.Contains(text, "kubesim cannot convert objects: the pods of Service default/hook are simulated"))

	is.NoErr(srv.ServiceAddress("default/hook", "127.0.0.1:1"))
	code, text, _ = send("POST", maps, `{"metadata":{"name":"b"}}`)
	is.Equal(code, 500)
	is.True(strings.Contains(text, "connection refused"))
}
