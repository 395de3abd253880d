package conformance_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// asked contains the fields of a review on which the responses of webhooks depend.
type asked struct {
	Kind, APIVersion string
	Request          struct {
		UID, Name, Namespace, DesiredAPIVersion string
		Objects                                 []map[string]any
	}
}

func readAsked(body []byte) (a asked) {
	_ = json.Unmarshal(body, &a) // a body that cannot be parsed shows up as a difference between the reviews
	return a
}

// answers maps the last element of a webhook's path to the function that responds.
var answers = map[string]func(w http.ResponseWriter, q *http.Request, a asked){}

func init() {
	for name, response := range responses {
		answers[name] = func(w http.ResponseWriter, _ *http.Request, a asked) { a.respond(w, response) }
	}
	for name, patch := range patches {
		text := `"allowed":true,"patchType":"JSONPatch","patch":"` + base64.StdEncoding.EncodeToString([]byte(patch)) + `"`
		answers["patch-"+name] = func(w http.ResponseWriter, _ *http.Request, a asked) { a.respond(w, text) }
	}
	for name, answer := range bodies {
		answers["body-"+name] = func(w http.ResponseWriter, _ *http.Request, a asked) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, strings.NewReplacer("UID", a.Request.UID, "VERSION", a.APIVersion).Replace(answer))
		}
	}
	for _, code := range []int{201, 204, 206, 300, 302, 307, 400, 401, 403, 404, 405, 406, 409, 415, 418, 422, 429, 500, 501, 502, 503, 504} {
		answers[fmt.Sprint("code-", code)] = func(w http.ResponseWriter, _ *http.Request, _ asked) {
			w.WriteHeader(code)
			if code != 204 {
				fmt.Fprint(w, "some text")
			}
		}
		answers[fmt.Sprint("status-", code)] = func(w http.ResponseWriter, _ *http.Request, _ asked) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			if code != 204 {
				fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"from the webhook","reason":"Teapot"}`)
			}
		}
	}
	answers["redirect"] = func(w http.ResponseWriter, q *http.Request, a asked) {
		if strings.HasSuffix(q.URL.Path, "/again") {
			a.respond(w, `"allowed":true,"warnings":["redirected"]`)
			return
		}
		http.Redirect(w, q, q.URL.Path+"/again", http.StatusTemporaryRedirect)
	}
	answers["typeless"] = func(w http.ResponseWriter, _ *http.Request, a asked) {
		w.Header().Set("Content-Type", "a/b/c;;")
		fmt.Fprint(w, `{}`)
	}
	answers["yaml"] = func(w http.ResponseWriter, _ *http.Request, a asked) {
		w.Header().Set("Content-Type", "application/yaml")
		fmt.Fprintf(w, "kind: AdmissionReview\napiVersion: %s\nresponse:\n  uid: %s\n  allowed: true\n  warnings: [from YAML]\n", a.APIVersion, a.Request.UID)
	}
	answers["huge"] = func(w http.ResponseWriter, _ *http.Request, a asked) {
		a.respond(w, `"allowed":false,"status":{"message":"`+strings.Repeat("x", 5000)+`"}`)
	}
	for name, change := range conversions {
		answers["convert-"+name] = func(w http.ResponseWriter, _ *http.Request, a asked) { a.convert(w, change) }
	}
	for _, version := range []string{"v1", "v2"} { // converts into one version only
		answers["convert-into"+version] = func(w http.ResponseWriter, _ *http.Request, a asked) {
			change := conversions["fails"]
			if strings.HasSuffix(a.Request.DesiredAPIVersion, "/"+version) {
				change = conversions["right"]
			}
			a.convert(w, change)
		}
	}
}

// respond writes a review whose response consists of the uid and the given members.
func (a asked) respond(w http.ResponseWriter, members string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"kind":%q,"apiVersion":%q,"response":{"uid":%q,%s}}`, a.Kind, a.APIVersion, a.Request.UID, members)
}

