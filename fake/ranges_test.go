package fake_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
)

const defaultRange = "/apis/networking.k8s.io/v1/servicecidrs/kubernetes"

// TestDefaultRange checks that the ServiceCIDR kubernetes exists again ten seconds after its deletion, also in a copy of the server,
// and that services get addresses then.
func TestDefaultRange(t *testing.T) {
	is := is.New(t)
	a := client{t, fake.RunT(t, fake.Options{Clock: clock.NewManual(clock.Epoch())})}
	a.must("DELETE", defaultRange, "")
	a.srv.Clock.Advance(9 * time.Second)
	saved, err := a.srv.Snapshot()
	is.NoErr(err)
	for _, c := range []client{a, {t, load(t, saved)}} {
		code, _ := c.do("GET", defaultRange, "")
		is.Equal(code, 404)
		c.srv.Clock.Advance(time.Second)
		obj := c.must("GET", defaultRange, "")
		is.Equal(obj.Strings("spec", "cidrs"), []string{"10.0.0.0/24"})
		is.Equal(obj.Condition("Ready").String("message"), "Kubernetes default Service CIDR is ready")
		is.Equal(obj.Objects("metadata", "managedFields")[0].String("manager"), "kubernetes-service-cidr-controller")
		c.must("POST", inCore+"services", `{"metadata":{"name":"a"},"spec":{"ports":[{"port":80}]}}`)
	}
}

// TestSecondRangeIsAdded checks that a cluster gets the second IP family when its API servers start with a range of it.
func TestSecondRangeIsAdded(t *testing.T) {
	is, dir := is.New(t), t.TempDir()
	service := func(c client, name string) []string {
		return c.must("POST", inCore+"services", `{"metadata":{"name":"`+name+`"},"spec":{"ports":[{"port":80}],"ipFamilyPolicy":"PreferDualStack"}}`).
			Strings("spec", "clusterIPs")
	}
	for i, x := range []struct {
		ranges, stored string
		families       int
	}{
		{"10.0.0.0/24", "10.0.0.0/24", 1},
		{"10.0.0.0/24,fd00::/112", "10.0.0.0/24 fd00::/112", 2},
		{"10.9.0.0/24", "10.0.0.0/24 fd00::/112", 1}, // other ranges are not changed
	} {
		srv, err := fake.New(fake.Options{Data: dir, ServiceCIDR: x.ranges})
		is.NoErr(err)
		c := client{t, srv}
		is.Equal(strings.Join(c.must("GET", defaultRange, "").Strings("spec", "cidrs"), " "), x.stored)
		is.Equal(len(service(c, fmt.Sprint("s", i))), x.families)
		srv.Close()
	}
}
