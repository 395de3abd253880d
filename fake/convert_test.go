package fake_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

// converted returns the response to a ConversionReview. It uses frob to convert the first object, and ignores any
// others.
func converted(t *testing.T, review object.Object) object.Object {
	request := object.Object(review.Map("request"))
	in, _ := request.List("objects")[0].(map[string]any)
	out, err := frob(in, request.String("desiredAPIVersion"))
	if err != nil {
		t.Error(err)
	}
	return object.Object{"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "response": map[string]any{
		"uid": request.String("uid"), "result": map[string]any{"status": "Success"}, "convertedObjects": []any{out}}}
}

const frobbersV1, frobbersV2 = "/apis/example.com/v1/namespaces/default/frobbers", "/apis/example.com/v2/namespaces/default/frobbers"

// TestConversionAsks checks that a conversion webhook may send requests to the server that calls it, whatever the verb.
func TestConversionAsks(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, srv := loaded(t)
	asked := 0
	asking := hook{t, func(review object.Object) object.Object {
		asked++
		code, _ := c.do("GET", "/api/v1/namespaces/default", "")
		is.Equal(code, 200) // the server handles requests in the meantime
		code, _ = c.do("GET", frobbersV1+"/a", "")
		is.Equal(code, 200) // also requests for the object itself, as it is stored
		return converted(t, review)
	}}
	srv.ConvertThrough(asking)
	w := c.open(frobbersV2 + "?watch=1")
	defer w.body.Close()
	inches := func() any {
		e, ok := w.next()
		is.True(ok)
		return e.Object["heightInInches"]
	}
	is.Equal(inches(), 24.0) // as created
	is.True(asked > 0)

	code, _ := c.do("POST", frobbersV2, `{"apiVersion":"example.com/v2","kind":"Frobber","metadata":{"name":"b"},"heightInInches":36}`)
	is.Equal(code, 201)
	is.Equal(inches(), 36.0) // as written through v2
	c.mergePatch(frobbersV2+"/b", `{"heightInInches":48}`)
	is.Equal(inches(), 48.0)
	c.mergePatch(frobbersV1+"/b", `{"height":5}`)
	is.Equal(inches(), 60.0) // as written through v1
	code, body := c.do("GET", frobbersV2, "")
	is.Equal(code, 200)
	is.Equal(strings.Count(body, `"kind":"Frobber",`), 2)
	before := asked
	code, _ = c.do("GET", frobbersV2+"/b", "")
	is.Equal(code, 200)
	is.Equal(asked, before+1) // each get calls the webhook
	code, _ = c.do("GET", frobbersV2+"/b?resourceVersion=0", "")
	is.Equal(code, 200)
	code, _ = c.do("GET", frobbersV2, "")
	is.Equal(code, 200)
	is.Equal(asked, before+1) // the watch cache has the object in each version
	code, _ = c.do("DELETE", frobbersV2+"/b", "")
	is.Equal(code, 200)
	e, _ := w.next()
	is.Equal(e.Type, "DELETED")

	srv.ConvertThrough(asking) // this discards the cached conversions
	asked = 0
	list, err := object.Parse([]byte(body))
	is.NoErr(err)
	code, body = c.do("GET", frobbersV2+"?resourceVersionMatch=Exact&resourceVersion="+list.ResourceVersion(), "")
	is.Equal(code, 200)
	is.Equal(strings.Count(body, `"kind":"Frobber",`), 2) // as they were before the deletion
	is.Equal(asked, 2)
}

// TestConversionInAnyForm checks that a webhook may format its objects in any order and with spaces.
func TestConversionInAnyForm(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, srv := loaded(t)
	srv.ConvertThrough(carrier(func(q *http.Request) (*http.Response, error) {
		text, err := io.ReadAll(q.Body)
		if err != nil {
			return nil, err
		}
		review, err := object.Parse(text)
		if err != nil {
			return nil, err
		}
		obj := object.JSON(converted(t, review).List("response", "convertedObjects")[0])
		body := fmt.Sprintf(`{"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "response": {"uid": %q, "result": {"status": "Success"},
			"convertedObjects": [ { "z": "\u003c", %s ]}}`, review.String("request", "uid"), obj[1:])
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
	}))
	code, body := c.do("GET", frobbersV2+"/a", "")
	is.Equal(code, http.StatusOK)
	is.True(strings.Contains(body, `"heightInInches":24`))
}

