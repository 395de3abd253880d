package fake_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

const frobbers = `
# two versions that differ in more than their names
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: frobbers.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {plural: frobbers, kind: Frobber}
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig:
        service: {name: frob, namespace: default, path: /convert}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          height: {type: integer}
          param: {type: string}
  - name: v2
    served: true
    storage: false
    schema:
      openAPIV3Schema:
        type: object
        properties:
          heightInInches: {type: integer, default: 0}
          params: {type: array, items: {type: string}}
--- # the objects come after their definition
apiVersion: example.com/v1
kind: Frobber
metadata: {name: a}
height: 2
---
apiVersion: v1
kind: ConfigMapList
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: one}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: two, namespace: kube-public}
---
`

// frob converts a Frobber. height is in feet and heightInInches in inches. params is the list form of param.
func frob(obj map[string]any, apiVersion string) (map[string]any, error) {
	if obj["param"] == "stuck" {
		return nil, errors.New("this one is stuck")
	}
	if apiVersion == "example.com/v2" {
		if feet, ok := obj["height"].(int64); ok {
			obj["heightInInches"] = feet * 12
		}
		if param, ok := obj["param"]; ok {
			obj["params"] = []any{param}
		}
		delete(obj, "height")
		delete(obj, "param")
	} else {
		if inches, ok := obj["heightInInches"].(int64); ok {
			obj["height"] = inches / 12
		}
		if params, ok := obj["params"].([]any); ok && len(params) > 0 {
			obj["param"] = params[0]
		}
		delete(obj, "heightInInches")
		delete(obj, "params")
	}
	obj["apiVersion"] = apiVersion
	return obj, nil
}

func loaded(t *testing.T) (client, *fake.Server) {
	t.Helper()
	is := is.New(t)
	srv := fake.RunT(t)
	file := filepath.Join(t.TempDir(), "all.yaml")
	is.NoErr(os.WriteFile(file, []byte(frobbers), 0o600))
	is.NoErr(srv.Load(file))
	return client{t, srv}, srv
}

func TestLoad(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, srv := loaded(t)
	code, body := c.do("GET", "/apis/example.com/v1/namespaces/default/frobbers/a", "")
	is.Equal(code, 200)                           // a definition is served before the next document is sent
	is.True(strings.Contains(body, `"height":2`)) // the object exists
	code, _ = c.do("GET", "/api/v1/namespaces/kube-public/configmaps/two", "")
	is.Equal(code, 200)                                                // items of lists are created in their own namespaces
	is.NoErr(srv.LoadData([]byte(frobbers)))                           // existing objects are updated by apply
	err := srv.LoadData([]byte("apiVersion: example.com/v9\nkind: X")) // this kind is not served
	is.True(err != nil && strings.Contains(err.Error(), `no matches for kind "X" in version "example.com/v9"`))
	err = srv.LoadData([]byte("a: [")) // invalid YAML
	is.True(err != nil)
	err = srv.LoadData([]byte("kind: List\napiVersion: v1\nitems: [1]"))
	is.True(err != nil)
	err = srv.LoadData([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: UPPER}"))
	is.True(err != nil && strings.Contains(err.Error(), "RFC 1123")) // the server's response is the error
}

func TestConvertFunction(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, srv := loaded(t)
	const v1, v2 = "/apis/example.com/v1/namespaces/default/frobbers", "/apis/example.com/v2/namespaces/default/frobbers"
	code, body := c.do("GET", v2+"/a", "")
	is.Equal(code, 500) // there is no transport to the webhook
	is.True(strings.Contains(body, "conversion webhook for example.com/v1, Kind=Frobber failed: "))

	srv.Convert("frobbers.example.com", frob)
	code, body = c.do("GET", v2+"/a", "")
	is.Equal(code, 200)
	is.True(strings.Contains(body, `"heightInInches":24`)) // the stored v1 is read as v2
	code, body = c.do("POST", v2, `{"apiVersion":"example.com/v2","kind":"Frobber","metadata":{"name":"b"},"heightInInches":36,"params":["x"]}`)
	is.Equal(code, 201)
	is.True(strings.Contains(body, `"heightInInches":36`)) // the response is in the version of the request
	_, body = c.do("GET", v1+"/b", "")
	is.True(strings.Contains(body, `"height":3`))  // stored as v1
	is.True(strings.Contains(body, `"param":"x"`)) // with all fields
	_, body = c.do("GET", v2, "")
	is.Equal(strings.Count(body, "heightInInches"), 3) // both objects, and the fields that a v2 client owns
	code, _ = c.do("POST", v1, `{"apiVersion":"example.com/v1","kind":"Frobber","metadata":{"name":"s"},"param":"stuck"}`)
	is.Equal(code, 201)
	code, body = c.do("GET", v2, "")
	is.Equal(code, 429) // one object that cannot be converted keeps the watch cache of the version from being filled
	is.True(strings.Contains(body, "conversion webhook for example.com/v1, Kind=Frobber failed: this one is stuck"))
	code, _ = c.do("GET", v1, "")
	is.Equal(code, 200) // other requests are not affected
}

// hook responds to ConversionReviews in process.
type hook struct {
	t     *testing.T
	reply func(review object.Object) object.Object
}

func (h hook) RoundTrip(q *http.Request) (*http.Response, error) {
	data, err := io.ReadAll(q.Body)
	if err != nil {
		return nil, err
	}
	review, err := object.Parse(data)
	if err != nil {
		return nil, err
	}
	if q.URL.String() != "https://frob.default.svc:443/convert?timeout=30s" {
		h.t.Errorf("the review went to %s", q.URL)
	}
	body := string(object.JSON(h.reply(review)))
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(body)), Request: q}, nil
}

