package fake_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

// allotted is the response to a request that reaches the server's request timeout, as kube-apiserver writes it.
const allotted = `{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout",` +
	`"reason":"Timeout","details":{},"code":504}` + "\n"

// inTime returns a client of a server on the clock of the test's bubble.
func inTime(t *testing.T) client { return client{t, fake.RunT(t, fake.Options{Clock: clock.System{}})} }

// logged is a testing.TB that keeps its log.
type logged struct {
	fake.TB
	mu  sync.Mutex
	log strings.Builder
}

func (l *logged) Logf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(&l.log, format+"\n", args...)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.String()
}

// slow returns a webhook function that takes the duration d and allows everything.
func slow(d time.Duration) func(fake.AdmissionReview) fake.AdmissionReview {
	return func(review fake.AdmissionReview) fake.AdmissionReview {
		time.Sleep(d)
		review["response"] = map[string]any{"allowed": true}
		return review
	}
}

// stored reports whether a ConfigMap exists.
func (c client) stored(name string) bool {
	code, _ := c.do("GET", admittedMaps+"/"+name, "")
	return code == http.StatusOK
}

// TestTimeoutOfWebhook checks that a client's ?timeout= ends a write with a slow webhook, whatever the failurePolicy
// is. Nothing is stored, neither then nor later.
func TestTimeoutOfWebhook(t *testing.T) {
	for _, kind := range []string{"Mutating", "Validating"} {
		for _, policy := range []string{"Fail", "Ignore"} {
			t.Run(kind+" "+policy, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					is := is.New(t)
					c := inTime(t)
					c.webhook(kind, "slow", `"failurePolicy":"`+policy+`",`)
					c.srv.Admit("slow.example.com", slow(3*time.Second))
					var code int
					var header http.Header
					var body string
					is.Equal(took(func() {
						code, header, body = c.exchange("POST", admittedMaps+"?timeout=1s", `{"metadata":{"name":"a"}}`)
					}), time.Second)
					is.Equal(code, http.StatusGatewayTimeout)
					is.Equal(body, allotted)
					is.Equal(header.Get("Content-Type"), "text/plain; charset=utf-8")
					time.Sleep(time.Minute)
					is.True(!c.stored("a"))
					code, _ = c.do("POST", admittedMaps+"?timeout=4s", `{"metadata":{"name":"b"}}`)
					is.Equal(code, http.StatusCreated) // in time
				})
			})
		}
	}
}

// TestTimeoutOfWrites checks that a write may take 34 s in total with its webhooks, and another request 60 s. A webhook
// gets the remaining time as its timeout.
func TestTimeoutOfWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		c := inTime(t)
		c.webhook("Mutating", "first", `"timeoutSeconds":30,`)
		c.webhook("Mutating", "second", `"timeoutSeconds":30,`)
		var asked []string
		c.srv.AdmitThrough(carrier(func(q *http.Request) (*http.Response, error) {
			asked = append(asked, q.URL.RequestURI())
			select {
			case <-time.After(20 * time.Second):
			case <-q.Context().Done():
				return nil, context.Cause(q.Context())
			}
			return nil, errors.New("it does not answer")
		}))
		c.srv.Admit("first.example.com", slow(20*time.Second))
		var body string
		is.Equal(took(func() { _, body = c.do("POST", admittedMaps, `{"metadata":{"name":"a"}}`) }), 34*time.Second)
		s := c.parse(body)
		is.Equal(s.String("message"), "Timeout: request did not complete within requested timeout - context deadline exceeded")
		is.Equal(s.Kind(), "Status") // in the format of the handlers
		synctest.Wait()              // for the second webhook's goroutine
		is.Equal(asked, []string{"/second?timeout=14s"})
		is.True(!c.stored("a"))
	})
}

// TestTimeoutOfReads checks that a read that waits for a future revision also ends at its deadline.
func TestTimeoutOfReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		c := inTime(t)
		for path, limit := range map[string]time.Duration{
			admittedMaps + "?resourceVersion=99999&timeout=1s":   time.Second,
			admittedMaps + "/a?resourceVersion=99999&timeout=1s": time.Second,
			admittedMaps + "?resourceVersion=99999&timeout=0s":   3 * time.Second, // the client sets no limit
		} {
			var body string
			is.Equal(took(func() { _, body = c.do("GET", path, "") }), limit)
			is.Equal(body == allotted, limit == time.Second)
		}
		for path, want := range map[string]int{
			admittedMaps + "?timeout=1ns": http.StatusGatewayTimeout, // before any server could respond
			"/api?timeout=1us":            http.StatusGatewayTimeout,
			admittedMaps + "?timeout=-1s": http.StatusOK,
			admittedMaps + "?timeout=x":   http.StatusBadRequest,
		} {
			code, _ := c.do("GET", path, "")
			is.Equal(code, want)
		}
	})
}

