package crds

import (
	"strings"
	"testing"

	"github.com/matryer/is"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The CEL rules of the projects are evaluated. Errors contain their messages and the paths of the objects that they concern.
func TestRules(t *testing.T) {
	t.Parallel()
	clusters := map[string]*cluster{}
	for _, x := range []struct{ name, project, object, want string }{
		{"sizes of two lists", "gateway-api", `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web}
spec:
  rules:
  - matches: [{path: {type: PathPrefix, value: /a}}, {path: {type: PathPrefix, value: /b}}]
    filters: [{type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /}}}]`,
			"spec.rules[0]: Invalid value: When using URLRewrite filter with path.replacePrefixMatch, exactly one PathPrefix match must be specified"},
		{"durations", "gateway-api", `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web}
spec: {rules: [{timeouts: {request: 1s, backendRequest: 2s}}]}`,
			"spec.rules[0].timeouts: Invalid value: backendRequest timeout cannot be longer than request timeout"},
		{"an optional field", "gateway-api", `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web}
spec: {parentRefs: [{name: gw}, {name: gw}]}`,
			"spec.parentRefs: Invalid value: sectionName must be unique when parentRefs includes 2 or more references to the same parent"},
		{"a ternary for each of three fields", "cert-manager", `
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {name: v}
spec: {venafi: {zone: z, tpp: {url: https://a, credentialsRef: {name: c}}, cloud: {apiTokenSecretRef: {name: c, key: k}}}}`,
			"spec.venafi: Invalid value: "},
		{"a mode and a count", "prometheus-operator", `
apiVersion: monitoring.coreos.com/v1alpha1
kind: PrometheusAgent
metadata: {name: a}
spec: {mode: DaemonSet, replicas: 2}`,
			"spec: Invalid value: replicas cannot be set when mode is DaemonSet"},
		{"objects compared with each other", "cluster-api", `
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDrainRule
metadata: {name: r}
spec:
  drain: {behavior: Skip}
  pods: [{selector: {matchLabels: {a: b}}}, {selector: {matchLabels: {c: d}}}, {selector: {matchLabels: {a: b}}}]`,
			"spec.pods: Invalid value: entries in pods must be unique"},
	} {
		u := object(t, x.object)
		kind := x.project + " " + u.GetKind()
		if clusters[kind] == nil {
			clusters[kind] = install(t, named(t, x.project), u.GetKind())
		}
		t.Run(x.name, func(t *testing.T) {
			is := is.New(t)
			_, err := clusters[kind].create(t.Context(), u, metav1.CreateOptions{})
			t.Log(err)
			is.True(apierrors.IsInvalid(err))
			is.True(strings.Contains(err.Error(), x.want)) // the log has what it said
		})
	}
}

// A rule that compares with the old value applies only to updates.
func TestTransitionRule(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := install(t, named(t, "gateway-api"), "GatewayClass")
	class := object(t, `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: c}
spec: {controllerName: example.com/one}`)
	classes, _ := c.objects(t.Context(), class)
	made, err := classes.Create(t.Context(), class, metav1.CreateOptions{})
	is.NoErr(err)
	is.Equal(at(made, "status.conditions.0.reason"), "Pending") // a default of the status

	made.SetLabels(map[string]string{"a": "b"})
	made, err = classes.Update(t.Context(), made, metav1.UpdateOptions{})
	is.NoErr(err)
	is.Equal(made.GetGeneration(), int64(1))
	made.Object["spec"].(map[string]any)["controllerName"] = "example.com/two"
	_, err = classes.Update(t.Context(), made, metav1.UpdateOptions{})
	is.True(apierrors.IsInvalid(err))
	is.True(strings.Contains(err.Error(), `spec.controllerName: Invalid value: "example.com/two": Value is immutable`))
}

// Replacing a definition by itself, as a repeated installation does, changes nothing.
func TestReplaceChangesNothing(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := named(t, "gateway-api")
	c := install(t, p, "Gateway", "GatewayClass")
	for _, d := range definitions(t, p, "Gateway", "GatewayClass") {
		before, err := c.client.Resource(definitionsGVR).Get(t.Context(), d.object.GetName(), metav1.GetOptions{})
		is.NoErr(err)
		d.object.SetResourceVersion(before.GetResourceVersion())
		after, err := c.client.Resource(definitionsGVR).Update(t.Context(), d.object, metav1.UpdateOptions{})
		is.NoErr(err)
		is.Equal(after.GetGeneration(), int64(1))
		is.Equal(after.GetResourceVersion(), before.GetResourceVersion()) // nothing was written
	}
}
