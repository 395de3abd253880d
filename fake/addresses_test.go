package fake_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

const (
	servicesPath  = "/api/v1/namespaces/default/services"
	addressesPath = "/apis/networking.k8s.io/v1/ipaddresses"
)

// addresses returns the names of all IPAddresses except the first, each with the service that owns it.
func (c client) addresses() (all []string) {
	c.t.Helper()
	_, body := c.do("GET", addressesPath, "")
	return c.addressesIn(body)
}

// addressesIn returns the names of the addresses in a list except the first, each with the service that owns it.
func (c client) addressesIn(body string) (all []string) {
	c.t.Helper()
	for _, x := range c.parse(body).List("items")[1:] {
		address := object.Object(x.(map[string]any))
		all = append(all, address.Name()+" "+address.String("spec", "parentRef", "name"))
	}
	return all
}

// TestAddressWhileAWebhookIsAsked checks that the address of a service is already allocated while a webhook is called
// for the service. If another write overtakes the create, the create starts again, and its address is released and
// allocated again.
func TestAddressWhileAWebhookIsAsked(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	code, made := c.do("POST", servicesPath, `{"metadata":{"name":"a"},"spec":{"type":"ExternalName","externalName":"x.example"}}`)
	is.Equal(code, http.StatusCreated)
	patch := func(body string) int {
		code, _, _ := c.ask("PATCH", servicesPath+"/a", "application/merge-patch+json", "", body)
		return code
	}
	code, _ = c.do("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", `{"metadata":{"name":"w"},"webhooks":[
		{"name":"w.example.com","admissionReviewVersions":["v1"],"sideEffects":"None","clientConfig":{"url":"https://w.example.com"},
		"rules":[{"operations":["UPDATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["services"]}]}]}`)
	is.Equal(code, http.StatusCreated)
	asked, meanwhile := 0, ""
	c.srv.Admit("w.example.com", func(review fake.AdmissionReview) fake.AdmissionReview {
		if asked++; asked == 1 {
			_, meanwhile = c.do("GET", addressesPath, "")
			is.NewRelaxed(t).Equal(patch(`{"metadata":{"labels":{"a":"b"}}}`), http.StatusOK)
		}
		review["response"] = map[string]any{"allowed": asked < 4, "status": map[string]any{"code": int64(403)}}
		return review
	})
	is.Equal(patch(`{"spec":{"type":"ClusterIP","externalName":null,"clusterIP":"10.0.0.8","ports":[{"port":80}]}}`), http.StatusOK)
	is.Equal(asked, 3)
	is.Equal(c.addressesIn(meanwhile), []string{"10.0.0.8 a"})
	is.Equal(c.addresses(), []string{"10.0.0.8 a"})
	w := c.open(addressesPath + "?watch=1&resourceVersion=" + c.parse(made).ResourceVersion())
	for _, want := range []string{"ADDED", "DELETED", "ADDED"} {
		w.must(want)
	}
	is.Equal(patch(`{"spec":{"type":"ExternalName","externalName":"x.example"}}`), http.StatusForbidden)
	is.Equal(c.addresses(), []string{"10.0.0.8 a"}) // a rejected update releases no address
}

// TestAddressesOfASnapshot checks that a service in an archive keeps its address when the archive is loaded.
func TestAddressesOfASnapshot(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	a := client{t, fake.RunT(t)}
	const body = `{"metadata":{"name":"%s"},"spec":{"clusterIP":"10.0.0.8","ports":[{"port":80}]}}`
	a.do("POST", servicesPath, fmt.Sprintf(body, "a"))
	saved, err := a.srv.Snapshot()
	is.NoErr(err)
	b := client{t, load(t, saved)}
	_, text := b.do("POST", servicesPath, fmt.Sprintf(body, "b"))
	is.True(strings.HasSuffix(b.parse(text).String("message"), "failed to allocate IP 10.0.0.8: provided IP is already allocated"))
	b.do("DELETE", servicesPath+"/a", "")
	is.Equal(len(b.addresses()), 0)
	is.Equal(a.addresses(), []string{"10.0.0.8 a"})
}

