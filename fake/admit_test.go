package fake_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

const admittedMaps = "/api/v1/namespaces/default/configmaps"

// webhook stores a configuration with one webhook for ConfigMaps. kind is "Mutating" or "Validating"; more is JSON to
// add to the webhook, which ends with a comma, or "".
func (c client) webhook(kind, name, more string) {
	c.t.Helper()
	path := "/apis/admissionregistration.k8s.io/v1/" + strings.ToLower(kind) + "webhookconfigurations"
	code, body := c.do("POST", path, `{"metadata":{"name":"`+name+`"},"webhooks":[{"name":"`+name+`.example.com","admissionReviewVersions":["v1"],
		"sideEffects":"None","clientConfig":{"url":"https://hooks.example.com/`+name+`"},`+more+
		`"rules":[{"operations":["CREATE","UPDATE","DELETE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]}]}`)
	if code != http.StatusCreated {
		c.t.Fatalf("%d %s", code, body)
	}
}

func patchResponse(review fake.AdmissionReview, patch string) fake.AdmissionReview {
	review["response"] = map[string]any{"allowed": true, "patchType": "JSONPatch", "patch": base64.StdEncoding.EncodeToString([]byte(patch))}
	return review
}

func TestAdmitRefuses(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	c.webhook("Validating", "check", "")
	var seen object.Object
	c.srv.Admit("check.example.com", func(review fake.AdmissionReview) fake.AdmissionReview {
		seen = review
		is := is.NewRelaxed(t)
		code, _ := c.do("GET", "/api/v1/namespaces/default", "") // a handler may send requests to the server
		is.Equal(code, http.StatusOK)
		review["response"] = map[string]any{"allowed": false, "warnings": []any{"careful"},
			"status": map[string]any{"code": int64(418), "reason": "Teapot", "message": "not today"}}
		return review
	})
	code, header, body := c.exchange("POST", admittedMaps, `{"metadata":{"name":"a"},"data":{"k":"v"}}`)
	is.Equal(code, 418)                                                                                              // the webhook's code
	is.Equal(c.parse(body).String("message"), `admission webhook "check.example.com" denied the request: not today`) // with the webhook's name
	is.Equal(c.parse(body).String("reason"), "Teapot")
	is.Equal(header.Get("Warning"), `299 - "careful"`)
	is.Equal(seen.String("request", "object", "data", "k"), "v")
	is.Equal(seen.String("request", "operation"), "CREATE")
	is.Equal(seen.String("request", "userInfo", "username"), "kubernetes-admin")
	is.Equal(seen.String("request", "requestResource", "resource"), "configmaps")
	is.True(seen.String("request", "uid") != "")
	c.srv.Admit("check.example.com", nil)
	code, body = c.do("POST", admittedMaps, `{"metadata":{"name":"a"}}`)
	is.Equal(code, http.StatusInternalServerError) // no function is registered, and failurePolicy is Fail
	is.True(strings.HasPrefix(c.parse(body).String("message"), `Internal error occurred: failed calling webhook "check.example.com": failed to call webhook: Post "https://hooks.example.com/check?timeout=10s": `))
}

func TestAdmitMutates(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	c.webhook("Mutating", "a", `"reinvocationPolicy":"IfNeeded",`)
	c.webhook("Mutating", "b", "")
	calls := ""
	c.srv.Admit("a.example.com", func(review fake.AdmissionReview) fake.AdmissionReview {
		calls += "a"
		return patchResponse(review, `[{"op":"add","path":"/data","value":{"a":"`+calls+`"}}]`)
	})
	c.srv.Admit("b.example.com", func(review fake.AdmissionReview) fake.AdmissionReview {
		calls += "b"
		return patchResponse(review, `[{"op":"add","path":"/metadata/labels","value":{"b":"yes"}}]`)
	})
	code, body := c.do("POST", admittedMaps, `{"metadata":{"name":"x"}}`)
	is.Equal(code, http.StatusCreated)
	is.Equal(calls, "aba") // b changed the object after a was called: a is called again
	is.Equal(c.parse(body).String("data", "a"), "aba")
	is.Equal(c.parse(body).Labels(), map[string]string{"b": "yes"})
	c.srv.Admit("b.example.com", func(review fake.AdmissionReview) fake.AdmissionReview {
		return patchResponse(review, `[{"op":"remove","path":"/data/none"}]`)
	})
	code, body = c.do("POST", admittedMaps, `{"metadata":{"name":"y"}}`)
	is.Equal(code, http.StatusInternalServerError) // a patch that does not apply
	is.True(strings.Contains(body, "Unable to remove nonexistent key"))
	code, body = c.do("DELETE", admittedMaps+"/x", "")
	is.Equal(code, http.StatusInternalServerError)
	is.True(strings.Contains(body, `attempted to modify the object, which is not supported for this operation`))
}