// responses are the members of AdmissionReview.response that a webhook returns, by the name in its URL. Some are
// invalid.
var responses = map[string]string{
	"allow":             `"allowed":true`,
	"deny":              `"allowed":false`,
	"deny-message":      `"allowed":false,"status":{"message":"not <this> & \"that\""}`,
	"deny-reason":       `"allowed":false,"status":{"reason":"Conflict"}`,
	"deny-code":         `"allowed":false,"status":{"code":418,"message":"teapot"}`,
	"deny-200":          `"allowed":false,"status":{"code":200,"status":"Success","message":"fine"}`,
	"deny-weird":        `"allowed":false,"status":{"status":"Weird","code":422,"reason":"Odd","message":"m"}`,
	"deny-details":      `"allowed":false,"status":{"message":"m","code":403,"reason":"Forbidden","details":{"name":"n","group":"g","kind":"k","uid":"u","retryAfterSeconds":7,"causes":[{"reason":"r","message":"c","field":"f"},{}]}}`,
	"deny-empty":        `"allowed":false,"status":{}`,
	"deny-emptydetails": `"allowed":false,"status":{"details":{},"message":"m"}`,
	"deny-meta":         `"allowed":false,"status":{"metadata":{"resourceVersion":"7","selfLink":"/x","continue":"more-of-it","remainingItemCount":3},"apiVersion":"v9","kind":"Foo","message":"m"}`,
	"deny-unauthorized": `"allowed":false,"status":{"code":401,"message":"m"}`,
	"deny-429":          `"allowed":false,"status":{"code":429,"message":"m","details":{"retryAfterSeconds":3}}`,
	"deny-null":         `"allowed":null,"status":null`,
	"warn":              `"allowed":true,"warnings":["one","two","one",""]`,
	"warn-deny":         `"allowed":false,"warnings":["denied soon"]`,
	"warn-odd":          `"allowed":true,"warnings":["a \"quoted\" \\ back","ünï","line\nbreak"]`,
	"warn-null":         `"allowed":true,"warnings":null`,
	"warn-long":         `"allowed":true,"warnings":["` + strings.Repeat("long ", 60) + `"]`,
	"warn-type":         `"allowed":true,"warnings":"w"`,
	"annotations":       `"allowed":true,"auditAnnotations":{"a":"b","not valid":"c"}`,
	"annotations-type":  `"allowed":true,"auditAnnotations":{"a":1}`,
	"allowed-text":      `"allowed":"true"`,
	"allowed-number":    `"allowed":1`,
	"allowed-twice":     `"allowed":true,"allowed":false`,
	"status-list":       `"allowed":false,"status":[]`,
	"status-code-text":  `"allowed":false,"status":{"code":"400"}`,
	"patch-only":        `"allowed":true,"patch":"W10="`,
	"patch-typeonly":    `"allowed":true,"patchType":"JSONPatch"`,
	"patch-emptytype":   `"allowed":true,"patch":"W10=","patchType":""`,
	"patch-othertype":   `"allowed":true,"patch":"W10=","patchType":"Other"`,
	"patch-otheradd":    `"allowed":true,"patch":"` + base64.StdEncoding.EncodeToString([]byte(`[{"op":"add","path":"/metadata/labels/a","value":"b"}]`)) + `","patchType":"MergePatch"`,
	"patch-nobase64":    `"allowed":true,"patch":"%%%","patchType":"JSONPatch"`,
	"patch-number":      `"allowed":true,"patch":5,"patchType":"JSONPatch"`,
	"patch-null":        `"allowed":true,"patch":null,"patchType":null`,
	"patch-deny":        `"allowed":false,"patch":"W10=","patchType":"JSONPatch"`,
	"unknown":           `"allowed":true,"unknown":{"x":[1]}`,
	"case":              `"Allowed":true,"allowed":false`,
}

