package webhook

import (
	"context"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// Address returns the URLs that the real server requests for these configurations.
func TestAddress(t *testing.T) {
	is := is.New(t)
	for at, want := range map[string]string{ // order does not matter
		"https://h:1//convert":  "https://h:1/convert?timeout=10s",
		"https://h:1/a//b/":     "https://h:1/a/b?timeout=10s",
		"https://h:1":           "https://h:1/?timeout=10s",
		"https://h:1/a%20b":     "https://h:1/a%20b?timeout=10s",
		"https://h:1/a%2Fb":     "https://h:1/a/b?timeout=10s",
		"https://h:1/../x":      "https://h:1/x?timeout=10s",
		"https://h:1/x?a=b#top": "https://h:1/x?timeout=10s",
	} {
		is.Equal(Address(object.Object{"url": at}, 10*time.Second), want)
	}
	service := map[string]any{"name": "s", "namespace": "n", "path": "/a/"}
	is.Equal(Address(object.Object{"service": service}, time.Second), "https://s.n.svc:443/a?timeout=1s")
	service["port"] = int64(8443)
	is.Equal(Address(object.Object{"service": service}, time.Second), "https://s.n.svc:8443/a?timeout=1s")
	is.Equal(Bundle(object.Object{"caBundle": "Zm9v"}), []byte("foo"))
}

var review = schema.GVK{Group: "admission.k8s.io", Version: "v1", Kind: "AdmissionReview"}

// structure returns the type of reviews.
func structure(t testing.TB) *schema.Type {
	t.Helper()
	set, err := schema.Load(schema.Default)
	if err != nil {
		t.Fatal(err)
	}
	return set.Kind(review)
}

// The real server returns these errors for these responses.
func TestAnswers(t *testing.T) {
	const text, json = "text/plain", "application/json"
	for _, x := range []struct {
		answer *Answer
		want   string
	}{
		{&Answer{200, text, []byte(`{"kind":"AdmissionReview"}`)}, ""},
		{&Answer{200, json, []byte("kind: AdmissionReview")}, ""},
		{&Answer{200, "", []byte(`{}`)}, ""},
		{&Answer{200, json, []byte(`{"response":{"allowed":"true"}}`)},
			"json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool"},
		{&Answer{200, json, []byte(`{"apiVersion":"admission.k8s.io/v1beta1"}`)},
			"converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion"},
		{&Answer{200, json, []byte(`{"kind":"DeleteOptions","apiVersion":"admission.k8s.io/v1"}`)},
			"converting (v1.DeleteOptions) to (v1.AdmissionReview): unknown conversion"},
		{&Answer{200, json, []byte(`{"kind":"DeleteOptions","apiVersion":"v1"}`)},
			`no kind "DeleteOptions" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"`},
		{&Answer{200, text, []byte("the text")}, `couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type ` +
			`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`},
		{&Answer{200, json, []byte(`{"kind":`)}, "couldn't get version/kind; json parse error: unexpected end of JSON input"},
		{&Answer{200, json, []byte("")}, "0-length response with status code: 200 and content type: application/json"},
		{&Answer{200, "a/b/c;;", []byte("{}")}, "Internal error occurred: mime: unexpected content after media subtype"},
		{&Answer{307, "", []byte("")}, "the server responded with the status code 307 but did not return more information"},
		{&Answer{400, text, []byte("the text")}, "the server rejected our request for an unknown reason"},
		{&Answer{403, text, []byte(" the text\n")}, "the text"},
		{&Answer{403, json, []byte("the text")}, "unknown"},
		{&Answer{406, "", []byte("the text")}, "the text"},
		{&Answer{409, text, []byte("")}, "the server reported a conflict"},
		{&Answer{418, "", []byte("the text")}, "the server responded with the status code 418 but did not return more information"},
		{&Answer{500, text, []byte("the text")}, `an error on the server ("the text") has prevented the request from succeeding`},
		{&Answer{500, json, []byte("the text")}, `an error on the server ("unknown") has prevented the request from succeeding`},
		{&Answer{503, text, []byte("the text")}, "the server is currently unable to handle the request"},
		{&Answer{503, json, []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"m"}`)}, "m"},
	} {
		is := is.New(t)
		call := Call(func(context.Context, *Request) (*Answer, error) { return x.answer, nil })
		body, err := call.Ask(t.Context(), &Request{})
		if err == nil {
			_, err = Read(body, review, structure(t))
		}
		if x.want == "" {
			is.NoErr(err)
			continue
		}
		is.True(err != nil)
		is.Equal(err.Error(), x.want)
	}
}
