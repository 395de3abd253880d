package fake_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/fault"
)

// TestFaultsThatAnswer checks that a fault can respond with any error and any object, like a reactor of client-go's
// fake.
func TestFaultsThatAnswer(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	_, srv, c := watched(t)
	srv.Faults.Add(
		fault.On("get", "configmaps").Name("teapot").Error(418, "Teapot", "short and stout"),
		fault.On("create", "configmaps").Times(1).Error(507, "OutOfSpace", "the disk is full").RetryAfter(7),
		fault.On("get", "configmaps").Name("ghost").Answer(map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]any{"name": "ghost"}}),
		fault.On("create", "secrets").Answer(map[string]any{"kind": "Secret", "apiVersion": "v1", "metadata": map[string]any{"name": "s"}}),
	)
	code, text := c.do("GET", mapsPath+"/teapot", "")
	is.Equal(code, 418)
	is.Equal(text, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"short and stout","reason":"Teapot",`+
		`"details":{"name":"teapot","kind":"configmaps"},"code":418}`+"\n")
	res, err := c.request(t.Context(), "POST", mapsPath, "application/json", "", `{"metadata":{"name":"a"}}`)
	is.NoErr(err)
	is.Equal(res.StatusCode, 507)
	is.Equal(res.Header.Get("Retry-After"), "7")
	code, _ = c.do("GET", mapsPath+"/a", "") // nothing was done
	is.Equal(code, http.StatusNotFound)
	for _, accept := range []string{"", "application/json", "application/vnd.kubernetes.protobuf, application/json"} {
		code, header, text := c.ask("GET", mapsPath+"/ghost", "", accept, "")
		is.Equal(code, 200)
		is.Equal(header.Get("Content-Type"), "application/json")
		is.Equal(c.parse(text).Name(), "ghost")
	}
	code, text = c.do("POST", secretsPath, `{"metadata":{"name":"other"}}`)
	is.Equal(code, http.StatusCreated)
	is.Equal(c.parse(text).Name(), "s")
	_, text = c.do("GET", secretsPath, "")
	is.Equal(len(c.parse(text).List("items")), 0) // the object need not exist
	is.Equal(srv.Actions("")[0].Message, "short and stout")

	srv.Faults.Add(fault.On("list", "pods").Error(429, "TooManyRequests", "not yet").RetryAfter(5), fault.On("list", "secrets").TooManyRequests())
	code, header, text := c.ask("GET", podsPath, "", "", "")
	is.Equal(code, 429)
	is.Equal(header.Get("Retry-After"), "5")
	is.Equal(c.parse(text).String("message"), "not yet") // for a 429 of the resource itself, such as that of an eviction
	_, text = c.do("GET", secretsPath, "")
	is.Equal(text, "Too many requests, please try again later.\n") // for a 429 of an overloaded server

	for _, f := range []fault.Fault{
		fault.On("get", "*").Error(200, "OK", ""), fault.On("get", "*").Error(500, "", ""), fault.On("get", "*").Answer("text"),
		fault.On("get", "*").Answer(map[string]string{"kind": "Pod"}), fault.On("watch", "*").Answer(map[string]string{"kind": "Pod", "apiVersion": "v1"}),
		fault.On("get", "*").Answer(func() {}), fault.On("get", "*").At(fault.RequestAnswered).Error(500, "x", ""),
	} {
		if err := srv.Faults.AddText(f.String()); err == nil || !strings.HasPrefix(err.Error(), "kubesim: fault: line 1:") {
			t.Errorf("%s: %v", f, err)
		}
	}
}
