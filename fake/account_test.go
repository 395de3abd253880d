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

// A pod in a new namespace is created as soon as a controller has created the account default, for which the plugin ServiceAccount
// waits a moment.
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
		}), time.Duration(0)) // it waits for default only
		is.Equal(code, http.StatusForbidden)
	})
}

// On a manual clock the plugin does not wait, because the test would have to advance the clock.
func TestPodDoesNotWaitOnAManualClock(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := client{t, fake.RunT(t, fake.Options{Plugins: []string{"ServiceAccount"}})}
	code, _ := c.do("POST", "/api/v1/namespaces/default/pods", plainPod)
	is.Equal(code, http.StatusForbidden)
}