// TestSlowConversion checks that a webhook that does not respond delays only the requests that need it, for 30 seconds
// of the cluster's time. A write restarts if another write has changed the object in the meantime.
func TestSlowConversion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
		is.NoErr(srv.LoadData([]byte(frobbers)))
		c := client{t, srv}
		var slow atomic.Bool
		wait := make(chan struct{})
		srv.ConvertThrough(carrier(func(q *http.Request) (*http.Response, error) {
			if slow.Load() {
				select {
				case <-wait:
				case <-q.Context().Done():
					return nil, q.Context().Err()
				}
			}
			return hook{t, func(review object.Object) object.Object { return converted(t, review) }}.RoundTrip(q)
		}))

		slow.Store(true)
		patched := make(chan int)
		go func() {
			code, _, _ := c.ask("PATCH", frobbersV2+"/a", "application/merge-patch+json", "application/json", `{"params":["x"]}`)
			patched <- code
		}()
		synctest.Wait()
		go c.mergePatch(frobbersV1+"/a", `{"height":7}`) // this waits for the webhook too, because watches show all versions
		synctest.Wait()
		code, _ := c.do("GET", frobbersV1+"/a", "")
		is.Equal(code, 200) // other requests are served
		close(wait)
		is.Equal(<-patched, 200)
		synctest.Wait()
		_, body := c.do("GET", frobbersV1+"/a", "")
		is.True(strings.Contains(body, `"height":7`) && strings.Contains(body, `"param":"x"`)) // neither write is lost

		c.mergePatch(frobbersV1+"/a", `{"height":8}`)
		srv.ConvertThrough(carrier(func(q *http.Request) (*http.Response, error) {
			<-q.Context().Done()
			return nil, q.Context().Err()
		}))
		begin := time.Now()
		code, body = c.do("GET", frobbersV2+"/a", "")
		is.Equal(code, 500)
		is.True(strings.Contains(body, `failed: Post \"https://frob.default.svc:443/convert?timeout=30s\": context deadline exceeded`))
		is.Equal(time.Since(begin), 30*time.Second) // in the cluster's time
	})
}

// carrier is an http.RoundTripper.
type carrier func(*http.Request) (*http.Response, error)

func (f carrier) RoundTrip(q *http.Request) (*http.Response, error) { return f(q) }

// TestConversionOfUnservedVersion checks that a conversion webhook is not called to fill watch caches with a version
// that is neither served nor stored, and that its failure takes precedence over AlreadyExists.
func TestConversionOfUnservedVersion(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, srv := loaded(t)
	asked, failing := 0, false
	srv.ConvertThrough(hook{t, func(review object.Object) object.Object {
		asked++
		if answer := converted(t, review); !failing {
			return answer
		}
		return object.Object{"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "response": map[string]any{
			"uid": review.String("request", "uid"), "result": map[string]any{"status": "Failure", "message": "not now"}}}
	}})
	b := `{"apiVersion":"example.com/v2","kind":"Frobber","metadata":{"name":"b"},"heightInInches":36}`
	code, _ := c.do("POST", frobbersV2, b)
	is.Equal(code, 201)
	code, _ = c.do("POST", frobbersV2, b)
	is.Equal(code, 409)
	failing = true
	code, body := c.do("POST", frobbersV2, b)
	is.Equal(code, 500)
	is.True(strings.Contains(body, "conversion webhook for example.com/v2, Kind=Frobber failed: not now"))

	failing = false
	code, _, _ = c.ask("PATCH", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/frobbers.example.com", "application/json-patch+json", "",
		`[{"op":"replace","path":"/spec/versions/1/served","value":false}]`)
	is.Equal(code, 200)
	asked = 0
	code, _ = c.do("POST", frobbersV1, `{"apiVersion":"example.com/v1","kind":"Frobber","metadata":{"name":"c"},"height":1}`)
	is.Equal(code, 201)
	is.Equal(asked, 0)
	code, _ = c.do("GET", frobbersV1+"?resourceVersion=0", "")
	is.Equal(code, 200)
	is.Equal(asked, 0)
}

