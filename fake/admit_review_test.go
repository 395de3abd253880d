package fake_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

// hooked stores a configuration with one webhook for a resource of a group.
func (c client) hooked(kind, group, resource string) {
	c.t.Helper()
	path := "/apis/admissionregistration.k8s.io/v1/" + strings.ToLower(kind) + "webhookconfigurations"
	code, body := c.do("POST", path, fmt.Sprintf(`{"metadata":{"name":"hooked-%s"},"webhooks":[{"name":"%[1]s.example.com","admissionReviewVersions":["v1"],
		"sideEffects":"None","clientConfig":{"url":"https://hooks.example.com/%[1]s"},
		"rules":[{"operations":["*"],"apiGroups":[%q],"apiVersions":["*"],"resources":[%q]}]}]}`, strings.ToLower(kind), group, resource))
	if code != http.StatusCreated {
		c.t.Fatalf("%d %s", code, body)
	}
}

// TestReviewAsPrinted checks that a review is printed in the way encoding/json prints the real server's struct: the
// fields are in the order of the struct, and fields without omitempty are always present.
func TestReviewAsPrinted(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t, fake.Options{NoControllers: true})}
	var got string
	c.srv.AdmitThrough(roundTripper(func(q *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return nil, err
		}
		got = regexp.MustCompile(`[0-9a-f]{8}-[-0-9a-f]{27}|\d{4}-\d\d-\d\dT[0-9:]+Z`).ReplaceAllString(string(body), "X")
		review, err := object.Parse(body)
		answer := `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"allowed":true,"uid":"` + review.String("request", "uid") + `"}}`
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer))}, err
	}))
	c.hooked("Validating", "", "services")
	code, body := c.do("POST", "/api/v1/namespaces/default/services?dryRun=All&fieldManager=me&fieldValidation=Strict",
		`{"metadata":{"name":"s"},"spec":{"clusterIP":"None","selector":{"a":"b"},"externalName":"<e>"}}`)
	is.Equal(code, http.StatusCreated)
	is.True(strings.Contains(body, `"name":"s"`))
	managed := `"managedFields":[{"manager":"me","operation":"Update","apiVersion":"v1","time":"X","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:clusterIP":{},` +
		`"f:externalName":{},"f:internalTrafficPolicy":{},"f:selector":{},"f:sessionAffinity":{},"f:type":{}}}}]`
	is.Equal(got, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"X","kind":{"group":"","version":"v1","kind":"Service"},`+
		`"resource":{"group":"","version":"v1","resource":"services"},"requestKind":{"group":"","version":"v1","kind":"Service"},`+
		`"requestResource":{"group":"","version":"v1","resource":"services"},"name":"s","namespace":"default","operation":"CREATE",`+
		`"userInfo":{"username":"kubernetes-admin","groups":["system:masters","system:authenticated"]},`+
		`"object":{"kind":"Service","apiVersion":"v1","metadata":{"name":"s","namespace":"default","uid":"X","creationTimestamp":"X",`+managed+`},`+
		`"spec":{"selector":{"a":"b"},"clusterIP":"None","clusterIPs":["None"],"type":"ClusterIP","sessionAffinity":"None","externalName":"\u003ce\u003e",`+
		`"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack","internalTrafficPolicy":"Cluster"},"status":{"loadBalancer":{}}},`+
		`"oldObject":null,"dryRun":true,"options":{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1","dryRun":["All"],"fieldManager":"me","fieldValidation":"Strict"}}}`+"\n")
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(q *http.Request) (*http.Response, error) { return f(q) }

// TestAdmitPatches checks that a webhook's patch can refer to fields that the client did not send but that Go always
// marshals, and that the server rejects or corrects patches that make an object invalid, such as a change of its kind.
func TestAdmitPatches(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t, fake.Options{NoControllers: true})}
	c.hooked("Mutating", "", "*")
	patch := ""
	c.srv.Admit("mutating.example.com", func(review fake.AdmissionReview) fake.AdmissionReview { return patchResponse(review, patch) })
	post := func(resource, body, with string) (code int, warning string, answer object.Object) {
		patch = with
		code, header, text := c.exchange("POST", "/api/v1/namespaces/default/"+resource+"?dryRun=All", body)
		return code, header.Get("Warning"), c.parse(text)
	}
	code, _, pod := post("pods", `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`,
		`[{"op":"add","path":"/spec/containers/0/resources/limits","value":{"cpu":"1"}},{"op":"replace","path":"/metadata/clusterName","value":"x"}]`)
	is.Equal(code, http.StatusCreated) // a missing key can be replaced, and an unknown field is dropped
	is.Equal(pod.Objects("spec", "containers")[0].String("resources", "limits", "cpu"), "1")
	code, _, refused := post("configmaps", `{"metadata":{"name":"a"}}`, `[{"op":"add","path":"/metadata/namespace","value":"other"}]`)
	is.Equal(code, http.StatusBadRequest)
	is.Equal(refused.String("message"), "the namespace of the provided object does not match the namespace sent on the request")
	_, warning, owned := post("configmaps", `{"metadata":{"name":"a"}}`, `[{"op":"add","path":"/metadata/ownerReferences","value":[
		{"apiVersion":"v1","kind":"Pod","name":"o","uid":"u"},{"apiVersion":"v1","kind":"Pod","name":"o","uid":"u"}]}]`)
	is.Equal(len(owned.Objects("metadata", "ownerReferences")), 1)
	is.True(strings.Contains(warning, "duplicate entries after mutating admission happens"))
	code, _, refused = post("configmaps", `{"metadata":{"name":"a"}}`, `[{"op":"replace","path":"/kind","value":"Secret"}]`)
	is.Equal(code, http.StatusInternalServerError)
	is.Equal(refused.String("message"), "converting (v1.Secret) to (core.ConfigMap): unknown conversion")
	code, _, _ = post("configmaps", `{"metadata":{"name":"a"}}`, `null`)
	is.Equal(code, http.StatusCreated) // no operations
}

