package fake_test

import (
	"bufio"
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/cbor"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

const (
	cborType = "application/cbor"
	someMaps = "/api/v1/namespaces/default/configmaps"
)

// withCBOR returns a client of a server with the feature gate for CBOR.
func withCBOR(t *testing.T) client {
	return client{t, fake.RunT(t, fake.Options{CBOR: cbor.Codec{}, Replicas: []fake.ReplicaOptions{{FeatureGates: map[string]bool{config.GateCBOR: true}}}})}
}

// fromCBOR returns the JSON of a response.
func fromCBOR(t *testing.T, body string) string {
	t.Helper()
	text, err := cbor.Codec{}.ToJSON([]byte(body), "")
	if err != nil {
		t.Fatalf("%v in %q", err, body)
	}
	return string(text)
}

// toCBOR returns a body.
func toCBOR(t *testing.T, text string) string {
	t.Helper()
	set, err := schema.Load(schema.Default)
	if err != nil {
		t.Fatal(err)
	}
	return string(cbor.Codec{}.FromJSON([]byte(text), set))
}

// TestCBOR checks that a write in CBOR does what the same write in JSON does, and that each kind of response says the same in both.
func TestCBOR(t *testing.T) {
	is := is.New(t)
	c := withCBOR(t)
	code, header, body := c.ask("POST", someMaps, cborType, cborType, toCBOR(t, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"k":"v"},"binaryData":{"b":"aGk="}}`))
	is.Equal(code, http.StatusCreated)
	is.Equal(header.Get("Content-Type"), cborType)
	_, stored := c.do("GET", someMaps+"/a", "")
	is.Equal(c.parse(fromCBOR(t, body)), c.parse(stored))
	is.Equal(c.parse(stored)["binaryData"], map[string]any{"b": "aGk="})

	code, _, _ = c.ask("PATCH", someMaps+"/a?fieldManager=m", "application/apply-patch+cbor", cborType,
		toCBOR(t, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"l":"w"}}`))
	is.Equal(code, http.StatusOK)
	code, _, _ = c.ask("PUT", someMaps+"/b", cborType, "", toCBOR(t, `{"metadata":{"name":"b"}}`))
	is.Equal(code, http.StatusNotFound) // as in JSON

	for _, path := range []string{someMaps + "/a", someMaps, someMaps + "/nope", "/api/v1", "/apis/apps/v1", "/api/v1/namespaces/default"} {
		code, header, inCBOR := c.ask("GET", path, "", cborType, "")
		wantCode, _, inJSON := c.ask("GET", path, "", "application/json", "")
		is.Equal(code, wantCode)
		is.Equal(header.Get("Content-Type"), cborType)
		is.Equal(c.parse(fromCBOR(t, inCBOR)), c.parse(inJSON)) // the same content
		is.True(strings.HasPrefix(inCBOR, "\xd9\xd9\xf7"))
	}
	code, _, _ = c.ask("DELETE", someMaps+"/a", cborType, cborType, toCBOR(t, `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"resourceVersion":"1"}}`))
	is.Equal(code, http.StatusConflict) // the options have been read
}

// TestCBORWatch checks the events of a watch in CBOR: the type is a sequence, whatever the client accepts, and items follow each other
// without a separator (RFC 8742).
func TestCBORWatch(t *testing.T) {
	is := is.New(t)
	c := withCBOR(t)
	c.create("a")
	res, err := c.request(t.Context(), "GET", someMaps+"?watch=1", "", cborType, "")
	is.NoErr(err)
	defer res.Body.Close()
	is.Equal(res.Header.Get("Content-Type"), "application/cbor-seq")
	_, _, object := c.ask("GET", someMaps+"/a", "", cborType, "")
	want := toCBOR(t, `{"type":"ADDED","object":`+fromCBOR(t, object)+`}`)
	got, err := bufio.NewReader(res.Body).Peek(len(want))
	is.NoErr(err)
	is.Equal(string(got), want)
}

