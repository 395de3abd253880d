package fake_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

const leasesPath = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"

// TestLeasesOfServersThatAreGone checks that the lease of a stopped API server is deleted within an hour after it has
// expired. Leases of running servers and of other clients stay.
func TestLeasesOfServersThatAreGone(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := client{t, fake.RunT(t, fake.Options{Replicas: make([]fake.ReplicaOptions, 2)})}
	own := len(c.parse(second(c.do("GET", leasesPath, ""))).List("items"))
	is.Equal(own, 2)
	lease := func(name, label, spec string) {
		code, body := c.do("POST", leasesPath, `{"metadata":{"name":"`+name+`","labels":{`+label+`}},"spec":{`+spec+`}}`)
		if code != http.StatusCreated {
			t.Fatal(body)
		}
	}
	const identity = `"apiserver.kubernetes.io/identity":"kube-apiserver"`
	lease("apiserver-gone", identity, `"leaseDurationSeconds":3600,"renewTime":"2026-01-01T00:00:00.000000Z"`)
	lease("apiserver-empty", identity, ``)
	lease("apiserver-late", identity, `"leaseDurationSeconds":7200,"renewTime":"2026-01-01T00:30:00.000000Z"`)
	lease("other", "", `"leaseDurationSeconds":1,"renewTime":"2026-01-01T00:00:00.000000Z"`)
	left := func() int { return len(c.parse(second(c.do("GET", leasesPath, ""))).List("items")) - own }
	c.srv.Clock.Advance(59 * time.Minute)
	is.Equal(left(), 4)
	c.srv.Clock.Advance(time.Minute)
	is.Equal(left(), 3) // the lease empty was deleted
	c.mergePatch(leasesPath+"/apiserver-gone", `{"spec":{"renewTime":"2026-01-01T01:00:00.000000Z"}}`)
	c.srv.Clock.Advance(time.Hour)
	is.Equal(left(), 3) // the lease was renewed
	c.srv.Clock.Advance(time.Hour)
	is.Equal(left(), 1) // the leases late and gone have expired
	code, _ := c.do("GET", leasesPath+"/other", "")
	is.Equal(code, http.StatusOK)
}
