package fake_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/apiserver"
)

// FuzzExpressions uses an expression in every field in which a server accepts one, and writes objects for which it is
// evaluated. No request may panic, except because of the one bug of cel-go that also occurs on a real server.
func FuzzExpressions(f *testing.F) {
	for _, expression := range []string{
		"true", "object.metadata.name == 'a'", "int('x') == 1", "{'a': 1}['b'] == 1", "[1][2] == 1", "dyn(object) == 1",
		"Object{metadata: Object.metadata{labels: {'a': string(object.metadata.name)}}}", "Object{?data: object.?data}", "Object{spec: Object.wrong{}}",
		"[JSONPatch{op: 'add', path: '/data', value: {'a': 'b'}}]", "[JSONPatch{op: 'copy', from: '/x', path: '/' + jsonpatch.escapeKey('~/')}]",
		"[JSONPatch{op: 'replace', path: '', value: dyn(null)}, JSONPatch{op: 'remove', path: '/kind'}]",
		"[JSONPatch{op: 'add', path: '/metadata/annotations', value: {?'k': object.metadata.annotations[?'src']}}]", "[?object.x].size() == 1",
		"{?'k': optional.of(1)}.k == 1", "variables.x.y", "self.spec.n > oldSelf.spec.n", "self.spec.all(k, self.spec[k] == self.spec[k])",
		"device.attributes['a'].b == device.driver", "cel.bind(x, device.attributes['a'], x.b && x.c)", "authorizer.serviceAccount('a', 'b').path('/').check('get').allowed()",
		"params == null && request.options.fieldManager == ''", "namespaceObject.metadata.labels.transformMap(k, v, v + k).size() > 0",
		"'%s'.format([object])", "quantity('1').add(quantity('x')).isGreaterThan(quantity('2'))", "ip('::1').family() == 6", "has(object.data) ? object.data : {}",
		"sets.intersects([1], [dyn('a')])", "object.data.map(k, [k, k]).flatten()", "optional.none().orValue(1) == 1u", "timestamp('2020-01-01T00:00:00Z') + duration('1h')", "a.b.C{d: 1}",
	} {
		f.Add(expression)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		if len(expression) > 1<<10 {
			return
		}
		srv := fake.RunT(&logged{TB: t})
		text, _ := json.Marshal(expression)
		for _, q := range expressionRequests {
			method, path, body := q[0], q[1], strings.ReplaceAll(q[2], "EXPRESSION", string(text))
			r, err := http.NewRequest(method, srv.URL()+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			res, err := srv.Transport().RoundTrip(r)
			if brokeCELGo(err) {
				continue
			}
			if err != nil {
				t.Fatalf("%s %s %s: %v", method, path, body, err)
			}
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
	})
}

// brokeCELGo reports whether a request ended with a panic that a known bug of cel-go causes: cel-go looks for the type
// in an optional type, although an optional entry of a list or a map may be of any type. A real server's handler
// panics, too. The fuzzer must find any other panic.
func brokeCELGo(err error) bool {
	var p *apiserver.Panic
	return errors.As(err, &p) && strings.Contains(string(p.Stack), "homogeneousAggregateLiteralValidator")
}

// TestExpressionThatPanics checks that an expression that makes cel-go panic ends only its request: nothing is stored,
// and the server continues.
func TestExpressionThatPanics(t *testing.T) {
	is := is.New(t)
	log := &logged{TB: t}
	c := client{t, fake.RunT(log)}
	before := c.srv.Revision()
	_, err := c.request(t.Context(), "POST", admissionPath+"validatingadmissionpolicies", "application/json", "",
		validatingPolicy("a", `"validations":[{"expression":"{?'k': object.metadata.annotations[?'src']} == {}"}]`))
	is.True(brokeCELGo(err))
	is.True(strings.Contains(log.String(), "homogeneousAggregateLiteralValidator")) // the log has the stack
	is.Equal(c.srv.Revision(), before)
	c.create("a")
}

const admissionPath = "/apis/admissionregistration.k8s.io/v1/"

// expressionRequests are the requests of FuzzExpressions: method, path and body.
var expressionRequests = [][3]string{
	{"POST", "/apis/resource.k8s.io/v1/deviceclasses", `{"metadata":{"name":"a"},"spec":{"selectors":[{"cel":{"expression":EXPRESSION}}]}}`},
	{"POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition("things", "Thing", `"rule":EXPRESSION`)},
	{"POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition("notes", "Note", `"rule":"self.spec.n < 0","messageExpression":EXPRESSION`)},
	{"POST", admissionPath + "validatingadmissionpolicies", validatingPolicy("validations", `"validations":[{"expression":EXPRESSION}]`)},
	{"POST", admissionPath + "validatingadmissionpolicies", validatingPolicy("messages", `"validations":[{"expression":"false","messageExpression":EXPRESSION}]`)},
	{"POST", admissionPath + "validatingadmissionpolicies", validatingPolicy("annotations", `"auditAnnotations":[{"key":"a","valueExpression":EXPRESSION}]`)},
	{"POST", admissionPath + "validatingadmissionpolicies", validatingPolicy("conditions",
		`"matchConditions":[{"name":"a","expression":EXPRESSION}],"validations":[{"expression":"true"}]`)},
	{"POST", admissionPath + "validatingadmissionpolicies", validatingPolicy("variables",
		`"variables":[{"name":"x","expression":EXPRESSION}],"validations":[{"expression":"variables.x == variables.x"}]`)},
	{"POST", admissionPath + "mutatingadmissionpolicies", mutatingPolicy("configurations", `{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":EXPRESSION}}`)},
	{"POST", admissionPath + "mutatingadmissionpolicies", mutatingPolicy("patches", `{"patchType":"JSONPatch","jsonPatch":{"expression":EXPRESSION}}`)},
	{"POST", admissionPath + "validatingadmissionpolicybindings", policyBinding("validations", `,"validationActions":["Warn"]`)},
	{"POST", admissionPath + "validatingadmissionpolicybindings", policyBinding("messages", `,"validationActions":["Warn"]`)},
	{"POST", admissionPath + "validatingadmissionpolicybindings", policyBinding("annotations", `,"validationActions":["Warn"]`)},
	{"POST", admissionPath + "validatingadmissionpolicybindings", policyBinding("conditions", `,"validationActions":["Deny"]`)},
	{"POST", admissionPath + "validatingadmissionpolicybindings", policyBinding("variables", `,"validationActions":["Audit"]`)},
	{"POST", admissionPath + "mutatingadmissionpolicybindings", policyBinding("configurations", "")},
	{"POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a","annotations":{"src":"x"}},"data":{"a":"b"}}`},
	{"POST", admissionPath + "mutatingadmissionpolicybindings", policyBinding("patches", "")},
	{"POST", "/apis/example.com/v1/namespaces/default/things", `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"n":1,"m":[1]}}`},
	{"POST", "/apis/example.com/v1/namespaces/default/notes", `{"apiVersion":"example.com/v1","kind":"Note","metadata":{"name":"a"},"spec":{"n":1}}`},
	{"PUT", "/api/v1/namespaces/default/configmaps/a", `{"metadata":{"name":"a","labels":{"a":"b"}},"data":{"a":"c"}}`},
	{"PUT", "/apis/example.com/v1/namespaces/default/things/a", `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"n":2}}`},
	{"POST", "/api/v1/namespaces/default/pods", `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`},
	{"DELETE", "/api/v1/namespaces/default/configmaps/a", ""},
}

func definition(plural, kind, rule string) string {
	return `{"metadata":{"name":"` + plural + `.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"` + plural +
		`","kind":"` + kind + `"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",` +
		`"x-kubernetes-validations":[{` + rule + `}],"properties":{"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true,` +
		`"properties":{"n":{"type":"integer"}}}}}}}]}}`
}

const everyWrite = `"resourceRules":[{"apiGroups":["","example.com"],"apiVersions":["*"],"operations":["*"],"resources":["*"]}]`

func validatingPolicy(name, spec string) string {
	return `{"metadata":{"name":"` + name + `"},"spec":{"failurePolicy":"Ignore","matchConstraints":{` + everyWrite + `},` + spec + `}}`
}

func mutatingPolicy(name, mutation string) string {
	return `{"metadata":{"name":"` + name + `"},"spec":{"failurePolicy":"Ignore","reinvocationPolicy":"IfNeeded","matchConstraints":{` +
		strings.Replace(everyWrite, `["*"],"resources"`, `["CREATE","UPDATE"],"resources"`, 1) + `},"mutations":[` + mutation + `]}}`
}

func policyBinding(name, spec string) string {
	return `{"metadata":{"name":"` + name + `"},"spec":{"policyName":"` + name + `"` + spec + `}}`
}