// TestConversionReviews checks that a conversion webhook gets a stored object, and an object that is about to be
// stored, without its resourceVersion. For a dry run and for managedFields it gets the object with its resourceVersion.
// In the latter case the object has the managedFields from before the write.
func TestConversionReviews(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, srv := loaded(t)
	var asked []string
	srv.ConvertThrough(hook{t, func(review object.Object) object.Object {
		request := review.At("request")
		obj := object.Object(request.List("objects")[0].(map[string]any))
		_, versioned := obj.Get("metadata", "resourceVersion")
		asked = append(asked, fmt.Sprint(obj.APIVersion(), " to ", request.String("desiredAPIVersion"), " ", versioned, " ", len(obj.Objects("metadata", "managedFields"))))
		return converted(t, review)
	}})
	reviews := func(write func(), want ...string) {
		t.Helper()
		asked = nil
		write()
		slices.Sort(asked)
		is.Equal(slices.Compact(asked), want)
	}
	reviews(func() {
		code, _ := c.do("POST", frobbersV2+"?fieldManager=one", `{"apiVersion":"example.com/v2","kind":"Frobber","metadata":{"name":"n"},"heightInInches":12}`)
		is.Equal(code, 201)
	}, "example.com/v1 to example.com/v2 false 1", "example.com/v2 to example.com/v1 false 1")
	reviews(func() { c.mergePatch(frobbersV1+"/n?fieldManager=two", `{"height":4}`) },
		"example.com/v1 to example.com/v2 false 1", // for the watch cache
		"example.com/v1 to example.com/v2 true 0",  // the object as written, for the fields of manager one
		"example.com/v1 to example.com/v2 true 1")  // the object as stored, for the same
	reviews(func() { c.mergePatch(frobbersV2+"/n?dryRun=All", `{"heightInInches":24}`) },
		"example.com/v1 to example.com/v2 true 1", // what would have been stored
		"example.com/v2 to example.com/v1 true 0", // the object as written, for the fields of manager two
		"example.com/v2 to example.com/v1 true 1") // the stored object, for the same, and the object that would be stored
}

// TestUnsafeDeletionOfRepaired checks that an unsafe deletion works only for objects that cannot be read. If the object
// is written while the webhook is called, the deletion checks again.
func TestUnsafeDeletionOfRepaired(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Replicas: []fake.ReplicaOptions{{FeatureGates: map[string]bool{"AllowUnsafeMalformedObjectDeletion": true}}}})
	is.NoErr(srv.LoadData([]byte(frobbers)))
	c := client{t, srv}
	broken := true
	srv.ConvertThrough(hook{t, func(review object.Object) object.Object {
		if !broken {
			return converted(t, review)
		}
		broken = false
		c.mergePatch(frobbersV1+"/a", `{"height":9}`)
		return object.Object{"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "response": map[string]any{
			"uid": review.String("request", "uid"), "result": map[string]any{"status": "Failure", "message": "no height"}}}
	}})
	code, body := c.do("DELETE", frobbersV2+"/a", `{"ignoreStoreReadErrorWithClusterBreakingPotential":true}`)
	is.Equal(code, 409)
	is.True(strings.Contains(body, "unsafe deletion is not allowed because the object is decodable from storage"))
	code, body = c.do("GET", frobbersV1+"/a", "")
	is.Equal(code, 200)
	is.True(strings.Contains(body, `"height":9`))
}
