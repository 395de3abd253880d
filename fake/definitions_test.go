package fake_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

const gateDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gates.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: gates, kind: Gate}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {width: {type: integer, minimum: 1, maximum: 9, multipleOf: 1}}}
          status: {type: object, default: {phase: Pending}, properties: {phase: {type: string}}}
`

const gateObjects = "/apis/example.com/v1/namespaces/default/gates"

// TestStatusDefault checks that every reader sees a status for which the schema has a default from the beginning,
// although a create drops the status in the request and stores none.
func TestStatusDefault(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	is.NoErr(c.srv.LoadData([]byte(gateDefinition)))
	const body = `{"apiVersion":"example.com/v1","kind":"Gate","metadata":{"name":"a"},"spec":{"width":1},"status":{"phase":"Open"}}`
	phase := func(text string) string { return c.parse(text).String("status", "phase") }

	code, text := c.do("POST", gateObjects+"?dryRun=All", body)
	is.Equal(code, http.StatusCreated)
	is.Equal(phase(text), "Pending")
	watch := c.get(t.Context(), gateObjects+"?watch=1")
	defer watch.Body.Close()
	code, text = c.do("POST", gateObjects, body)
	is.Equal(code, http.StatusCreated)
	is.Equal(phase(text), "Pending") // in the response
	created := c.parse(text).ResourceVersion()
	frame := make([]byte, 1<<12)
	n, err := watch.Body.Read(frame)
	is.NoErr(err)
	is.True(strings.Contains(string(frame[:n]), `"phase":"Pending"`)) // in an event
	_, text = c.do("GET", gateObjects+"/a", "")
	is.Equal(phase(text), "Pending")
	_, list := c.do("GET", gateObjects, "")
	is.True(strings.Contains(list, `"phase":"Pending"`))

	code, text = c.do("PUT", gateObjects+"/a", text)
	is.Equal(code, http.StatusOK)
	is.True(c.parse(text).ResourceVersion() != created) // now the status is stored, which is a change
	is.Equal(c.parse(text).Generation(), int64(1))
	code, text = c.do("PUT", gateObjects+"/a/status", strings.Replace(text, "Pending", "Open", 1))
	is.Equal(code, http.StatusOK)
	is.Equal(phase(text), "Open")
}

// TestReplaceDefinition checks that replacing a definition by an equal one changes nothing: 1 equals 1, whether parsed
// as a float or as an integer.
func TestReplaceDefinition(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	is.NoErr(c.srv.LoadData([]byte(gateDefinition)))
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gates.example.com"
	_, before := c.do("GET", path, "")
	code, after := c.do("PUT", path, before)
	is.Equal(code, http.StatusOK)
	is.Equal(c.parse(after).ResourceVersion(), c.parse(before).ResourceVersion())
	changed := strings.Replace(before, `"maximum":9`, `"maximum":8`, 1)
	is.True(changed != before)
	_, after = c.do("PUT", path, changed)
	is.Equal(c.parse(after).Generation(), int64(2))
}

// TestDeleteOptionsOfAnyGroup checks that a client of a custom resource may send delete options in the resource's own
// group.
func TestDeleteOptionsOfAnyGroup(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	is.NoErr(c.srv.LoadData([]byte(gateDefinition)))
	code, text := c.do("POST", gateObjects, `{"apiVersion":"example.com/v1","kind":"Gate","metadata":{"name":"a"}}`)
	is.Equal(code, http.StatusCreated)
	uid := c.parse(text).UID()
	code, _ = c.do("DELETE", gateObjects+"/a", `{"kind":"DeleteOptions","apiVersion":"example.com/v1","preconditions":{"uid":"other"}}`)
	is.Equal(code, http.StatusConflict) // the options are used
	code, _ = c.do("DELETE", gateObjects+"/a", `{"kind":"DeleteOptions","apiVersion":"example.com/v1","preconditions":{"uid":"`+uid+`"}}`)
	is.Equal(code, http.StatusOK)
}
