package record_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake/record"
)

// created is the recording of a client that has a watch open, creates a pod, and writes its status 300 ms later.
const created = `{"at":"2026-01-01T00:00:00Z","id":1,"request":{"method":"GET","url":"/api/v1/pods?watch=1"}}
{"at":"2026-01-01T00:00:00.001Z","id":1,"answer":{"code":200}}
{"at":"2026-01-01T00:00:01Z","id":2,"request":{"method":"POST","url":"/api/v1/namespaces/a/pods"}}
{"at":"2026-01-01T00:00:01.020Z","id":2,"answer":{"code":201,"body":{"json":{}}}}
{"at":"2026-01-01T00:00:01.025Z","id":1,"event":{"type":"ADDED"}}
{"at":"2026-01-01T00:00:01.300Z","id":1,"event":{"type":"MODIFIED"}}
{"at":"2026-01-01T00:00:01.320Z","id":3,"request":{"method":"PATCH","url":"/api/v1/namespaces/a/pods/b/status"}}
{"at":"2026-01-01T00:00:01.350Z","id":3,"answer":{"code":200,"body":{"json":{}}}}
{"at":"2026-01-01T00:00:01.360Z","id":4,"request":{"method":"PATCH","url":"/api/v1/namespaces/a/pods/b/status"}}
{"at":"2026-01-01T00:00:01.370Z","id":4,"answer":{"code":409,"body":{"json":{}}}}
{"at":"2026-01-01T00:00:01.380Z","id":1,"event":{"type":"MODIFIED"}}
`

// TestReplayAnswersInTime checks when the answers come to a client that does everything at once: at their recorded times, after the
// events that preceded the recorded client's next request, and before the others.
func TestReplayAnswersInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		entries, err := record.Read(strings.NewReader(created))
		is.NoErr(err)
		r := record.NewReplay(entries, clock.System{})
		ctx, stop := context.WithCancel(t.Context())
		send := func(method, path string) {
			u, err := url.ParseRequestURI(path)
			is.NoErr(err)
			r.ServeHTTP(httptest.NewRecorder(), (&http.Request{Method: method, URL: u, Body: io.NopCloser(strings.NewReader(""))}).WithContext(ctx))
		}
		began := time.Now()
		go send("GET", "/api/v1/pods?watch=1")
		synctest.Wait()
		var took []time.Duration
		for range 3 {
			if took == nil {
				send("POST", "/api/v1/namespaces/a/pods")
			} else {
				send("PATCH", "/api/v1/namespaces/a/pods/b/status")
			}
			took = append(took, time.Since(began))
		}
		is.Equal(took, []time.Duration{1026 * time.Millisecond, 1350 * time.Millisecond, 1381 * time.Millisecond})
		is.Equal(r.Differences(), nil)
		stop()
		synctest.Wait()
	})
}

// TestReplayIgnoresTimes checks that a request is the recorded one although the parts that client-go makes from the time or draws at
// random differ: durations of watches, times, and names of events. Another name is a difference.
func TestReplayIgnoresTimes(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const recorded = `{"at":"2026-01-01T00:00:00Z","id":1,"request":{"method":"GET","url":"/api/v1/pods?timeout=5m1s&timeoutSeconds=301"}}
{"at":"2026-01-01T00:00:00Z","id":1,"answer":{"code":200,"body":{"json":{}}}}
{"at":"2026-01-01T00:00:00Z","id":2,"request":{"method":"POST","url":"/api/v1/namespaces/a/events","body":{"json":{"lastTimestamp":"2026-01-01T00:00:00Z","metadata":{"name":"b.18ec8009c22a417b"}}}}}
{"at":"2026-01-01T00:00:00Z","id":2,"answer":{"code":201,"body":{"json":{}}}}
{"at":"2026-01-01T00:00:00Z","id":3,"request":{"method":"POST","url":"/api/v1/namespaces/a/events","body":{"json":{"metadata":{"name":"c.18ec8009c22a417b"}}}}}
{"at":"2026-01-01T00:00:00Z","id":3,"answer":{"code":201,"body":{"json":{}}}}
`
	entries, err := record.Read(strings.NewReader(recorded))
	is.NoErr(err)
	r := record.NewReplay(entries, clock.System{})
	for _, request := range []*http.Request{
		httptest.NewRequest("GET", "/api/v1/pods?timeout=8m25s&timeoutSeconds=505", nil),
		httptest.NewRequest("POST", "/api/v1/namespaces/a/events", strings.NewReader(`{"lastTimestamp":"2000-01-01T00:00:05Z","metadata":{"name":"b.d234cd081609369"}}`)),
		httptest.NewRequest("POST", "/api/v1/namespaces/a/events", strings.NewReader(`{"metadata":{"name":"d.d234cd081609369"}}`)),
	} {
		request.Header.Set("Content-Type", "application/json")
		r.ServeHTTP(httptest.NewRecorder(), request)
	}
	is.Equal(len(r.Differences()), 1)
	is.True(strings.HasPrefix(r.Differences()[0], "another body: POST /api/v1/namespaces/a/events?\n    recorded: {\"metadata\":{\"name\":\"c."))
}