// TestClientGivesUp checks that a client that gives up gets its own error at once. A request that was not committed by
// then is never committed.
func TestClientGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		c := inTime(t)
		c.webhook("Validating", "slow", "")
		c.srv.Admit("slow.example.com", slow(5*time.Second))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var err error
		is.Equal(took(func() {
			_, err = c.request(ctx, "POST", admittedMaps, "application/json", "", `{"metadata":{"name":"a"}}`)
		}), time.Second)
		is.True(errors.Is(err, context.DeadlineExceeded))
		time.Sleep(time.Minute)
		is.True(!c.stored("a"))
		is.True(took(func() { c.create("b") }) == 5*time.Second) // and the server keeps running
	})
}

// TestClientGivesUpConversion checks that a conversion webhook that hangs blocks its client only until the client gives
// up.
func TestClientGivesUpConversion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		c, srv := loaded(t)
		var hangs atomic.Bool
		hangs.Store(true)
		srv.ConvertThrough(hook{t, func(review object.Object) object.Object {
			if hangs.Load() {
				time.Sleep(time.Second)
			}
			return converted(t, review)
		}})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		body := `{"apiVersion":"example.com/v2","kind":"Frobber","metadata":{"name":"late"},"heightInInches":36}`
		_, err := c.request(ctx, "POST", frobbersV2, "application/json", "", body)
		is.True(errors.Is(err, context.DeadlineExceeded))
		time.Sleep(time.Minute)
		code, _ := c.do("GET", frobbersV1+"/late", "")
		is.Equal(code, http.StatusNotFound)
		hangs.Store(false)
		code, _ = c.do("POST", frobbersV2, body)
		is.Equal(code, http.StatusCreated) // the failure is not cached
	})
}

// TestSlowFunction checks that a Go function that takes longer than timeoutSeconds fails like a webhook that times out.
func TestSlowFunction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		c := inTime(t)
		c.webhook("Validating", "slow", `"timeoutSeconds":2,`)
		c.srv.Admit("slow.example.com", slow(5*time.Second))
		var code int
		var body string
		is.Equal(took(func() { code, body = c.do("POST", admittedMaps, `{"metadata":{"name":"a"}}`) }), 2*time.Second)
		is.Equal(code, http.StatusInternalServerError)
		is.Equal(c.parse(body).String("message"), `Internal error occurred: failed calling webhook "slow.example.com": failed to call webhook: `+
			`Post "https://hooks.example.com/slow?timeout=2s": context deadline exceeded`)
		code, _ = c.do("PUT", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/slow", strings.Replace(c.configuration("slow"), `"Fail"`, `"Ignore"`, 1))
		is.Equal(code, http.StatusOK)
		is.Equal(took(func() { c.create("b") }), 2*time.Second)
	})
}

// configuration returns a stored configuration of validating webhooks.
func (c client) configuration(name string) string {
	_, body := c.do("GET", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/"+name, "")
	return body
}

// TestHandlerPanics checks that a handler that panics breaks only its own request: the lock is released, and nothing is
// stored. The client gets an error in process and a broken connection over a socket, as from a real server.
func TestHandlerPanics(t *testing.T) {
	is := is.New(t)
	log := &logged{TB: t}
	srv := fake.RunT(log, fake.Options{Clock: clock.System{}})
	c := client{t, srv}
	c.webhook("Mutating", "bad", "")
	srv.Admit("bad.example.com", func(fake.AdmissionReview) fake.AdmissionReview { panic("what now") })
	_, err := c.request(t.Context(), "POST", admittedMaps, "application/json", "", `{"metadata":{"name":"a"}}`)
	is.True(err != nil)
	is.Equal(err.Error(), "kubesim: the server panicked while it served POST "+admittedMaps+": what now")
	is.True(strings.Contains(log.String(), "TestHandlerPanics")) // the stack shows the function
	is.True(!c.stored("a"))

	l, err := srv.Listen(fake.ListenOptions{})
	is.NoErr(err)
	_, err = http.Post(l.URL()+admittedMaps, "application/json", strings.NewReader(`{"metadata":{"name":"b"}}`))
	is.True(errors.Is(err, io.EOF)) // the connection breaks
	is.True(!c.stored("b"))
	srv.Admit("bad.example.com", slow(0))
	c.create("c") // the server keeps running
}

// TestFunctionExits checks that a request fails if the webhook's function ends its goroutine, as t.Fatal does.
func TestFunctionExits(t *testing.T) {
	is := is.New(t)
	c := inTime(t)
	c.webhook("Mutating", "bad", "")
	c.srv.Admit("bad.example.com", func(fake.AdmissionReview) fake.AdmissionReview {
		runtime.Goexit()
		return nil
	})
	code, body := c.do("POST", admittedMaps, `{"metadata":{"name":"a"}}`)
	is.Equal(code, http.StatusInternalServerError)
	is.True(strings.Contains(body, "runtime.Goexit"))
}