// TestAddressesOfABareServer checks that a server without a ServiceCIDR stores no IPAddresses, and that services still
// get distinct addresses.
func TestAddressesOfABareServer(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := client{t, fake.RunT(t, fake.Options{Bare: true})}
	const body = `{"metadata":{"name":"%s"},"spec":{"clusterIP":"10.0.0.8","ports":[{"port":80}]}}`
	code, _ := c.do("POST", servicesPath, fmt.Sprintf(body, "a"))
	is.Equal(code, http.StatusCreated)
	code, _ = c.do("POST", servicesPath, fmt.Sprintf(body, "b"))
	is.Equal(code, http.StatusUnprocessableEntity)
	_, list := c.do("GET", addressesPath, "")
	is.Equal(len(c.parse(list).List("items")), 0)
}

// TestManyServices checks that allocating the thousandth address takes no longer than allocating the tenth.
func TestManyServices(t *testing.T) {
	is, many := is.New(t), 1000
	if testing.Short() {
		many = 200
	}
	c := client{t, fake.RunT(t, fake.Options{ServiceCIDR: "10.0.0.0/16"})}
	n := 0
	create := func() {
		n++
		code, body := c.do("POST", servicesPath, fmt.Sprintf(`{"metadata":{"name":"s%d"},"spec":{"ports":[{"port":80}]}}`, n))
		if code != http.StatusCreated {
			t.Fatal(body)
		}
	}
	few := testing.AllocsPerRun(20, create)
	for n < many {
		create()
	}
	is.True(testing.AllocsPerRun(20, create) < 1.5*few)
	is.Equal(len(c.addresses()), n)
}

// TestAddressesAreMended checks that the controller deletes an IPAddress whose service does not exist after a minute,
// even if the server was saved and loaded in the meantime. A service that has lost its IPAddress gets it back at the
// next repair.
func TestAddressesAreMended(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	a := client{t, fake.RunT(t, fake.Options{Clock: clock.NewManual(clock.Epoch())})}
	code, _ := a.do("POST", servicesPath, `{"metadata":{"name":"a"},"spec":{"clusterIP":"10.0.0.8","ports":[{"port":80}]}}`)
	is.Equal(code, http.StatusCreated)
	code, _ = a.do("DELETE", addressesPath+"/10.0.0.8", "")
	is.Equal(code, http.StatusOK)
	code, _ = a.do("POST", addressesPath, `{"metadata":{"name":"10.0.0.9","labels":{"ipaddress.kubernetes.io/managed-by":"ipallocator.k8s.io"}},
		"spec":{"parentRef":{"resource":"services","namespace":"default","name":"nobody"}}}`)
	is.Equal(code, http.StatusCreated)
	a.srv.Clock.Advance(50 * time.Second)
	saved, err := a.srv.Snapshot()
	is.NoErr(err)
	for _, c := range []client{a, {t, load(t, saved)}} {
		is.Equal(c.addresses(), []string{"10.0.0.9 nobody"})
		c.srv.Clock.Advance(9 * time.Second)
		is.Equal(c.addresses(), []string{"10.0.0.9 nobody"})
		c.srv.Clock.Advance(time.Second)
		is.Equal(len(c.addresses()), 0)
		c.srv.Clock.Advance(3 * time.Minute)
		is.Equal(c.addresses(), []string{"10.0.0.8 a"})
		_, body := c.do("GET", "/apis/events.k8s.io/v1/events", "")
		var told []string
		for _, x := range c.parse(body).List("items") {
			told = append(told, object.Object(x.(map[string]any)).String("note"))
		}
		is.Equal(told, []string{"IPAddress: 10.0.0.9 for Service default/nobody appears to have leaked: cleaning up",
			"Cluster IP [IPv4]: 10.0.0.8 is not allocated; repairing"})
	}
}