func TestConvertThrough(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, srv := loaded(t)
	answer := func(review object.Object, change func(response object.Object)) object.Object {
		request := object.Object(review.Map("request"))
		in, _ := request.List("objects")[0].(map[string]any)
		out, err := frob(in, request.String("desiredAPIVersion"))
		is.NoErr(err)
		response := object.Object{"uid": request.String("uid"), "result": map[string]any{"status": "Success"}, "convertedObjects": []any{out}}
		change(response)
		return object.Object{"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "response": map[string]any(response)}
	}
	for _, x := range []struct {
		name   string
		change func(response object.Object)
		code   int
		want   string
	}{
		{"converted", func(object.Object) {}, 200, `"heightInInches":24`},
		{"other uid", func(r object.Object) { r["uid"] = "x" }, 500, `expected response.uid=`},
		{"failed", func(r object.Object) { r.Set("Failure", "result", "status") }, 500, `response.result.status was 'Failure', not 'Success'`},
		{"with a message", func(r object.Object) { r["result"] = map[string]any{"status": "Failure", "message": "no"} }, 500, `failed: no`},
		{"nothing", func(r object.Object) { r["convertedObjects"] = []any{} }, 500, `returned 0 objects, expected 1`},
		{"renamed", func(r object.Object) {
			object.Object(r.List("convertedObjects")[0].(map[string]any)).SetMeta("name", "b")
		}, 500, `must have the same name: a != b`},
		{"labelled", func(r object.Object) {
			object.Object(r.List("convertedObjects")[0].(map[string]any)).SetMeta("labels", map[string]any{"x": "y"})
		}, 200, `"labels":{"x":"y"}`},
	} {
		srv.ConvertThrough(hook{t, func(review object.Object) object.Object { return answer(review, x.change) }})
		code, body := c.do("GET", "/apis/example.com/v2/namespaces/default/frobbers/a", "")
		is.Equal(code, x.code)                  // as from the real server
		is.True(strings.Contains(body, x.want)) // with its message
	}
}

func TestDeletedDefinition(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, srv := loaded(t)
	srv.Convert("frobbers.example.com", frob)
	const crds, v1 = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/frobbers.example.com", "/apis/example.com/v1/namespaces/default/frobbers"
	code, _ := c.do("PUT", v1+"/a", `{"apiVersion":"example.com/v1","kind":"Frobber","metadata":{"name":"a","finalizers":["example.com/f"]}}`)
	is.Equal(code, 422) // an update needs a resourceVersion
	code, _ = c.do("POST", v1, `{"apiVersion":"example.com/v1","kind":"Frobber","metadata":{"name":"held","finalizers":["example.com/f"]}}`)
	is.Equal(code, 201)
	watch := c.get(t.Context(), v1+"?watch=1")
	defer watch.Body.Close()
	code, _ = c.do("DELETE", crds, "")
	is.Equal(code, 200)
	code, _ = c.do("GET", v1+"/a", "")
	is.Equal(code, 404) // its objects are deleted at once
	code, body := c.do("POST", v1, `{"apiVersion":"example.com/v1","kind":"Frobber","metadata":{"name":"late"}}`)
	is.Equal(code, 403) // no new objects can be created
	is.True(strings.Contains(body, "create not allowed while custom resource definition is terminating"))
	_, body = c.do("GET", "/apis/example.com/v1", "")
	is.True(!strings.Contains(body, "create")) // discovery does not list the verb either
	c.mergePatch(v1+"/held", `{"metadata":{"finalizers":null}}`)
	code, _ = c.do("GET", crds, "")
	is.Equal(code, 200) // the server checks every 5 s
	srv.Clock.Advance(5 * time.Second)
	code, _ = c.do("GET", crds, "")
	is.Equal(code, 404)
	events, err := io.ReadAll(watch.Body) // the watch ends, because the kind was removed
	is.NoErr(err)
	is.Equal(strings.Count(string(events), `"type":"DELETED"`), 2)
	code, _ = c.do("GET", "/apis/example.com", "")
	is.Equal(code, 404)
	is.NoErr(srv.LoadData([]byte(frobbers))) // the definition can be created again
}
