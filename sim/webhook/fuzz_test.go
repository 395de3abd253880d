package webhook

import (
	"testing"

	"github.com/kubesim/kubesim/sim/object"
)

// FuzzAnswer parses responses of webhooks. The result must be either an object or an error, but not both.
func FuzzAnswer(f *testing.F) {
	f.Add(200, "application/json", []byte(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"a","allowed":true,"patchType":"JSONPatch","patch":"W10="}}`))
	f.Add(200, "application/json", []byte(`{"response":{"allowed":"yes","status":[]}}`))
	f.Add(200, "text/plain; charset", []byte(`no`))
	f.Add(503, "", []byte(`{"kind":"Status","status":"Failure","message":"m"}`))
	f.Add(403, "text/html", []byte("\xff\xfe"))
	f.Add(200, "application/yaml", []byte("kind: ConversionReview\nresponse: {convertedObjects: [1]}"))
	f.Add(204, "", []byte(nil))
	typ := structure(f)
	f.Fuzz(func(t *testing.T, code int, contentType string, body []byte) {
		a := &Answer{Code: code, ContentType: contentType, Body: body}
		text, err := a.body()
		var obj object.Object
		if err == nil {
			obj, err = Read(text, review, typ)
		}
		if (obj == nil) == (err == nil) {
			t.Fatalf("%d %q %q: %v, %v", code, contentType, body, obj, err)
		}
	})
}