// patches are JSON patches of mutating webhooks.
var patches = map[string]string{
	"label":       `[{"op":"add","path":"/metadata/labels/hooked","value":"yes"}]`,
	"label-no":    `[{"op":"replace","path":"/metadata/labels/hooked","value":"replaced"}]`,
	"labels":      `[{"op":"add","path":"/metadata/labels","value":{"only":"this"}}]`,
	"annotation":  `[{"op":"add","path":"/metadata/annotations","value":{"x/y":"<z>"}}]`,
	"badlabel":    `[{"op":"add","path":"/metadata/labels/bad","value":"not valid!"}]`,
	"labeltype":   `[{"op":"add","path":"/metadata/labels/number","value":5}]`,
	"null":        `null`,
	"empty":       `[]`,
	"object":      `{"op":"add"}`,
	"elements":    `[1]`,
	"nulls":       `[null]`,
	"broken":      `[{`,
	"unknownop":   `[{"op":"upsert","path":"/a"}]`,
	"missing":     `[{"op":"remove","path":"/metadata/nothing"}]`,
	"nowhere":     `[{"op":"add","path":"/nothing/here","value":1}]`,
	"test-fails":  `[{"op":"test","path":"/kind","value":"Nothing"}]`,
	"test-holds":  `[{"op":"test","path":"/metadata/nothing","value":null},{"op":"add","path":"/metadata/labels/t","value":"t"}]`,
	"root":        `[{"op":"replace","path":"","value":{"metadata":{"name":"root"}}}]`,
	"root-scalar": `[{"op":"replace","path":"","value":1}]`,
	"kind":        `[{"op":"replace","path":"/kind","value":"Secret"}]`,
	"nokind":      `[{"op":"remove","path":"/kind"}]`,
	"unknownkind": `[{"op":"replace","path":"/kind","value":"Nothing"}]`,
	"version":     `[{"op":"replace","path":"/apiVersion","value":"v9"}]`,
	"noversion":   `[{"op":"remove","path":"/apiVersion"}]`,
	"name":        `[{"op":"add","path":"/metadata/name","value":"renamed"}]`,
	"noname":      `[{"op":"add","path":"/metadata/name","value":""}]`,
	"generate":    `[{"op":"add","path":"/metadata/generateName","value":"generated-"}]`,
	"namespace":   `[{"op":"add","path":"/metadata/namespace","value":"default"}]`,
	"uid":         `[{"op":"add","path":"/metadata/uid","value":"11111111-2222-3333-4444-555555555555"}]`,
	"version-rv":  `[{"op":"add","path":"/metadata/resourceVersion","value":"1"}]`,
	"rv-bad":      `[{"op":"add","path":"/metadata/resourceVersion","value":"x"}]`,
	"generation":  `[{"op":"add","path":"/metadata/generation","value":77}]`,
	"created":     `[{"op":"add","path":"/metadata/creationTimestamp","value":"2001-01-01T00:00:00Z"}]`,
	"badtime":     `[{"op":"add","path":"/metadata/creationTimestamp","value":"yesterday"}]`,
	"deleted":     `[{"op":"add","path":"/metadata/deletionTimestamp","value":"2001-01-01T00:00:00Z"}]`,
	"selflink":    `[{"op":"add","path":"/metadata/selfLink","value":"/self"}]`,
	"owners":      `[{"op":"add","path":"/metadata/ownerReferences","value":[{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"u1"},{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"u1"},{"apiVersion":"v1","kind":"ConfigMap","name":"p","uid":"u1"}]}]`,
	"finalizer":   `[{"op":"add","path":"/metadata/finalizers","value":["example.com/f"]}]`,
	"badfinal":    `[{"op":"add","path":"/metadata/finalizers","value":["unqualified"]}]`,
	"managed":     `[{"op":"add","path":"/metadata/managedFields","value":[]}]`,
	"managed-bad": `[{"op":"add","path":"/metadata/managedFields","value":[{"manager":"m","operation":"Sideways"}]}]`,
	"managed-rm":  `[{"op":"remove","path":"/metadata/managedFields"}]`,
	"field":       `[{"op":"add","path":"/unknownField","value":{"a":1}}]`,
	"metafield":   `[{"op":"add","path":"/metadata/unknown","value":1}]`,
	"metadata":    `[{"op":"remove","path":"/metadata"}]`,
	"spec":        `[{"op":"remove","path":"/spec"}]`,
	"spectype":    `[{"op":"add","path":"/spec","value":"text"}]`,
	"status":      `[{"op":"add","path":"/status","value":{"phase":"Hooked","x":1}}]`,
	"nostatus":    `[{"op":"remove","path":"/status"}]`,
	"data":        `[{"op":"add","path":"/data","value":{"hooked":"eWVz"}}]`,
	"limits":      `[{"op":"add","path":"/spec/containers/0/resources/limits","value":{"cpu":"1500m"}}]`,
	"tlimits":     `[{"op":"add","path":"/spec/template/spec/containers/0/resources/limits","value":{"cpu":"1500m"}}]`,
	"replicas":    `[{"op":"replace","path":"/spec/replicas","value":7}]`,
	"copy":        `[{"op":"copy","from":"/metadata/labels","path":"/metadata/annotations"}]`,
	"move":        `[{"op":"move","from":"/metadata/labels","path":"/metadata/annotations"}]`,
	"twice":       `[{"op":"add","path":"/metadata/labels/a","value":"1"},{"op":"remove","path":"/metadata/labels/a"}]`,
}