// TestCBORNegotiation checks where kube-apiserver v1.36.3 offers CBOR: its router and its handlers name other types in the errors.
func TestCBORNegotiation(t *testing.T) {
	const three = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
	c := withCBOR(t)
	for _, tt := range []struct{ method, path, contentType, accept, body, message string }{
		{"GET", someMaps, "", "application/foo", "", "406: Not Acceptable\n\nAvailable representations: " + three + ", application/cbor, " +
			"application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch, application/cbor-seq"},
		{"GET", someMaps + "/a", "", "application/cbor-seq", "", "406: Not Acceptable\n\nAvailable representations: " + three + ", application/cbor"},
		{"GET", someMaps, "", "application/cbor-seq", "", "only the following media types are accepted: " + three + ", application/cbor"},
		{"GET", someMaps + "?watch=1", "", "application/cbor-seq", "", "only the following media types are accepted: " + three + ", application/cbor"},
		{"GET", someMaps, "", "application/cbor;as=Table;g=meta.k8s.io;v=v1", "", "only the following media types are accepted: " + three + ", application/cbor"},
		{"GET", someMaps + "?watch=1", "", "application/yaml", "", "only the following media types are accepted: application/json;stream=watch, " +
			"application/vnd.kubernetes.protobuf;stream=watch, application/cbor-seq"},
		{"GET", "/apis", "", cborType, "", "only the following media types are accepted: " + three},
		{"GET", "/apis/apps", "", cborType, "", "only the following media types are accepted: " + three},
		{"GET", "/version", "", cborType, "", "406: Not Acceptable\n\nAvailable representations: application/json"},
		{"POST", someMaps, "application/foo", "", "{}", "the body of the request was in an unknown format - accepted media types include: " + three + ", application/cbor"},
		{"POST", someMaps, cborType, "", "{}", "the object provided is unrecognized (must be of type ConfigMap): unable to determine group/version/kind: unexpected EOF ({})"},
		{"PATCH", someMaps + "/a?fieldManager=x", "application/apply-patch+cbor", "", "{}", "error decoding YAML: unexpected EOF"},
		{"PATCH", someMaps + "/a", "application/foo, application/apply-patch+yaml", "", "{}", "the body of the request was in an unknown format - accepted media types include: " +
			"application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml, application/apply-patch+cbor"},
		{"DELETE", someMaps + "/a", cborType, "", "\xa2", "unable to determine group/version/kind: unexpected EOF"},
	} {
		t.Run(tt.method+" "+tt.path+" "+tt.contentType+tt.accept, func(t *testing.T) {
			is := is.New(t)
			_, header, body := c.ask(tt.method, tt.path, tt.contentType, tt.accept, tt.body)
			if header.Get("Content-Type") == "application/yaml" {
				_, message, _ := strings.Cut(body, "message: '")
				is.Equal(strings.Join(strings.Fields(message[:strings.Index(message, "'")]), " "), tt.message)
				return
			}
			is.Equal(c.parse(body).String("message"), tt.message)
		})
	}
}

// TestCBORPages checks the debugging pages, which are also served as CBOR if the gate is enabled.
func TestCBORPages(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t, fake.Options{CBOR: cbor.Codec{}, Replicas: []fake.ReplicaOptions{{
		FeatureGates: map[string]bool{config.GateCBOR: true, "ComponentStatusz": true}}}})}
	const statusz = ";v=v1beta1;g=config.k8s.io;as=Statusz"
	code, header, body := c.ask("GET", "/statusz", "", cborType+statusz, "")
	is.Equal(code, http.StatusOK)
	is.Equal(header.Get("Content-Type"), "application/cbor;g=config.k8s.io;v=v1beta1;as=Statusz")
	_, _, inJSON := c.ask("GET", "/statusz", "", "application/json"+statusz, "")
	is.Equal(c.parse(fromCBOR(t, body)), c.parse(inJSON))
	code, _, body = c.ask("GET", "/statusz", "", cborType, "")
	is.Equal(code, http.StatusNotAcceptable)
	is.Equal(c.parse(fromCBOR(t, body)).String("message"),
		"only the following media types are accepted: application/json, application/yaml, text/plain, application/cbor")
}

// TestCBOROff checks that a server without the gate rejects CBOR, so that clients that prefer it fall back to JSON, and that the gate is
// not enabled without a codec.
func TestCBOROff(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t, fake.Options{CBOR: cbor.Codec{}})}
	code, _, _ := c.ask("POST", someMaps, cborType, "", toCBOR(t, `{"metadata":{"name":"a"}}`))
	is.Equal(code, http.StatusUnsupportedMediaType)
	code, _, _ = c.ask("GET", someMaps, "", cborType, "")
	is.Equal(code, http.StatusNotAcceptable)
	res, err := c.request(context.Background(), "GET", someMaps, "", cborType+", application/json", "")
	is.NoErr(err)
	is.Equal(res.Header.Get("Content-Type"), "application/json")
	_, err = fake.New(fake.Options{Replicas: []fake.ReplicaOptions{{FeatureGates: map[string]bool{config.GateCBOR: true}}}})
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), "cbor.Codec{}")) // how to mend it
}

// TestCBORInOpenAPI checks the media types in the OpenAPI document, which are those of kube-apiserver v1.36.3.
func TestCBORInOpenAPI(t *testing.T) {
	is := is.New(t)
	c := withCBOR(t)
	_, body := c.do("GET", "/openapi/v3/api/v1", "")
	_, root := c.do("GET", "/openapi/v3/api", "")
	types := func(document, path, method string, below ...string) []string {
		content := c.parse(document).At(append([]string{"paths", path, method}, append(below, "content")...)...)
		return object.SortedKeys(content)
	}
	is.Equal(types(body, "/api/v1/namespaces", "get", "responses", "200"), []string{"application/cbor", "application/cbor-seq", "application/json",
		"application/json;stream=watch", "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf;stream=watch", "application/yaml"})
	is.True(slices.Contains(types(body, "/api/v1/namespaces/{name}", "patch", "requestBody"), "application/apply-patch+cbor"))
	is.Equal(len(types(root, "/api/", "get", "responses", "200")), 3)
}
