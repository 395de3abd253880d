package crds

import (
	"strings"
	"testing"

	"github.com/matryer/is"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// object parses YAML.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

// at returns the value at a path such as spec.rules.0.matches, or nil if there is none.
func at(u *unstructured.Unstructured, path string) any {
	var v any = u.Object
	for _, step := range strings.Split(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[step]
		case []any:
			if i := int(step[0] - '0'); i >= len(x) {
				return nil
			} else {
				v = x[i]
			}
		default:
			return nil
		}
	}
	return v
}

// Schema defaults are applied wherever the parent object exists, at any depth.
func TestDefaults(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		project, object string
		want            map[string]any
	}{
		{"gateway-api", `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web}
spec:
  parentRefs: [{name: gw}]
  rules: [{backendRefs: [{name: svc, port: 80}]}]`, map[string]any{
			"spec.parentRefs.0": map[string]any{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "gw"},
			"spec.rules.0.matches": []any{ // a default that is a whole list
				map[string]any{"path": map[string]any{"type": "PathPrefix", "value": "/"}}},
			"spec.rules.0.backendRefs.0": map[string]any{"group": "", "kind": "Service", "name": "svc",
				"port": int64(80), "weight": int64(1)},
			"status": nil,
		}},
		{"gateway-api", `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw}
spec:
  gatewayClassName: any
  listeners: [{name: http, protocol: HTTP, port: 80}, {name: https, protocol: HTTPS, port: 443, tls: {certificateRefs: [{name: c}]}}]`, map[string]any{
			// a default {namespaces: {from: Same}} above a default
			"spec.listeners.0.allowedRoutes.namespaces.from": "Same",
			"spec.listeners.1.tls.mode":                      "Terminate",
			"spec.listeners.1.tls.certificateRefs.0.kind":    "Secret",
			"spec.listeners.0.tls":                           nil, // no parent, no default
			"status.conditions.0.type":                       "Accepted",
			"status.conditions.0.lastTransitionTime":         "1970-01-01T00:00:00Z",
			"status.conditions.1.reason":                     "Pending",
		}},
		{"cert-manager", `
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {name: acme}
spec:
  acme:
    server: https://acme.example.com
    privateKeySecretRef: {name: key}
    solvers: [{http01: {gatewayHTTPRoute: {parentRefs: [{name: gw}]}}}]`, map[string]any{
			"spec.acme.solvers.0.http01.gatewayHTTPRoute.parentRefs.0.kind":  "Gateway",
			"spec.acme.solvers.0.http01.gatewayHTTPRoute.parentRefs.0.group": "gateway.networking.k8s.io",
		}},
		{"prometheus-operator", `
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: p}
spec: {}`, map[string]any{
			"spec.portName": "web", "spec.scrapeInterval": "30s", "spec.evaluationInterval": "30s",
		}},
		{"cluster-api", `
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: {name: quick}
spec:
  controlPlane: {templateRef: {apiVersion: example.com/v1, kind: ControlTemplate, name: c}}
  infrastructure: {templateRef: {apiVersion: example.com/v1, kind: InfraTemplate, name: i}}
  variables:
  - name: size
    required: true
    schema: {openAPIV3Schema: {type: integer, default: 3, x-kubernetes-validations: [{rule: self > 0}]}}`, map[string]any{
			"spec.variables.0.schema.openAPIV3Schema.x-kubernetes-validations.0.reason": "FieldValueInvalid",
			// of any type: preserved
			"spec.variables.0.schema.openAPIV3Schema.default": int64(3),
		}},
	} {
		u := object(t, x.object)
		t.Run(x.project+" "+u.GetKind(), func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			made, err := install(t, named(t, x.project), u.GetKind()).create(t.Context(), u,
				metav1.CreateOptions{FieldValidation: "Strict"})
			is.NoErr(err)
			for path, want := range x.want {
				t.Log(path)
				is.Equal(at(made, path), want) // the default of the path in the log
			}
		})
	}
}

// Fields that a CRD does not have are dropped with a warning. Below x-kubernetes-preserve-unknown-fields they are kept.
func TestPruning(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		project, object string
		gone            []string
		kept            map[string]any
	}{
		{"gateway-api", `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web}
spec:
  hostname: a.example.com
  rules: [{backendRefs: [{name: svc, port: 80, wieght: 3}]}]`,
			[]string{"spec.hostname", "spec.rules.0.backendRefs.0.wieght"},
			map[string]any{"spec.rules.0.backendRefs.0.weight": int64(1)}}, // so the route is not what its author meant
		{"cert-manager", `
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {name: dns}
spec:
  acme:
    server: https://acme.example.com
    unknown: {a: 1}
    privateKeySecretRef: {name: key}
    solvers: [{dns01: {webhook: {groupName: g.example.com, solverName: s, config: {any: {depth: [1, {x: z}]}}}}}]`,
			[]string{"spec.acme.unknown"},
			map[string]any{"spec.acme.solvers.0.dns01.webhook.config.any.depth.1.x": "z"}}, // the solver's own business
		{"argo-workflows", `
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata: {name: w}
spec:
  entrypoint: main
  color: red
  templates:
  - name: main
    plugin: {hello: {deep: true}}
    steps: [[{name: s, template: main, withItems: [1, two, {three: 3}]}]]`,
			[]string{"spec.color"},
			map[string]any{"spec.templates.0.plugin.hello.deep": true,
				"spec.templates.0.steps.0.0.withItems.2.three": int64(3)}},
	} {
		u := object(t, x.object)
		t.Run(x.project, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			c := install(t, named(t, x.project), u.GetKind())
			_, err := c.create(t.Context(), u, metav1.CreateOptions{FieldValidation: "Strict"})
			for _, path := range x.gone {
				field := path[strings.LastIndex(path, ".")+1:]
				// a strict request is refused, and names each field
				is.True(err != nil && strings.Contains(err.Error(), field))
			}
			made, err := c.create(t.Context(), u, metav1.CreateOptions{FieldValidation: "Ignore"})
			is.NoErr(err)
			for _, path := range x.gone {
				is.Equal(at(made, path), nil) // dropped
			}
			for path, want := range x.kept {
				is.Equal(at(made, path), want) // kept
			}
		})
	}
}
