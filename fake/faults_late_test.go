package fake_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/fault"
)

// TestFaultBecame checks that the object that results from a patch or a delete can trigger a fault: before it is
// stored, when it is stored, and before the response is sent.
func TestFaultBecame(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	for text, want := range map[string]string{
		"on patch configmaps became=data.k=bad do fail Conflict":                              "200 409 200 200 | 4009",
		"on patch configmaps became=data.k=bad do commit-then-fail Timeout":                   "200 504 200 200 | 4010",
		"on patch configmaps became=data.k=bad at=store.committed do compact":                 "200 200 200 200 | 4010",
		"on delete configmaps became=metadata.deletionTimestamp do fail InternalError":        "200 200 500 200 | 4009",
		"on delete configmaps became=metadata.deletionTimestamp do commit-then-fail Timeout":  "200 200 504 200 | 4010",
		"on patch configmaps became=data.k=good do fail Conflict":                             "409 200 200 200 | 4009",
		"on patch,delete configmaps at=request.validated do fail ServiceUnavailable":          "503 503 503 503 | 4006",
		"on patch configmaps at=request.validated where=metadata.name=other do fail Conflict": "200 200 200 200 | 4010",
	} {
		c := client{t, fake.RunT(t)}
		c.do("POST", mapsPath, `{"metadata":{"name":"a","finalizers":["x.y/z"]}}`)
		c.create("b")
		plan, err := fault.Parse(text)
		is.NoErr(err)
		c.srv.Faults.Add(plan...)
		var got [4]int
		got[0], _, _ = c.ask("PATCH", mapsPath+"/a", "application/merge-patch+json", "", `{"data":{"k":"good"}}`)
		got[1], _, _ = c.ask("PATCH", mapsPath+"/a", "application/merge-patch+json", "", `{"data":{"k":"bad"}}`)
		got[2], _, _ = c.ask("DELETE", mapsPath+"/a", "", "", "")
		got[3], _, _ = c.ask("DELETE", mapsPath+"/b", "", "", "")
		if s := fmt.Sprintf("%d %d %d %d | %d", got[0], got[1], got[2], got[3], c.srv.Revision()); s != want {
			t.Errorf("%s: %s, want %s", text, s, want)
		}
	}
}

// TestFaultValidated checks that a dry run, an invalid object and a patch that changes nothing do not reach the point
// request.validated.
func TestFaultValidated(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	c.create("a")
	c.srv.Faults.Add(fault.On("*", "configmaps").At(fault.RequestValidated).Conflict())
	for _, x := range []struct {
		method, path, body string
		want               int
	}{
		{"POST", mapsPath, `{"metadata":{"name":"b"}}`, http.StatusConflict},
		{"POST", mapsPath + "?dryRun=All", `{"metadata":{"name":"b"}}`, http.StatusCreated},
		{"POST", mapsPath, `{"metadata":{"name":"B"}}`, http.StatusUnprocessableEntity},
		{"PUT", mapsPath + "/a", `{"metadata":{"name":"a"}}`, http.StatusOK},
		{"PUT", mapsPath + "/a", `{"metadata":{"name":"a"},"data":{"k":"v"}}`, http.StatusConflict},
		{"GET", mapsPath + "/a", ``, http.StatusOK},
	} {
		code, body := c.do(x.method, x.path, x.body)
		if code != x.want {
			t.Errorf("%s %s %s: %d, want %d: %s", x.method, x.path, x.body, code, x.want, body)
		}
	}
	is.Equal(c.srv.Revision(), uint64(4005))
}

// TestFaultStallFor checks that a stalled connection on which the client sends pings breaks after 45 s.
func TestFaultStallFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		c := client{t, fake.RunT(t, fake.Options{Clock: clock.System{}})}
		c.srv.Faults.Add(fault.On("watch", "configmaps").StallFor(45 * time.Second))
		w := c.watch("&resourceVersion=" + rev(c.srv.Revision()))
		c.create("a")
		is.Equal(took(func() { w.next() }), 45*time.Second)
	})
}
