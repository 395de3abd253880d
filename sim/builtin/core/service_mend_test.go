package core

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
)

// mendTry returns a Try with a range, a service s with 10.0.0.8, a service t with 10.0.0.9, and an ExternalName service.
func mendTry(t *testing.T) *kindtest.Try {
	r := kindtest.New(t, served, "services")
	for storage, texts := range map[string][]string{ // order does not matter
		serviceCIDRs: {`{'metadata':{'name':'kubernetes'},'spec':{'cidrs':['10.0.0.0/24','2001:db8::/64']}}`},
		"services": {
			`{'metadata':{'name':'s','namespace':'n','uid':'u','resourceVersion':'7','creationTimestamp':'2024-01-01T00:00:00Z'},'spec':{'clusterIPs':['10.0.0.8']}}`,
			`{'metadata':{'name':'t','namespace':'n'},'spec':{'clusterIPs':['10.0.0.9']}}`,
			`{'metadata':{'name':'none','namespace':'n'},'spec':{'clusterIPs':['None']}}`,
			`{'metadata':{'name':'far','namespace':'n'},'spec':{'clusterIPs':['10.9.0.1']}}`,
			`{'metadata':{'name':'external','namespace':'n'},'spec':{'type':'ExternalName'}}`},
	} {
		for _, text := range texts {
			r.Stored[storage] = append(r.Stored[storage], r.Parse(text))
		}
	}
	return r
}

// address returns the JSON of an IPAddress that was created 30 s after the service s.
func address(ip, labels, ref string) string {
	return `{'metadata':{'name':'` + ip + `','labels':{` + labels + `},'creationTimestamp':'2024-01-01T00:00:30Z'},'spec':{'parentRef':{` + ref + `}}}`
}

const (
	ours   = `'ipaddress.kubernetes.io/managed-by':'ipallocator.k8s.io','ipaddress.kubernetes.io/ip-family':'IPv4'`
	ofS    = `'resource':'services','namespace':'n','name':'s'`
	ofT    = `'resource':'services','namespace':'n','name':'t'`
	ofNone = `'resource':'services','namespace':'n','name':'gone'`
)

func TestMendService(t *testing.T) {
	is := is.New(t)
	for _, x := range []struct{ service, address, want string }{
		{"s", address("10.0.0.8", ours, ofS), ""},
		{"gone", "", ""},
		{"none", "", ""},
		{"far", "", "ClusterIPOutOfRange Cluster IP [IPv4]: 10.9.0.1 is not within any configured Service CIDR; please recreate service"},
		{"s", address("10.0.0.9", ours, ofT), "+10.0.0.8 ClusterIPNotAllocated Cluster IP [IPv4]: 10.0.0.8 is not allocated; repairing"},
		{"s", address("10.0.0.8", ours, `'group':'x','resource':'services','namespace':'n','name':'s'`),
			"-10.0.0.8 +10.0.0.8 ClusterIPNotAllocated the ClusterIP [IPv4]: 10.0.0.8 for Service n/s has a wrong reference; repairing"},
		{"s", address("10.0.0.8", ours, ofNone),
			"-10.0.0.8 +10.0.0.8 ClusterIPNotAllocated the ClusterIP [IPv4]: 10.0.0.8 for Service n/s has a wrong reference; repairing"},
		{"s", address("10.0.0.8", ours, ofT), ""}, // the IPAddress is checked separately
		{"s", address("10.0.0.8", "", ofS), "-10.0.0.8 +10.0.0.8 "},
	} {
		r := mendTry(t)
		if x.address != "" {
			r.Stored[ipAddresses] = append(r.Stored[ipAddresses], r.Parse(x.address))
		}
		got := ""
		for _, m := range MendService(r, "n", x.service) {
			got += told(m)
		}
		is.Equal(got, x.want)
	}
	r := mendTry(t)
	r.Stored["services"] = append(r.Stored["services"], r.Parse(`{'metadata':{'name':'twin','namespace':'n'},'spec':{'clusterIPs':['10.0.0.8']}}`))
	r.Stored[ipAddresses] = append(r.Stored[ipAddresses], r.Parse(address("10.0.0.8", ours, ofS)))
	is.Equal(told(MendService(r, "n", "twin")[0]),
		"ClusterIPAlreadyAllocated Cluster IP [IPv4]:10.0.0.8 was assigned to multiple services; please recreate service")
	r.Stored[serviceCIDRs] = nil
	is.Equal(len(MendService(r, "n", "twin")), 0) // there are no IPAddresses
}

func TestMendAddress(t *testing.T) {
	is := is.New(t)
	now := time.Date(2024, 1, 1, 0, 0, 32, 0, time.UTC) // the IPAddress is two seconds old
	for _, x := range []struct {
		address string
		again   time.Duration
		later   string // expected repair after that time
	}{
		{address("10.0.0.8", ours, ofS), 0, ""},
		{address("10.0.0.1", `'ipaddress.kubernetes.io/managed-by':'me'`, ofNone), 0, ""},
		{address("10.0.0.1", ours, `'resource':'x','name':'y'`), 0,
			"-10.0.0.1 IPAddressNotAllocated IPAddress 10.0.0.1 appears to have been modified, not referencing a Service &ParentReference{Group:,Resource:x,Namespace:,Name:y,}: cleaning up"},
		{address("10.0.0.1", ours, ofNone), 58 * time.Second,
			"-10.0.0.1 IPAddressNotAllocated IPAddress: 10.0.0.1 for Service n/gone appears to have leaked: cleaning up"},
		{address("10.0.0.1", ours, ofS), 3 * time.Second,
			"-10.0.0.1 IPAddressWrongReference IPAddress: 10.0.0.1 for Service n/s has a wrong reference; cleaning up"},
		{address("10.0.0.1", ours, `'resource':'services','namespace':'n','name':'external'`), 58 * time.Second,
			"-10.0.0.1 IPAddressWrongReference IPAddress: 10.0.0.1 for Service n/external has a wrong reference; cleaning up"},
	} {
		r := mendTry(t)
		obj := r.Parse(x.address)
		r.Stored[ipAddresses] = append(r.Stored[ipAddresses], obj)
		m, again := MendAddress(r, obj.Name(), now)
		is.Equal(again, x.again)
		if again > 0 {
			is.Equal(told(m), "") // not yet
			m, _ = MendAddress(r, obj.Name(), now.Add(again))
		}
		is.Equal(told(m), x.later)
	}
}

// told returns a summary of an AddressRepair.
func told(m AddressRepair) string {
	text := ""
	if m.Delete != "" {
		text += "-" + m.Delete + " "
	}
	if m.Create != nil {
		text += "+" + m.Create.Name() + " "
	}
	if m.Event != nil {
		text += m.Event.String("reason") + " " + m.Event.String("note")
	}
	return text
}