// TestAdmitChangesNothing checks that a patch truncates the time in the managedFields of the request to seconds, so the
// first patch always changes the object. A later patch that sets an existing value does not.
func TestAdmitChangesNothing(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	c.webhook("Mutating", "a", `"reinvocationPolicy":"IfNeeded",`)
	c.webhook("Mutating", "b", "")
	c.webhook("Mutating", "c", `"reinvocationPolicy":"IfNeeded",`)
	c.webhook("Mutating", "d", "")
	calls := ""
	again := func(review fake.AdmissionReview) fake.AdmissionReview {
		calls += "b"
		return patchResponse(review, `[{"op":"add","path":"/kind","value":"ConfigMap"}]`)
	}
	c.srv.Admit("c.example.com", func(review fake.AdmissionReview) fake.AdmissionReview {
		calls += "c"
		review["response"] = map[string]any{"allowed": true}
		return review
	})
	c.srv.Admit("d.example.com", again)
	c.srv.Admit("a.example.com", func(review fake.AdmissionReview) fake.AdmissionReview {
		calls += "a"
		review["response"] = map[string]any{"allowed": true}
		return review
	})
	c.srv.Admit("b.example.com", again)
	code, _ := c.do("POST", admittedMaps, `{"metadata":{"name":"x"},"data":{"k":"v"}}`)
	is.Equal(code, http.StatusCreated)
	is.Equal(calls, "abcba") // a is called again, c is not
}

func TestAdmitDryRun(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	c.webhook("Validating", "quiet", "")
	asked := false
	c.srv.Admit("quiet.example.com", func(review fake.AdmissionReview) fake.AdmissionReview {
		asked, _ = object.Object(review).Bool("request", "dryRun")
		review["response"] = map[string]any{"allowed": true}
		return review
	})
	code, _ := c.do("POST", admittedMaps+"?dryRun=All", `{"metadata":{"name":"x"}}`)
	is.Equal(code, http.StatusCreated)
	is.True(asked) // it knows about the dry run
}

// through is a transport that calls a function.
type through func(*http.Request) (*http.Response, error)

