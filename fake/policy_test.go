package fake_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

const registration = "/apis/admissionregistration.k8s.io/v1/"

// policy stores a policy of a kind and a binding with the same name.
func (c client) policy(kind, name, spec, binding string) {
	c.t.Helper()
	for path, body := range map[string]string{
		kind + "admissionpolicies":       `{"metadata":{"name":"` + name + `"},"spec":{` + spec + `}}`,
		kind + "admissionpolicybindings": `{"metadata":{"name":"` + name + `"},"spec":{"policyName":"` + name + `"` + binding + `}}`,
	} {
		if code, text := c.do("POST", registration+path, body); code != http.StatusCreated {
			c.t.Fatalf("%d %s", code, text)
		}
	}
}

const onConfigMaps = `"matchConstraints":{"resourceRules":[{"operations":["CREATE","UPDATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]},`

func TestValidatingPolicy(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	c.policy("validating", "p", onConfigMaps+`"matchConditions":[{"name":"m","expression":"object.metadata.name != 'free'"}],
		"variables":[{"name":"n","expression":"has(object.data) ? object.data.size() : 0"}],
		"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},
		"validations":[{"expression":"variables.n <= int(params.data.max)","messageExpression":"'more than ' + params.data.max","reason":"Forbidden"}]`,
		`,"validationActions":["Deny"],"paramRef":{"selector":{"matchLabels":{"limits":"yes"}},"namespace":"kube-system","parameterNotFoundAction":"Allow"}`)
	try := func(name string) (int, string) {
		return c.do("POST", admittedMaps, `{"metadata":{"name":"`+name+`"},"data":{"a":"1","b":"2"}}`)
	}
	code, _ := try("a")
	is.Equal(code, http.StatusCreated) // there are no parameters, and that is allowed
	c.do("POST", "/api/v1/namespaces/kube-system/configmaps", `{"metadata":{"name":"free","labels":{"limits":"yes"}},"data":{"max":"1"}}`)
	code, body := try("b")
	is.Equal(code, http.StatusForbidden)
	is.Equal(c.parse(body).String("message"), `configmaps "b" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: more than 1`)
	code, _ = try("free")
	is.Equal(code, http.StatusCreated) // its match condition is false
}

func TestValidatingPolicyOfAnotherVersion(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	c.policy("validating", "p", `"matchConstraints":{"resourceRules":[{"operations":["CREATE"],"apiGroups":["autoscaling"],"apiVersions":["v1"],"resources":["horizontalpodautoscalers"]}]},
		"validations":[{"expression":"object.apiVersion == 'autoscaling/v1' && request.requestKind.version == 'v2' && object.spec.targetCPUUtilizationPercentage < 50","message":"too busy"}]`,
		`,"validationActions":["Deny"]`)
	code, body := c.do("POST", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", `{"metadata":{"name":"h"},"spec":{"maxReplicas":3,
		"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"},"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]}}`)
	is.Equal(code, http.StatusUnprocessableEntity)
	is.True(strings.Contains(body, "denied request: too busy")) // the expression saw the object in the older version
}

