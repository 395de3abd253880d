package fake_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
)

// bubble runs a test in virtual time, which the server shares.
func bubble(t *testing.T, f func(t *testing.T, is *is.I, c client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(t, is.New(t), client{t, fake.RunT(t, fake.Options{Clock: clock.System{}})})
	})
}

// TestBookmarks checks that bookmarks are sent at the times that were measured on a real server: with a timeout of 130
// s, after one and two minutes and two seconds before the end, even if nothing has changed.
func TestBookmarks(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, c client) {
		c.create("a")
		start := time.Now()
		w := c.watch("&allowWatchBookmarks=true&timeoutSeconds=130")
		w.must("ADDED")
		is.Equal(w.must("BOOKMARK").Annotations()["k8s.io/initial-events-end"], "true") // the initial state ends with a marked bookmark
		for _, at := range []time.Duration{60, 120, 128} {
			is.Equal(len(w.must("BOOKMARK").Annotations()), 0) // later bookmarks are not marked
			is.Equal(time.Since(start), at*time.Second)        // they arrive at these times
		}
		_, ok := w.next()
		is.True(!ok)                                 // then the stream ends
		is.Equal(time.Since(start), 130*time.Second) // at its timeout
	})
}

// TestWatchTimeout checks that a watch without a timeout of its own lasts between half an hour and an hour.
func TestWatchTimeout(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, c client) {
		start := time.Now()
		_, ok := c.watch("").next()
		is.True(!ok) // nothing happens until the end
		is.True(time.Since(start) >= 30*time.Minute)
		is.True(time.Since(start) < time.Hour)
	})
}

// TestFutureRevision checks that a read of a future revision waits three seconds for it.
func TestFutureRevision(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, c client) {
		start := time.Now()
		code, header, body := c.exchange("GET", "/api/v1/configmaps?resourceVersion=999999", "")
		is.Equal(code, http.StatusGatewayTimeout)
		is.Equal(header.Get("Retry-After"), "1")
		is.True(strings.Contains(body, `"reason":"ResourceVersionTooLarge"`)) // the cause that clients look for
		is.Equal(time.Since(start), 3*time.Second)
	})
}

// TestFutureRevisionArrives checks that a read that waits for a revision gets its response as soon as the revision is
// written.
func TestFutureRevisionArrives(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, c client) {
		next := c.srv.Revision() + 1
		var code int
		go func() { code, _ = c.do("GET", "/api/v1/configmaps?resourceVersion="+rev(next), "") }()
		synctest.Wait()
		is.Equal(code, 0) // it waits
		c.create("a")
		synctest.Wait()
		is.Equal(code, http.StatusOK) // until a write
	})
}

// TestContext checks that a read that waits ends with its context, and that a watch ends with its connection.
func TestContext(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, c client) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, "GET", c.srv.URL()+"/api/v1/configmaps?resourceVersion=999999", nil)
		is.NoErr(err)
		_, err = c.srv.Transport().RoundTrip(r)
		is.True(errors.Is(err, context.DeadlineExceeded)) // after one second, not three

		ctx, cancel = context.WithCancel(context.Background())
		res := c.get(ctx, "/api/v1/namespaces/default/configmaps?watch=1")
		cancel()
		_, err = res.Body.Read(make([]byte, 1))
		is.True(errors.Is(err, context.Canceled)) // a read of the stream also ends
	})
}

// TestTokensExpire checks that every five minutes the store is compacted to its revision of five minutes earlier, so a
// continue token is valid for five to ten minutes. Watch caches drop old snapshots at the same time.
func TestTokensExpire(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, c client) {
		c.create("a")
		c.create("b")
		_, body := c.do("GET", "/api/v1/namespaces/default/configmaps?limit=1", "")
		next := "/api/v1/namespaces/default/configmaps?limit=1&continue=" + c.parse(body).String("metadata", "continue")
		c.create("c")
		time.Sleep(5 * time.Minute)
		code, _ := c.do("GET", next, "")
		is.Equal(code, http.StatusOK) // it is still valid
		time.Sleep(5*time.Minute + 15*time.Second)
		code, body = c.do("GET", next, "")
		is.Equal(code, http.StatusGone)
		token := c.parse(body).String("metadata", "continue")
		code, body = c.do("GET", "/api/v1/namespaces/default/configmaps?continue="+token, "")
		is.Equal(code, http.StatusOK)                 // the token in the response continues
		is.Equal(len(c.parse(body).List("items")), 2) // with the current objects: b and c
	})
}

// TestManualClock checks that a manual clock does not advance by itself: a request waits until the test advances it.
func TestManualClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		c := client{t, fake.RunT(t)}
		code := 0
		go func() { code, _ = c.do("GET", "/api/v1/configmaps?resourceVersion=999999", "") }()
		synctest.Wait()
		is.Equal(code, 0) // it waits
		c.srv.Clock.Advance(3 * time.Second)
		synctest.Wait()
		is.Equal(code, http.StatusGatewayTimeout)
		is.Equal(c.create("a").String("metadata", "creationTimestamp"), "2026-01-01T00:00:03Z") // all times are those of the clock
	})
}