func (f through) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAdmitThrough(t *testing.T) {
	tests := []struct {
		answer func(uid string) (int, string, error)
		want   string
	}{
		{func(uid string) (int, string, error) {
			return 200, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"` + uid + `","allowed":true}}`, nil
		}, ""},
		{func(string) (int, string, error) { return 0, "", errors.New("connection refused") },
			`failed to call webhook: Post "https://hooks.example.com/far?timeout=10s": connection refused`},
		{func(string) (int, string, error) { return 500, "boom", nil }, `failed to call webhook: an error on the server ("boom") has prevented the request from succeeding`},
		{func(string) (int, string, error) { return 404, "", nil }, `failed to call webhook: the server could not find the requested resource`},
		{func(uid string) (int, string, error) {
			return 200, `{"response":{"uid":"` + uid + `","allowed":true}}`, nil
		},
			`received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=`},
		{func(string) (int, string, error) {
			return 200, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}`, nil
		},
			`received invalid webhook response: webhook response was absent`},
		{func(uid string) (int, string, error) {
			return 200, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"` + uid + `","allowed":true,"patch":"e30="}}`, nil
		}, `received invalid webhook response: validating webhook may not return response.patch`},
	}
	for _, tt := range tests {
		is := is.New(t)
		c := client{t, fake.RunT(t)}
		c.webhook("Validating", "far", "")
		c.srv.AdmitThrough(through(func(r *http.Request) (*http.Response, error) {
			data, _ := io.ReadAll(r.Body)
			code, body, err := tt.answer(c.parse(string(data)).String("request", "uid"))
			return &http.Response{StatusCode: code, Body: io.NopCloser(bytes.NewReader([]byte(body)))}, err
		}))
		code, body := c.do("POST", admittedMaps, `{"metadata":{"name":"x"}}`)
		if tt.want == "" {
			is.Equal(code, http.StatusCreated)
			continue
		}
		is.Equal(c.parse(body).String("message"), `Internal error occurred: failed calling webhook "far.example.com": `+tt.want)
	}
}

func TestAdmitTimesOut(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	c.webhook("Validating", "slow", `"timeoutSeconds":3,`)
	asked := make(chan struct{})
	c.srv.AdmitThrough(through(func(r *http.Request) (*http.Response, error) {
		close(asked)
		<-r.Context().Done()
		return nil, r.Context().Err()
	}))
	answer := make(chan string)
	go func() {
		_, body := c.do("POST", admittedMaps, `{"metadata":{"name":"x"}}`)
		answer <- body
	}()
	<-asked
	code, _ := c.do("GET", admittedMaps, "")
	is.Equal(code, http.StatusOK) // the server handles other requests in the meantime
	c.srv.Clock.Advance(3 * time.Second)
	is.True(strings.Contains(<-answer, `Post \"https://hooks.example.com/slow?timeout=3s\": context deadline exceeded`)) // the timeout is in the server's time
}

// TestAdmitTogether checks that the timeouts of several validating webhooks run concurrently, and that the response of
// a webhook that is fast enough is used.
func TestAdmitTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		c := client{t, fake.RunT(t, fake.Options{Clock: clock.System{}})}
		c.webhook("Validating", "a", `"timeoutSeconds":10,"failurePolicy":"Ignore",`)
		c.webhook("Validating", "b", `"timeoutSeconds":7,"failurePolicy":"Ignore",`)
		c.webhook("Validating", "c", `"timeoutSeconds":1,`)
		c.srv.AdmitThrough(through(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path != "/c" {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			body, err := io.ReadAll(r.Body)
			is.NoErr(err)
			answer := `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"allowed":true,"warnings":["heard"],"uid":"` +
				c.parse(string(body)).String("request", "uid") + `"}}`
			return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(answer))}, nil
		}))
		begin := time.Now()
		code, header, _ := c.exchange("POST", admittedMaps, `{"metadata":{"name":"x"}}`)
		is.Equal(code, http.StatusCreated) // two failures that are ignored, and a response in time
		is.Equal(header.Get("Warning"), `299 - "heard"`)
		is.Equal(time.Since(begin), 10*time.Second) // the longest timeout, not the sum
	})
}

func TestWriteWhileAWebhookIsAsked(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	c.create("x")
	c.webhook("Validating", "late", "")
	writes := 0
	c.srv.Admit("late.example.com", func(review fake.AdmissionReview) fake.AdmissionReview {
		review["response"] = map[string]any{"allowed": true}
		if writes++; writes == 1 {
			c.exchange("PUT", admittedMaps+"/x", `{"metadata":{"name":"x"},"data":{"other":"1"}}`)
		}
		return review
	})
	request, _ := http.NewRequest("PATCH", c.srv.URL()+admittedMaps+"/x", strings.NewReader(`{"data":{"mine":"1"}}`))
	request.Header.Set("Content-Type", "application/merge-patch+json")
	res, err := c.srv.Transport().RoundTrip(request)
	is.NoErr(err)
	data, _ := io.ReadAll(res.Body)
	is.Equal(c.parse(string(data)).Map("data"), map[string]any{"mine": "1", "other": "1"}) // no change is lost: the patch was retried
}