func TestMutatingPolicyApplies(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	c.policy("mutating", "a", onConfigMaps+`"reinvocationPolicy":"IfNeeded","failurePolicy":"Fail","mutations":[{"patchType":"ApplyConfiguration",
		"applyConfiguration":{"expression":"Object{metadata: Object.metadata{labels: has(object.metadata.labels) && 'b' in object.metadata.labels ? {'saw': 'b'} : {'saw': 'nothing'}}}"}}]`, "")
	c.policy("mutating", "b", onConfigMaps+`"reinvocationPolicy":"Never","failurePolicy":"Fail","mutations":[{"patchType":"JSONPatch",
		"jsonPatch":{"expression":"[JSONPatch{op: 'add', path: '/metadata/labels/b', value: 'yes'}]"}}]`, "")
	code, body := c.do("POST", admittedMaps, `{"metadata":{"name":"x","labels":{"own":"1"}}}`)
	is.Equal(code, http.StatusCreated)
	is.Equal(c.parse(body).Labels(), map[string]string{"own": "1", "saw": "b", "b": "yes"}) // a ran again after b
	c.policy("mutating", "c", onConfigMaps+`"reinvocationPolicy":"Never","failurePolicy":"Fail","mutations":[{"patchType":"ApplyConfiguration",
		"applyConfiguration":{"expression":"Object{nope: 1}"}}]`, "")
	code, body = c.do("POST", admittedMaps, `{"metadata":{"name":"y","labels":{"own":"1"}}}`)
	is.Equal(code, http.StatusForbidden)
	is.True(strings.HasPrefix(c.parse(body).String("message"), `policy 'c' with binding 'c' denied request: error applying patch: failed to convert patch object to typed object: `))
}

func TestWebhookMatchConditions(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	c.webhook("Validating", "some", `"matchConditions":[{"name":"m","expression":"object.data.check == 'yes'"}],`)
	asked := 0
	c.srv.Admit("some.example.com", func(review fake.AdmissionReview) fake.AdmissionReview {
		asked++
		review["response"] = map[string]any{"allowed": true}
		return review
	})
	try := func(data string) (int, string) {
		return c.do("POST", admittedMaps, `{"metadata":{"generateName":"x"},"data":{`+data+`}}`)
	}
	_, _ = try(`"check":"no"`)
	is.Equal(asked, 0) // the policy does not apply to this request
	_, _ = try(`"check":"yes"`)
	is.Equal(asked, 1)
	code, body := try(`"other":"1"`)
	is.Equal(code, http.StatusForbidden) // the condition cannot be evaluated
	is.True(strings.Contains(body, `expression 'object.data.check == 'yes'' resulted in error: no such key: check`))
}

// TestQuotaWaitsForItsController checks that a quota takes effect when its controller has filled in its status. The
// controller also subtracts deleted objects.
func TestQuotaWaitsForItsController(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	const quota = "/api/v1/namespaces/default/resourcequotas/q"
	c.do("POST", "/api/v1/namespaces/default/resourcequotas", `{"metadata":{"name":"q"},"spec":{"hard":{"count/configmaps":"2"}}}`)
	c.create("a")
	used := func() string {
		_, body := c.do("GET", quota, "")
		return c.parse(body).String("status", "used", "count/configmaps")
	}
	is.Equal(used(), "") // no controller has counted yet
	code, _ := c.do("PUT", quota+"/status", `{"metadata":{"name":"q"},"status":{"hard":{"count/configmaps":"2"},"used":{"count/configmaps":"1"}}}`)
	is.Equal(code, http.StatusOK)
	c.create("b")
	is.Equal(used(), "2") // admission continues to count
	code, body := c.do("POST", admittedMaps, `{"metadata":{"name":"c"}}`)
	is.Equal(code, http.StatusForbidden)
	is.True(strings.Contains(body, `exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=2, limited: count/configmaps=2`))
	c.do("DELETE", admittedMaps+"/a", "")
	is.Equal(used(), "2")
}

func TestExpressionsAreCompiledWhenWritten(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	code, body := c.do("POST", registration+"validatingadmissionpolicies", `{"metadata":{"name":"p"},"spec":{`+onConfigMaps+`"validations":[{"expression":"object.x + nope > 1"}]}}`)
	is.Equal(code, http.StatusUnprocessableEntity)
	is.Equal(c.parse(body).String("message"), `ValidatingAdmissionPolicy.admissionregistration.k8s.io "p" is invalid: spec.validations[0].expression: Invalid value: "object.x + nope > 1": `+
		"compilation failed: ERROR: <input>:1:12: undeclared reference to 'nope' (in container '')\n | object.x + nope > 1\n | ...........^")
}
