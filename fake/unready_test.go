package fake_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
)

// TestUnready checks that while its cache is being filled, a resource serves no watches and only few lists. The longer
// that takes, the longer is the Retry-After (https://github.com/operator-framework/java-operator-sdk/issues/2526).
func TestUnready(t *testing.T) {
	pair(t, nil, func(t *testing.T, srv *fake.Server, a, b guest) {
		is := is.New(t)
		rev := a.create("x")
		open := b.watch(collection + "?watch=1&resourceVersion=" + rev)
		srv.Replica(2).Unready(90*time.Second, "configmaps")
		_, more := open.next()
		is.True(!more) // watches end
		status := func(path string) string {
			res := b.send("GET", path, "")
			defer res.Body.Close()
			return fmt.Sprint(res.StatusCode, " ", res.Header.Get("Retry-After"))
		}
		for path, want := range map[string]string{
			collection:              "429 1",
			collection + "?limit=5": "200 ", // the response is from the store
			collection + "?limit=5&labelSelector=a%3Db":                                    "429 1",
			collection + "?resourceVersion=0":                                              "429 1",
			collection + "?resourceVersionMatch=Exact&resourceVersion=" + rev:              "200 ",
			collection + "?watch=1":                                                        "429 1",
			collection + "?watch=1&resourceVersion=" + rev:                                 "429 1",
			collection + "?watch=1&resourceVersion=z":                                      "500 ",
			collection + "/x":                                                              "200 ",
			collection + "/x?resourceVersion=0":                                            "200 ",
			"/api/v1/namespaces/default/secrets?resourceVersion=0":                         "200 ", // another cache
			"/api/v1/namespaces/default/events?watch=1&resourceVersion=0&timeoutSeconds=1": "200 ", // events have no cache
		} {
			if got := status(path); got != want {
				t.Errorf("%s: %s, want %s", path, got, want)
			}
		}
		code, obj := b.do("GET", collection, "")
		is.Equal(fmt.Sprint(code, obj.String("reason"), obj.String("message")), "429TooManyRequestsstorage is (re)initializing")
		is.Equal(a.names("?resourceVersion=0"), "x") // the other replica
		for _, x := range []struct {
			wait time.Duration
			want string
		}{{30 * time.Second, "429 6"}, {25 * time.Second, "429 27"}, {20 * time.Second, "429 30"}, {16 * time.Second, "200 "}} {
			clock.System{}.Sleep(x.wait)
			is.Equal(status(collection+"?resourceVersion=0"), x.want) // e^(0.06·s)
		}
		expired := b.watch(collection + "?watch=1&resourceVersion=4001").must("ERROR")
		is.Equal(expired.String("reason"), "Expired") // a refilled cache has no history
	})
}

// TestUnreadySaved checks that a fork and a server from a snapshot become ready at the same time as the original.
func TestUnreadySaved(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := fake.RunT(t)
	srv.Replica(1).Unready(30 * time.Second)
	srv.Clock.Advance(10 * time.Second)
	saved, err := srv.Snapshot()
	is.NoErr(err)
	for _, s := range []*fake.Server{srv.Fork(), load(t, saved), srv} {
		var codes [3]int
		for i := range codes {
			codes[i], _ = client{t, s}.do("GET", mapsPath, "")
			s.Clock.Advance(10 * time.Second)
		}
		is.Equal(codes, [3]int{http.StatusTooManyRequests, http.StatusTooManyRequests, http.StatusOK})
	}
}
