package fake_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

// elector is a candidate for a lease with the bug of kubernetes/kubernetes#125761: it compares its own time of day with
// a time that was stored by another machine, or by itself before a jump of the clock.
type elector struct {
	client
	name  string
	clock clock.Clock
	local bool // compares with the time at which it saw the lease change, on a clock that does not jump

	seen string
	at   time.Duration
}

const lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l"

// try renews the lease, or takes it if the lease has not been renewed for 15 s. It reports whether the candidate is the
// leader.
func (e *elector) try(uptime time.Duration) bool {
	code, body := e.do("GET", lease, "")
	if code == http.StatusNotFound {
		code, _ = e.do("POST", "/apis/coordination.k8s.io/v1/namespaces/default/leases", e.lease(""))
		return code == http.StatusCreated
	}
	obj := e.parse(body)
	renewed, _ := time.Parse(time.RFC3339Nano, obj.String("spec", "renewTime"))
	expired := e.clock.Now().After(renewed.Add(15 * time.Second))
	if rv := obj.ResourceVersion(); rv != e.seen {
		e.seen, e.at = rv, uptime
	}
	if e.local {
		expired = uptime > e.at+15*time.Second
	}
	if obj.String("spec", "holderIdentity") != e.name && !expired {
		return false
	}
	code, _ = e.do("PUT", lease, e.lease(obj.ResourceVersion()))
	return code == http.StatusOK
}

func (e *elector) lease(rv string) string {
	return string(object.JSON(map[string]any{"metadata": map[string]any{"name": "l", "resourceVersion": rv},
		"spec": map[string]any{"holderIdentity": e.name, "renewTime": e.clock.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00")}}))
}

// TestJump checks that if the clock of the standby's machine jumps an hour ahead, the standby steals a lease although
// its holder keeps renewing it.
func TestJump(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	for _, right := range []bool{false, true} {
		srv := fake.RunT(t)
		c := client{t, srv}
		a := &elector{client: c, name: "a", clock: srv.ClientClock("a"), local: right}
		b := &elector{client: c, name: "b", clock: srv.ClientClock("b"), local: right}
		stolen := ""
		for second := range 20 {
			uptime := time.Duration(second) * time.Second
			if second == 10 {
				srv.Jump("b", time.Hour)
			}
			is.True(a.try(uptime) || stolen != "")
			if b.try(uptime) && stolen == "" {
				stolen = fmt.Sprint("after ", uptime)
			}
			srv.Clock.Advance(time.Second)
		}
		want := "after 10s"
		if right {
			want = ""
		}
		is.Equal(stolen, want)
	}
}
