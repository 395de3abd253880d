package fake_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
)

const plainPod = `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`

// TestPodWaitsForItsAccount checks that a pod in a new namespace is created as soon as a controller has created the
// service account default. The ServiceAccount plugin retries for 1.35 s before it rejects the pod.
func TestPodWaitsForItsAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		c := client{t, fake.RunT(t, fake.Options{Clock: clock.System{}, Plugins: []string{"ServiceAccount"}})}
		c.do("POST", "/api/v1/namespaces", `{"metadata":{"name":"new"}}`)
		made := make(chan int, 1)
		go func() {
			code, _ := c.do("POST", "/api/v1/namespaces/new/pods", plainPod)
			made <- code
		}()
		time.Sleep(time.Second)
		c.do("POST", "/api/v1/namespaces/new/serviceaccounts", `{"metadata":{"name":"default"}}`)
		is.Equal(<-made, http.StatusCreated)

		c.do("POST", "/api/v1/namespaces", `{"metadata":{"name":"bare"}}`)
		var code int
		var body string
		is.Equal(took(func() { code, body = c.do("POST", "/api/v1/namespaces/bare/pods", plainPod) }), 1350*time.Millisecond) // ten attempts
		is.Equal(code, http.StatusForbidden)
		is.True(strings.Contains(body, `serviceaccount \"default\" not found`))
		is.Equal(took(func() {
			code, _ = c.do("POST", "/api/v1/namespaces/bare/pods", strings.Replace(plainPod, `"spec":{`, `"spec":{"serviceAccountName":"other",`, 1))
		}), time.Duration(0)) // it waits only for the account default
		is.Equal(code, http.StatusForbidden)
	})
}

// TestPodDoesNotWaitOnAManualClock checks that the ServiceAccount plugin rejects the pod at once if the clock is
// manual: no retry could happen until the test advances the clock.
func TestPodDoesNotWaitOnAManualClock(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := client{t, fake.RunT(t, fake.Options{Plugins: []string{"ServiceAccount"}})}
	code, _ := c.do("POST", "/api/v1/namespaces/default/pods", plainPod)
	is.Equal(code, http.StatusForbidden)
}