// bodies are complete bodies of HTTP responses.
var bodies = map[string]string{
	"empty":     ``,
	"text":      `certainly`,
	"null":      `null`,
	"list":      `[]`,
	"nothing":   `{}`,
	"half":      `{"kind":"AdmissionReview","apiVersion":"VERSION","response":`,
	"noresp":    `{"kind":"AdmissionReview","apiVersion":"VERSION"}`,
	"nullresp":  `{"kind":"AdmissionReview","apiVersion":"VERSION","response":null}`,
	"nokind":    `{"apiVersion":"VERSION","response":{"uid":"UID","allowed":true}}`,
	"noversion": `{"kind":"AdmissionReview","response":{"uid":"UID","allowed":true}}`,
	"neither":   `{"response":{"uid":"UID","allowed":true}}`,
	"v1":        `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"UID","allowed":true}}`,
	"v1beta1":   `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","response":{"uid":"UID","allowed":true}}`,
	"v2":        `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v2","response":{"uid":"UID","allowed":true}}`,
	"core":      `{"kind":"AdmissionReview","apiVersion":"v1","response":{"uid":"UID","allowed":true}}`,
	"pod":       `{"kind":"Pod","apiVersion":"v1"}`,
	"other":     `{"kind":"Other","apiVersion":"VERSION","response":{"uid":"UID","allowed":true}}`,
	"status":    `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"sorry","code":400}`,
	"success":   `{"kind":"Status","apiVersion":"v1","status":"Success"}`,
	"options":   `{"kind":"DeleteOptions","apiVersion":"VERSION"}`,
	"uid":       `{"kind":"AdmissionReview","apiVersion":"VERSION","response":{"uid":"other","allowed":true}}`,
	"nouid":     `{"kind":"AdmissionReview","apiVersion":"VERSION","response":{"allowed":true}}`,
	"echo":      `{"kind":"AdmissionReview","apiVersion":"VERSION","request":{"uid":"UID","object":{"a":1},"dryRun":"no"},"response":{"uid":"UID","allowed":true}}`,
	"trailing":  `{"kind":"AdmissionReview","apiVersion":"VERSION","response":{"uid":"UID","allowed":true}} x`,
	"twokinds":  `{"kind":"Other","kind":"AdmissionReview","apiVersion":"VERSION","response":{"uid":"UID","allowed":true}}`,
	"resptext":  `{"kind":"AdmissionReview","apiVersion":"VERSION","response":"yes"}`,
	"kindlist":  `{"kind":["AdmissionReview"],"apiVersion":"VERSION"}`,
	"badgroup":  `{"kind":"AdmissionReview","apiVersion":"a/b/c","response":{"uid":"UID","allowed":true}}`,
}

// conversions change the converted objects of a ConversionReview, or its response, before the webhook sends them.
var conversions = map[string]func(objects []any, response map[string]any){
	"right": func([]any, map[string]any) {},
	"fails": func(_ []any, r map[string]any) {
		r["result"] = map[string]any{"status": "Failure", "message": "no way"}
	},
	"silent":  func(_ []any, r map[string]any) { r["result"] = map[string]any{"status": "Failure"} },
	"none":    func(_ []any, r map[string]any) { r["convertedObjects"] = []any{} },
	"uid":     func(_ []any, r map[string]any) { r["uid"] = "other" },
	"type":    func(_ []any, r map[string]any) { r["result"] = "fine" },
	"version": func(objects []any, _ map[string]any) { setAll(objects, "apiVersion", "other/v1") },
	"kind":    func(objects []any, _ map[string]any) { setAll(objects, "kind", "Other") },
	"spec": func(objects []any, _ map[string]any) {
		setAll(objects, "spec", map[string]any{"size": 3, "extra": true})
	},
	"rename": func(objects []any, _ map[string]any) {
		for _, o := range objects {
			o.(map[string]any)["metadata"].(map[string]any)["name"] = "other"
		}
	},
}

func setAll(objects []any, key string, value any) {
	for _, o := range objects {
		o.(map[string]any)[key] = value
	}
}

func (a asked) convert(w http.ResponseWriter, change func([]any, map[string]any)) {
	objects := make([]any, len(a.Request.Objects))
	for i, o := range a.Request.Objects {
		o["apiVersion"] = a.Request.DesiredAPIVersion
		objects[i] = o
	}
	response := map[string]any{"uid": a.Request.UID, "convertedObjects": objects, "result": map[string]any{"status": "Success"}}
	change(objects, response)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": a.Kind, "apiVersion": a.APIVersion, "response": response}) // the connection may be gone
}