// TestAdmitReviews checks that webhooks are called for authorization reviews, as up to 1.36, and that a denial without
// a message gets the default one.
func TestAdmitReviews(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t, fake.Options{NoControllers: true})}
	c.hooked("Validating", "authorization.k8s.io", "*")
	c.srv.Admit("validating.example.com", func(review fake.AdmissionReview) fake.AdmissionReview {
		review["response"] = map[string]any{"allowed": false, "warnings": []any{""}}
		return review
	})
	code, header, body := c.exchange("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", `{"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}`)
	is.Equal(code, http.StatusBadRequest)
	is.Equal(c.parse(body).String("message"), `admission webhook "validating.example.com" denied the request without explanation`)
	is.Equal(header.Get("Warning"), "") // an empty warning is not sent
}

// TestAdmitDeletions checks that a deletion calls webhooks for each of its steps, with the options of that step.
func TestAdmitDeletions(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t, fake.Options{NoControllers: true})}
	c.hooked("Validating", "", "*")
	var asked []string
	c.srv.Admit("validating.example.com", func(review fake.AdmissionReview) fake.AdmissionReview {
		request := object.Object(review).At("request")
		if request.String("operation") == "DELETE" {
			grace, _ := request.Get("options", "gracePeriodSeconds")
			marked := request.At("oldObject").DeletionTimestamp() != ""
			asked = append(asked, fmt.Sprint(request.String("options", "kind"), " ", grace, " ", marked))
		}
		review["response"] = map[string]any{"allowed": true}
		return review
	})
	remove := func(path, options string, want ...string) {
		t.Helper()
		asked = nil
		code, body := c.do("DELETE", "/api/v1/"+path, options)
		is.True(code < 300) // deleted or marked as deleted
		is.True(body != "")
		is.Equal(asked, want)
	}
	make := func(path, body string) {
		t.Helper()
		code, _ := c.do("POST", "/api/v1/"+path, body)
		is.Equal(code, http.StatusCreated)
	}
	make("namespaces/default/pods", `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	remove("namespaces/default/pods/p", ``, "DeleteOptions 0 false", "DeleteOptions 0 true") // no node runs the pod: it is marked, then removed
	make("namespaces/default/pods", `{"metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}`)
	remove("namespaces/default/pods/p", ``, "DeleteOptions 30 false")
	remove("namespaces/default/pods/p", ``) // the deletion is already in progress
	make("namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
	remove("namespaces/default/configmaps/a", `{"gracePeriodSeconds":-3}`, "DeleteOptions 1 false")
}
