package fake_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

// hookOn stores a configuration with one webhook for updates of a resource.
func (c client) hookOn(kind, name, group, resource string) {
	c.t.Helper()
	path := "/apis/admissionregistration.k8s.io/v1/" + strings.ToLower(kind) + "webhookconfigurations"
	code, body := c.do("POST", path, `{"metadata":{"name":"`+name+`"},"webhooks":[{"name":"`+name+`.example.com","admissionReviewVersions":["v1"],
		"sideEffects":"None","clientConfig":{"url":"https://hooks.example.com/`+name+`"},
		"rules":[{"operations":["UPDATE"],"apiGroups":["`+group+`"],"apiVersions":["*"],"resources":["`+resource+`"]}]}]}`)
	if code != http.StatusCreated {
		c.t.Fatalf("%d %s", code, body)
	}
}

// TestAdmitScale checks that webhooks see a write of a scale subresource as a write of a Scale, whatever the resource.
func TestAdmitScale(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	is.NoErr(c.srv.LoadData([]byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pools.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: pools, kind: Pool}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}, other: {type: string}}}
          status: {type: object, properties: {size: {type: integer}}}
---
apiVersion: example.com/v1
kind: Pool
metadata: {name: p}
spec: {size: 1, other: x}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  replicas: 1
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}
`)))
	for _, x := range []struct{ group, resource, path, size string }{
		{"apps", "deployments/scale", "/apis/apps/v1/namespaces/default/deployments/d", "replicas"},
		{"example.com", "pools/scale", "/apis/example.com/v1/namespaces/default/pools/p", "size"},
	} {
		name := "set-" + x.size
		c.hookOn("Mutating", name, x.group, x.resource)
		c.hookOn("Validating", "check-"+x.size, x.group, x.resource)
		c.srv.Admit(name+".example.com", func(review fake.AdmissionReview) fake.AdmissionReview {
			return patchResponse(review, `[{"op":"replace","path":"/spec/replicas","value":4}]`)
		})
		var seen object.Object
		c.srv.Admit("check-"+x.size+".example.com", func(review fake.AdmissionReview) fake.AdmissionReview {
			seen = object.Object(review).Copy()
			review["response"] = map[string]any{"allowed": true}
			return review
		})
		c.mergePatch(x.path+"/scale", `{"spec":{"replicas":3}}`)
		is.Equal(seen.String("request", "kind", "kind"), "Scale")
		is.Equal(seen.String("request", "requestKind", "group"), "autoscaling")
		is.Equal(seen.String("request", "subResource"), "scale")
		is.Equal(seen.String("request", "object", "kind"), "Scale")
		after, _ := seen.Int("request", "object", "spec", "replicas")
		before, _ := seen.Int("request", "oldObject", "spec", "replicas")
		is.Equal(after, int64(4)) // as changed by the mutating webhook
		is.Equal(before, int64(1))
		_, body := c.do("GET", x.path, "")
		size, _ := c.parse(body).Int("spec", x.size)
		is.Equal(size, int64(4)) // the change is in the object
	}
}
