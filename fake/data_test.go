package fake_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
)

// found returns the status code of a GET request.
func found(t *testing.T, srv *fake.Server, path string) int {
	t.Helper()
	code, _, _ := answer(t, srv, "GET", path, "")
	return code
}

// TestData checks that stored objects outlive the server, even after a reset. The server need not be closed.
func TestData(t *testing.T) {
	t.Parallel()
	is, o := is.New(t), fake.Options{Data: t.TempDir()}
	configmaps := "/api/v1/namespaces/default/configmaps"
	first := fake.RunT(t, o)
	answer(t, first, "POST", configmaps, `{"metadata":{"name":"a"}}`)
	is.NoErr(first.Reset())
	answer(t, first, "POST", configmaps, `{"metadata":{"name":"b"}}`)
	second := fake.RunT(t, o)
	is.Equal(second.Revision(), first.Revision())
	is.Equal(found(t, second, configmaps+"/a"), 404)
	is.Equal(found(t, second, configmaps+"/b"), 200)
	is.NoErr(second.DataError())

	o.Data += "/a\x00b"
	_, err := fake.New(o)
	is.True(err != nil)
}

// TestWriteGap checks that other clients see the first of the two writes of a deletion if there is a gap between them.
// If one of the clients updates the object, that update removes it, because nothing blocks its deletion any more. The
// delete request succeeds as well.
func TestWriteGap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		srv := fake.RunT(t, fake.Options{WriteGap: time.Millisecond, Clock: clock.System{}})
		pods := "/api/v1/namespaces/default/pods"
		answer(t, srv, "POST", pods, `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
		rev := srv.Revision()
		removed := 0
		go func() { removed, _ = client{t, srv}.do("DELETE", pods+"/a", "") }()
		synctest.Wait()
		_, _, pod := answer(t, srv, "GET", pods+"/a", "")
		is.True(strings.Contains(pod, `"deletionTimestamp"`))
		answer(t, srv, "PUT", pods+"/a", strings.Replace(pod, `"metadata":{`, `"metadata":{"labels":{"between":"both"},`, 1))
		is.Equal(srv.Revision(), rev+2)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		is.Equal(found(t, srv, pods+"/a"), 404)
		is.Equal(removed, 200)
		is.Equal(srv.Revision(), rev+2)
	})
}
