package core

import (
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// reserved implements resource.Reservations: it stores the reservations in a Try.
type reserved struct{ *kindtest.Try }

func (r reserved) Reserve(storage string, obj object.Object) *status.Status {
	if r.Get(storage, "", obj.Name()) != nil {
		return status.AlreadyExists(status.Resource{Resource: storage}, obj.Name())
	}
	r.Stored[storage] = append(r.Stored[storage], obj)
	return nil
}

func (r reserved) Release(of resource.Reservation) {
	r.Stored["released"] = append(r.Stored["released"], object.Object{"metadata": map[string]any{"name": of.Name}})
}

// rangesTry returns a Try with three ServiceCIDRs: one that is not ready, and two with six addresses each.
func rangesTry(t *testing.T) *kindtest.Try {
	r := kindtest.New(t, served, "services")
	r.Ctx.Reservations = reserved{r}
	for _, text := range []string{
		`{'metadata':{'name':'a'},'spec':{'cidrs':['10.1.0.0/29']},'status':{'conditions':[{'type':'Ready','status':'False'}]}}`,
		`{'metadata':{'name':'b'},'spec':{'cidrs':['2001:db8::/64','10.2.0.0/29']}}`,
		`{'metadata':{'name':'c'},'spec':{'cidrs':['10.3.0.0/29']},'status':{'conditions':[{'type':'Ready','status':'True'}]}}`,
		`{'metadata':{'name':'d'},'spec':{'cidrs':['10.3.0.0/29']},'status':{'conditions':[{'type':'Ready','status':'Unknown'}]}}`,
	} {
		r.Stored[serviceCIDRs] = append(r.Stored[serviceCIDRs], r.Parse(text))
	}
	return r
}

const plainService = `{'metadata':{'name':'s','namespace':'n'},'spec':{'ports':[{'port':80}]}}`

func TestAddressesOfSeveralRanges(t *testing.T) {
	is := is.New(t)
	r := rangesTry(t)
	from := map[string]int{}
	for range 12 {
		obj, errs := r.Create(plainService)
		is.Equal(errs, "")
		ip := obj.String("spec", "clusterIP")
		from[ip[:5]]++
		is.Equal(kindtest.Part(r.Get(ipAddresses, "", ip), "spec"), `{'parentRef':{'name':'s','namespace':'n','resource':'services'}}`)
	}
	is.Equal(fmt.Sprint(from), "map[10.2.:6 10.3.:6]") // all addresses, each of them once
	_, errs := r.Create(plainService)
	is.Equal(errs, `Internal error occurred: failed to allocate a serviceIP for Service "s": range is full`)
}

func TestChosenAddressOfSeveralRanges(t *testing.T) {
	is := is.New(t)
	r := rangesTry(t)
	for ip, want := range map[string]string{
		"10.1.0.1": "the provided network does not match the current range", // not ready
		"10.2.0.0": "the provided network does not match the current range", // the network
		"10.3.0.7": "the provided network does not match the current range", // the broadcast address
		"10.3.0.6": "",
	} {
		_, errs := r.Create(strings.Replace(plainService, `'spec':{`, `'spec':{'clusterIP':'`+ip+`',`, 1))
		is.Equal(strings.HasSuffix(errs, want), true)
		is.Equal(errs == "", want == "")
	}
	_, errs := r.Create(strings.Replace(plainService, `'spec':{`, `'spec':{'clusterIP':'10.3.0.6',`, 1))
	is.Equal(errs, `spec.clusterIPs: Invalid value: ["10.3.0.6"]: failed to allocate IP 10.3.0.6: provided IP is already allocated`)
}

func TestDryRunOfAddresses(t *testing.T) {
	is := is.New(t)
	r := rangesTry(t)
	r.Ctx.DryRun, r.Ctx.Reservations = true, nil
	obj, errs := r.Create(plainService)
	is.Equal(errs+obj.String("spec", "clusterIP"), "10.2.0.0") // the address of a network
	is.Equal(len(r.Stored[ipAddresses]), 0)
	_, errs = r.Create(strings.Replace(plainService, `'spec':{`, `'spec':{'clusterIP':'10.1.0.1',`, 1))
	is.Equal(errs, `spec.clusterIPs: Invalid value: ["10.1.0.1"]: failed to allocate IP 10.1.0.1: `+
		"the provided IP (10.1.0.1) is not in the valid range. The range of valid IPs is 10.2.0.0/29")
	r.Stored[serviceCIDRs] = r.Stored[serviceCIDRs][:1]
	_, errs = r.Create(plainService)
	is.Equal(errs, `spec.clusterIPs: Invalid value: [""]: failed to allocate IP: allocator not ready`)
}

// TestReleasedAddresses checks that a service that becomes an ExternalName service releases its addresses, except those
// outside all ranges.
func TestReleasedAddresses(t *testing.T) {
	is := is.New(t)
	r := rangesTry(t)
	old := r.Parse(`{'metadata':{'name':'s','namespace':'n'},'spec':{'type':'ClusterIP','clusterIP':'10.1.0.1','clusterIPs':['10.1.0.1'],'ports':[{'port':80}]}}`)
	_, errs := r.Update(old, `{'spec':{'type':'ExternalName','externalName':'a.b'}}`, "")
	is.Equal(errs, "")
	is.Equal(len(r.Stored["released"]), 1) // also to a range that is not ready
	is.Equal(releaseService(r, old), []resource.Reservation{{Storage: ipAddresses, Name: "10.1.0.1"}})
	old.Set([]any{"10.9.0.1"}, "spec", "clusterIPs")
	is.Equal(len(releaseService(r, old)), 0)
	old.Set([]any{"None"}, "spec", "clusterIPs")
	is.Equal(len(releaseService(r, old)), 0)
}
